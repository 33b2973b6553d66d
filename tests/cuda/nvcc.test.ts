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
import { ruleFor } from '../../src/tasks/rules.ts';
import { absent } from './emulated.ts';
import { integrandOf, named, sampleTask } from './tasks.ts';

const noNvcc = spawnSync('nvcc', ['--version']).status !== 0;
if (noNvcc) console.warn('kernels are not compiled by nvcc: this machine lacks it');

test.skipIf(absent || noNvcc).each(['sm_90', 'sm_75'])(
  'for %s, without spills beyond what was measured',
  architecture => {
    const subject = named('f4_8');
    const program = new CudaProgram(new CudaDevice(0).card, integrandOf(subject));
    const sampling = new CudaSampling(program);
    const recipes = [
      sampling.recipe(sampleTask(subject.domain, 2, 4, 64)),
      new CudaRegions(program).recipe(ruleFor(8)),
      ...poolRecipes(program),
      new CudaWitness(program, new CudaRegions(program)).recipe(),
      ...LEARNING,
    ];
    const folder = mkdtempSync(join(tmpdir(), 'nvcc-'));
    const file = join(folder, 'kernel.cu');
    for (const recipe of recipes) {
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
      if (architecture === 'sm_90') expect(Math.max(...spilled), recipe.kernel).toBeLessThanOrEqual(128);
    }
    rmSync(folder, { recursive: true });
  },
);
