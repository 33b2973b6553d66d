/** Every text that NVRTC is given also compiles with NVIDIA's own compiler, where that is; the emulator's g++ lets more pass. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import { LEARNING } from '../../src/devices/cuda/learning.ts';
import { poolRecipes } from '../../src/devices/cuda/pool.ts';
import { CudaProgram, textFor } from '../../src/devices/cuda/program.ts';
import { CudaRegions } from '../../src/devices/cuda/regions.ts';
import { CudaSampling } from '../../src/devices/cuda/sampling.ts';
import { CudaWitness } from '../../src/devices/cuda/witness.ts';
import { drawShifts, latticeWords } from '../../src/random/lattice.ts';
import { ruleFor } from '../../src/tasks/rules.ts';
import { absent } from './emulated.ts';
import { integrandOf, named, sampleTask } from './tasks.ts';

const noNvcc = spawnSync('nvcc', ['--version']).status !== 0;
if (noNvcc) console.warn('kernels are not compiled by nvcc: this machine lacks it');

/** Integrands with so many results. */
const MANY: Record<number, (x: number[]) => number[]> = {
  2: ([x, y]) => [Math.cos(x + y), Math.sin(x + y)],
  // biome-ignore format: one place for each result
  16: ([x, y]) => [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16].map(i => Math.exp(-x * i) * y),
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
      ...poolRecipes(program),
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
