/**
 * The order of test files: the longest first, so that no long one is left to run alone at the end while other cores are idle.
 * tests/durations.json has the seconds of each file, from `node scripts/durations.mjs`; only their order and rough size
 * matter. A file that it does not know runs first.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const durations: Record<string, number> = JSON.parse(
  readFileSync(new URL('durations.json', import.meta.url), 'utf8'),
);

/** A quick file takes at most this many seconds on a core: all of them together, less than 90 s on two. */
const QUICK = 5;

/** The files that `npm run test:quick` leaves out. */
export const long = Object.keys(durations).filter(file => durations[file] > QUICK);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const weight = ({ moduleId, project }: TestSpecification) =>
      durations[relative(project.config.root, moduleId).replaceAll('\\', '/')] ?? Number.POSITIVE_INFINITY;
    const weights = new Map(files.map(f => [f, weight(f)]));
    return [...files].sort((a, b) => compare(weights.get(b)!, weights.get(a)!));
  }
}

/** Not a difference: Infinity − Infinity is NaN. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
