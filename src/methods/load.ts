/** Methods whose code is loaded when they are first run. A bundler makes a file of its own of each. */
import { loadRule } from '../tasks/rules.ts';
import type { CubatureOptions } from './cubature/options.ts';
import type { lattice } from './lattice/lattice.ts';
import type { MethodProblem, Run } from './method.ts';
import type { vegas } from './vegas/vegas.ts';

/** A run that begins when its method is loaded. */
export async function* whenLoaded(load: () => Promise<Run>): Run {
  return yield* await load();
}

/** VEGAS; a run that might have used lattices goes on as one that may. */
export const loadVegas = (...args: Parameters<typeof vegas>): Run =>
  args[0].resume?.knobs.orLattice
    ? loadVegasOrLattice(args[0])
    : whenLoaded(async () => (await import('./vegas/vegas.ts')).vegas(...args));

export const loadVegasOrLattice = (problem: MethodProblem): Run =>
  whenLoaded(async () => (await import('./lattice/vegas-or-lattice.ts')).vegasOrLattice(problem));

export const loadLattice = (...args: Parameters<typeof lattice>): Run =>
  args[0].resume?.knobs.orLattice
    ? loadVegasOrLattice(args[0])
    : whenLoaded(async () => (await import('./lattice/lattice.ts')).lattice(...args));

/** A method of cubature, and beside it the rule for so many dimensions. */
export const loadCubature = (
  problem: MethodProblem,
  options: CubatureOptions,
  load: () => Promise<(problem: MethodProblem, options: CubatureOptions) => Run>,
): Run =>
  whenLoaded(async () => {
    const [method] = await Promise.all([load(), loadRule(problem.ranges.length, options.rule)]);
    return method(problem, options);
  });

export const loadPagani = (problem: MethodProblem, options: CubatureOptions): Run =>
  loadCubature(problem, options, async () => (await import('./cubature/pagani.ts')).pagani);
