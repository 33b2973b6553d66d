/**
 * Methods by their names: how each runs. A new method is an entry here and in names.ts, beside its folder, and a line of the command
 * line's help (cli/words.ts); checks and the command line follow. The code of a method is loaded when it is first run, so that
 * a page loads the methods that it uses.
 */
import type { AutoOptions } from './auto/auto.ts';
import type { LatticeOptions } from './lattice/options.ts';
import { loadCubature, loadLattice, loadPagani, loadVegas, loadVegasOrLattice, whenLoaded } from './load.ts';
import type { MethodProblem, Run } from './method.ts';
import type { MethodName } from './names.ts';
import type { ZmcOptions } from './zmc/options.ts';

export interface MethodOptions extends AutoOptions {
  lattice: LatticeOptions;
  zmc: ZmcOptions;
}

const METHODS: Record<MethodName, (problem: MethodProblem, options: MethodOptions) => Run> = {
  auto: (problem, options) =>
    whenLoaded(async () =>
      (await import('./auto/auto.ts')).auto(problem, options, { loadPagani, loadVegas, loadVegasOrLattice }),
    ),
  'vegas+': (problem, options) => loadVegas(problem, 'vegas+', options.vegas),
  mcubes: (problem, options) => loadVegas(problem, 'mcubes', options.vegas),
  mcubes1d: (problem, options) => loadVegas(problem, 'mcubes1d', options.vegas),
  plain: (problem, options) => loadVegas(problem, 'plain', options.vegas),
  pagani: (problem, options) => loadPagani(problem, options.cubature),
  cuhre: (problem, options) =>
    loadCubature(problem, options.cubature, async () => (await import('./cubature/cuhre.ts')).cuhre),
  'two-phase': (problem, options) =>
    loadCubature(problem, options.cubature, async () => (await import('./cubature/two-phase.ts')).twoPhase),
  lattice: (problem, options) => loadLattice(problem, options.lattice),
  zmc: (problem, options) => whenLoaded(async () => (await import('./zmc/zmc.ts')).zmc(problem, options.zmc)),
};

/** Starts a method. */
export const startMethod = (name: MethodName, problem: MethodProblem, options: MethodOptions): Run =>
  METHODS[name](problem, options);
