/**
 * How a task is cut into parts for workers that take them from a queue, large ones first: rounds of one part per worker, each
 * round half of what is left ("factoring": Hummel, Schonberg and Flynn, CACM 35, 1992). So all workers end at about the same
 * time, though nobody knows beforehand who takes what. A part takes between SHORT_MS and LONG_MS by the measured rate:
 * a job costs about 2 ms, and what is lost with a worker is at most a long part.
 */
import type { Part } from '../../tasks/part.ts';

export const SHORT_MS = 20;
export const LONG_MS = 2000;
/** Evaluations of a part at most, as long as no rate is known. */
const PROBE = 2 ** 17;

/**
 * `each` is the evaluations of a group or region; `rate` those that a worker does in a millisecond, 0 when that is not known.
 */
export function cut(whole: Part, each: number, workers: number, rate: number): Part[] {
  const groups = (evaluations: number) => Math.max(1, Math.floor(evaluations / each));
  const [shortest, longest] =
    rate > 0 ? [groups(SHORT_MS * rate), groups(LONG_MS * rate)] : [1, groups(PROBE)];
  const parts: Part[] = [];
  const end = whole.first + whole.count;
  let first = whole.first;
  while (first < end) {
    const share = Math.ceil((end - first) / (2 * workers));
    const size = Math.min(longest, Math.max(shortest, share));
    for (let w = 0; w < workers && first < end; w++) {
      const count = Math.min(size, end - first);
      parts.push({ first, count });
      first += count;
    }
  }
  return parts;
}
