/** Methods whose code is loaded when they are first run. A bundler makes a file of its own of each. */
import type { pagani } from './cubature/pagani.ts';
import type { Run } from './method.ts';
import type { vegas } from './vegas/vegas.ts';

/** A run that begins when its method is loaded. */
export async function* whenLoaded(load: () => Promise<Run>): Run {
  return yield* await load();
}

export const loadVegas = (...args: Parameters<typeof vegas>): Run =>
  whenLoaded(async () => (await import('./vegas/vegas.ts')).vegas(...args));

export const loadPagani = (...args: Parameters<typeof pagani>): Run =>
  whenLoaded(async () => (await import('./cubature/pagani.ts')).pagani(...args));
