/**
 * Claims of convergence on WebGPU, in a process that finds a driver: prints each verdict as a line of JSON. What takes SwiftShader
 * longest is compiling, and trials of one kind in one number of dimensions have the same kernels. So a kind has one number of dimensions,
 * and one group of methods that share kernels, with several trials of each method; `bench/claims.ts --device webgpu` tries all pairs.
 */
import { WebGpuDevice } from '../../src/devices/webgpu/webgpu.ts';
import type { MethodName } from '../../src/problem.ts';
import { kinds } from '../claims/kinds/index.ts';
import { trialOf } from '../claims/trials.ts';
import { judge, textOf } from '../claims/verdict.ts';

export interface Told {
  kind: string;
  dims: number;
  method: MethodName;
  relTol: number;
  claim: 'none' | 'true' | 'false';
  /** All that is known of it, if its claim is false. */
  text: string;
}

const GROUPS: readonly (readonly MethodName[])[] = [
  ['vegas+', 'mcubes', 'zmc', 'plain'],
  ['pagani', 'two-phase'],
  ['auto', 'lattice'],
];
/** Numbers of dimensions that kinds take in turn, if they are drawn in them: most claims are made in few dimensions. */
const DIMS = [2, 1, 3, 2, 4, 2, 8, 2, 5, 3, 2, 7, 1, 2, 6, 2, 3];
/** Trials per kind, shared by the methods of its group. */
const TRIALS = 10;
/** A feature fills 1e-4 of a domain at least, so with fewer evaluations a method may not have met it (../claims/draw.ts). */
const BUDGETS = [1e5];
const SEED = 80;

const device = new WebGpuDevice();
for (const [i, kind] of kinds.entries()) {
  const possible = DIMS.filter(d => kind.dims.includes(d));
  const dims = possible[i % possible.length];
  const among = [{ ...kind, dims: [dims] }];
  const methods = GROUPS[i % GROUPS.length];
  for (let number = 0; number < TRIALS; number++) {
    const method = methods[number % methods.length];
    const options = { methods: [method], budgets: BUDGETS, among, tightest: 1e-4 };
    const verdict = await judge(trialOf(SEED + i, number, options), device);
    const { relTol } = verdict.trial;
    const text = verdict.claim === 'false' ? textOf(verdict) : '';
    const told: Told = { kind: kind.name, dims, method, relTol, claim: verdict.claim, text };
    console.log(JSON.stringify(told));
  }
}
