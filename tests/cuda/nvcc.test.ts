/** Every text that NVRTC is given also compiles with NVIDIA's own compiler, where that is; the emulator's g++ lets more pass. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import { LEARNING } from '../../src/devices/cuda/learning.ts';
import type { Unit } from '../../src/devices/cuda/nvrtc.ts';
import { lookRecipe } from '../../src/devices/cuda/pool.ts';
import { poolRecipe } from '../../src/devices/cuda/pool-kernels.ts';
import { CudaProgram, textFor, unitsOf } from '../../src/devices/cuda/program.ts';
import { CudaRegions } from '../../src/devices/cuda/regions.ts';
import { CudaSampling } from '../../src/devices/cuda/sampling.ts';
import { CudaWitness } from '../../src/devices/cuda/witness.ts';
import { drawShifts, latticeWords } from '../../src/random/lattice.ts';
import { ruleFor } from '../../src/tasks/every-rule.ts';
import { absent } from './emulated.ts';
import { integrandOf, named, sampleTask } from './tasks.ts';

const noNvcc = spawnSync('nvcc', ['--version']).status !== 0;
const noNvlink = spawnSync('nvlink', ['--version']).status !== 0;
if (noNvcc) console.warn('kernels are not compiled by nvcc: this machine lacks it');

/** Integrands with so many results. */
const MANY: Record<number, (x: number[]) => number[]> = {
  2: ([x, y]) => [Math.cos(x + y), Math.sin(x + y)],
  3: ([x, y, z]) => [x * y, Math.exp(-z), x],
  // biome-ignore format: one place for each result
  16: ([x, y]) => [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16].map(i => Math.exp(-x * i) * y),
};

/** It wants more than 64 registers. */
const GREEDY = ([x, y, z]: number[]) => {
  const a = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map(i => Math.sin(x * i + y));
  let sum = 0;
  for (let i = 0; i < 16; i++)
    for (let j = 0; j < 16; j++) sum += a[i] * a[(3 * j + i) % 16] * Math.exp(z * a[j]);
  return sum;
};

const lattice = {
  ...latticeWords(8, drawShifts([1, 2], 0, 8, 0, 2), 10, 'whole'),
  folded: true,
  slopes: new Float64Array(8 * 65),
};

test.skipIf(absent || noNvcc).each(['sm_90', 'sm_75'])(
  'for %s, without spills beyond what was measured',
  architecture => {
    const subject = named('f4_8');
    const program = new CudaProgram(new CudaDevice(0).card, integrandOf(subject));
    const sampling = new CudaSampling(program);
    const recipes = [
      sampling.recipe(sampleTask(subject.domain, 2, 4, 64)),
      sampling.recipe(sampleTask(subject.domain, 1, 1024, 64, { lattice })),
      new CudaRegions(program).recipe(ruleFor(8)),
      poolRecipe(program),
      lookRecipe(program),
      ...Object.values(new CudaWitness(program, new CudaRegions(program)).recipes()),
      ...LEARNING,
    ];
    // several results have sums and products of all pairs, which may be in local memory
    const several = (architecture === 'sm_90' ? [2, 16] : []).map(count => {
      const f = MANY[count] as never;
      const own = new CudaProgram(new CudaDevice(0).card, integrandOf({ ...subject, f }));
      const pass = { results: [...Array(count).keys()], units: Array(count).fill(1), leads: [0] };
      return new CudaSampling(own).recipe(sampleTask(subject.domain, 2, 4, 64, { pass }));
    });
    const folder = mkdtempSync(join(tmpdir(), 'nvcc-'));
    const file = join(folder, 'kernel.cu');
    for (const recipe of [...recipes, ...several]) {
      writeFileSync(file, textFor(recipe));
      const options = [
        `-arch=${architecture}`,
        '-cubin',
        '--fmad=false',
        '-Xptxas',
        '-v',
        '-o',
        `${file}bin`,
      ];
      const { status, stderr } = spawnSync('nvcc', [...options, file], { encoding: 'utf8' });
      expect(status, `${recipe.kernel}: ${stderr}`).toBe(0);
      const spilled = [...stderr.matchAll(/(\d+) bytes spill stores/g)].map(m => Number(m[1]));
      // 80 bytes of f4 in 8 dimensions are faster than half of the threads
      if (architecture === 'sm_90' && recipes.includes(recipe))
        expect(Math.max(...spilled), recipe.kernel).toBeLessThanOrEqual(128);
    }
    rmSync(folder, { recursive: true });
  },
);

test.skipIf(absent || noNvcc || noNvlink)(
  'kernels and integrands of one, two and three results are linked, also an integrand that would use more registers than its kernel may',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'nvlink-'));
    const images = new Map<string, string>();
    const compiled = ({ text, registers = 255 }: Unit): string => {
      const file = images.get(text) ?? join(folder, `${images.size}.cu`);
      if (images.has(text)) return `${file}bin`;
      images.set(text, file);
      writeFileSync(file, text);
      const options = ['-arch=sm_90', '-cubin', '-rdc=true', '--fmad=false', `-maxrregcount=${registers}`];
      const { status, stderr } = spawnSync('nvcc', [...options, '-o', `${file}bin`, file], {
        encoding: 'utf8',
      });
      expect(status, stderr).toBe(0);
      return `${file}bin`;
    };
    for (const f of [GREEDY, MANY[2], MANY[3]]) {
      const subject = { ...named('f4_3'), f: f as never };
      const integrand = integrandOf(subject);
      const count = integrand.program.results.length;
      const program = new CudaProgram(new CudaDevice(0).card, integrand);
      const regions = new CudaRegions(program);
      const pass = { results: [...Array(count).keys()], units: Array(count).fill(1), leads: [0] };
      const recipes = [new CudaSampling(program).recipe(sampleTask(subject.domain, 2, 4, 64, { pass }))];
      if (count === 1)
        recipes.push(regions.recipe(ruleFor(3)), new CudaWitness(program, regions).recipes().witness);
      for (const recipe of recipes) {
        const files = unitsOf(recipe, program).linked.map(compiled);
        const linked = spawnSync('nvlink', ['-arch=sm_90', ...files, '-o', join(folder, 'linked')], {
          encoding: 'utf8',
        });
        expect(linked.status, `${recipe.kernel}: ${linked.stderr}`).toBe(0);
      }
    }
    rmSync(folder, { recursive: true });
  },
);
