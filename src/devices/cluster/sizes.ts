/**
 * How a task is cut into parts for workers that take them from a queue, large ones first: rounds of one part per worker, each
 * round a share of what is left ("factoring": Hummel, Schonberg and Flynn, CACM 35, 1992). So all workers end at about the same
 * time, though nobody knows beforehand who takes what. The share is three quarters where all workers are equally fast; where one
 * is slower than the average it is smaller, so that its first part does not take longer than the others need for all.
 *
 * A part takes LONG_MS at most by the measured rate, which is what is lost with a worker. The shortest parts decide how long
 * workers wait for the last one, and take SHORT_MS; but the coordinator takes about RESULT_MS for the sums of a part, so with many
 * workers they are longer: it would fall behind.
 */
import type { Part } from '../../tasks/part.ts';

export const SHORT_MS = 6;
export const LONG_MS = 2000;
const RESULT_MS = 0.25;
/** The share of the rest that is handed out in a round, for workers that are equally fast, and at least. */
const MAX_SHARE = 0.75;
const MIN_SHARE = 0.25;
/** Evaluations of a part at most, as long as no rate is known. */
const PROBE = 2 ** 17;

/**
 * `each` is the evaluations of a group or region; `rate` those that a worker does in a millisecond on average, 0 when that is
 * not known; `slowest` the rate of the slowest worker over that average.
 */
export function cut(whole: Part, each: number, workers: number, rate: number, slowest = 1): Part[] {
  const groups = (evaluations: number) => Math.max(1, Math.floor(evaluations / each));
  const [shortest, longest] =
    rate > 0
      ? [groups(Math.max(SHORT_MS, RESULT_MS * workers) * rate), groups(LONG_MS * rate)]
      : [1, groups(PROBE)];
  const share = Math.max(MIN_SHARE, MAX_SHARE * slowest);
  const parts: Part[] = [];
  const end = whole.first + whole.count;
  let first = whole.first;
  while (first < end) {
    const own = Math.ceil((share * (end - first)) / workers);
    const size = Math.min(longest, Math.max(shortest, own));
    for (let w = 0; w < workers && first < end; w++) {
      const count = Math.min(size, end - first);
      parts.push({ first, count });
      first += count;
    }
  }
  return parts;
}
