/**
 * Methods by their names: what each is, which family of options configures it, and how it runs. A new method is one entry
 * here, beside its folder; checks, the command line and its help follow. The code of a method is loaded when it is first
 * run, so that a page loads the methods that it uses.
 */
import type { AutoOptions } from './auto/auto.ts';
import type { LatticeOptions } from './lattice/options.ts';
import { loadLattice, loadPagani, loadVegas, whenLoaded } from './load.ts';
import type { MethodProblem, Run } from './method.ts';
import type { ZmcOptions } from './zmc/options.ts';

export interface MethodOptions extends AutoOptions {
  lattice: LatticeOptions;
  zmc: ZmcOptions;
}

interface Method {
  name: string;
  /** The member of the options of `integrate` that configures it; `auto` reads several. */
  family: keyof MethodOptions | null;
  words: string;
  /** Whether it refuses devices in float32. */
  float64?: boolean;
  run(problem: MethodProblem, options: MethodOptions): Run;
}

export const METHODS = [
  {
    name: 'auto',
    family: null,
    words: 'runs pagani and vegas+ in turns until one of them reaches the tolerance',
    run: (problem, options) =>
      whenLoaded(async () => (await import('./auto/auto.ts')).auto(problem, options)),
  },
  {
    name: 'vegas+',
    family: 'vegas',
    words: 'VEGAS with adaptive stratified sampling',
    run: (problem, options) => loadVegas(problem, 'vegas+', options.vegas),
  },
  {
    name: 'mcubes',
    family: 'vegas',
    words: 'm-Cubes: VEGAS with the same number of samples in each cube',
    run: (problem, options) => loadVegas(problem, 'mcubes', options.vegas),
  },
  {
    name: 'mcubes1d',
    family: 'vegas',
    words: 'm-Cubes with one map for all axes, for integrands that are the same in every coordinate',
    run: (problem, options) => loadVegas(problem, 'mcubes1d', options.vegas),
  },
  {
    name: 'plain',
    family: 'vegas',
    words: 'Monte Carlo without adaptation',
    run: (problem, options) => loadVegas(problem, 'plain', options.vegas),
  },
  {
    name: 'pagani',
    family: 'cubature',
    words: 'adaptive cubature that halves many regions at a time',
    run: (problem, options) => loadPagani(problem, options.cubature),
  },
  {
    name: 'cuhre',
    family: 'cubature',
    words: 'adaptive cubature that halves the region with the largest error',
    float64: true,
    run: (problem, options) =>
      whenLoaded(async () => (await import('./cubature/cuhre.ts')).cuhre(problem, options.cubature)),
  },
  {
    name: 'two-phase',
    family: 'cubature',
    words: 'adaptive cubature: halves all regions first, then each processor continues with its own',
    run: (problem, options) =>
      whenLoaded(async () => (await import('./cubature/two-phase.ts')).twoPhase(problem, options.cubature)),
  },
  {
    name: 'lattice',
    family: 'lattice',
    words: 'lattices of points with random shifts, through a map that VEGAS learns',
    run: (problem, options) => loadLattice(problem, options.lattice),
  },
  {
    name: 'zmc',
    family: 'zmc',
    words: 'stratified sampling with a heuristic tree search',
    run: (problem, options) =>
      whenLoaded(async () => (await import('./zmc/zmc.ts')).zmc(problem, options.zmc)),
  },
] as const satisfies readonly Method[];

export type MethodName = (typeof METHODS)[number]['name'];

export const METHOD_NAMES: readonly MethodName[] = METHODS.map(m => m.name);

/** Whether a method refuses devices in float32. */
export const needsFloat64 = (name: MethodName): boolean =>
  !!METHODS.find((m: Method) => m.name === name && m.float64);

/** Starts a method. */
export function startMethod(name: MethodName, problem: MethodProblem, options: MethodOptions): Run {
  return METHODS.find(m => m.name === name)!.run(problem, options);
}
