/** Methods whose code is loaded when they are first run. A bundler makes a file of its own of each. */
import type { pagani } from './cubature/pagani.ts';
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

export const loadPagani = (...args: Parameters<typeof pagani>): Run =>
  whenLoaded(async () => (await import('./cubature/pagani.ts')).pagani(...args));
