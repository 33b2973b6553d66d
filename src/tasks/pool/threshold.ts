/**
 * PAGANI's threshold classification (section 3.5.3, algorithm 3): a search for a threshold such that regions with a
 * smaller error can be finished. They must be at least half of all regions, so that memory is gained (the memory
 * requirement), and their errors must sum to at most a part of the error budget (the accuracy requirement). The search
 * starts at the mean error. When the accuracy requirement is missed it goes half-way to the smallest error, otherwise
 * half-way to the largest. Each change of direction raises the part, from 25 % in steps of 10 % up to 95 %, and after
 * MAX_DIRECTION_CHANGES of them the search gives up.
 *
 * One thing differs from the paper. Its budget is e − τ·v, by which the error e has to fall; finishing a quarter of that
 * commits to more than the tolerance allows as soon as e exceeds 5·τ·v. Here the budget is what the tolerance leaves: τ·v
 * minus the errors of regions that are finished already.
 */

const FIRST_PART = 0.25;
const PART_STEP = 0.1;
const LARGEST_PART = 0.95;
const MAX_DIRECTION_CHANGES = 9;
const MAX_SEARCH_STEPS = 64;

export interface ErrorRange {
  count: number;
  sum: number;
  least: number;
  largest: number;
}

/** The number of regions with an error below a threshold, and the sum of their errors. */
export interface Below {
  count: number;
  error: number;
}

/** Searches for the threshold: yields each one that it tries, and is told what is below. Returns null when it finds none. */
export function* searchThreshold(of: ErrorRange, budget: number): Generator<number, number | null, Below> {
  let [t, part, turns, direction] = [of.sum / of.count, FIRST_PART, 0, 0];
  for (let step = 0; step < MAX_SEARCH_STEPS && turns <= MAX_DIRECTION_CHANGES; step++) {
    const below = yield t;
    const enough = 2 * below.count >= of.count;
    if (enough && below.error <= part * budget) return t;
    const next = enough ? -1 : 1; // down when there is too much error below, up when there are too few regions
    if (direction === -next) {
      turns++;
      part = Math.min(LARGEST_PART, part + PART_STEP);
    }
    direction = next;
    t = (t + (enough ? of.least : of.largest)) / 2;
  }
  return null;
}

/** The threshold for the first `count` errors of a list; null when there is none. */
export function thresholdFor(errors: Float64Array, count: number, budget: number): number | null {
  const of: ErrorRange = { count, sum: 0, least: Infinity, largest: 0 };
  for (let i = 0; i < count; i++) {
    of.least = Math.min(of.least, errors[i]);
    of.largest = Math.max(of.largest, errors[i]);
    of.sum += errors[i];
  }
  const search = searchThreshold(of, budget);
  let step = search.next();
  while (!step.done) {
    const below: Below = { count: 0, error: 0 };
    for (let i = 0; i < count; i++) {
      if (errors[i] >= step.value) continue;
      below.count++;
      below.error += errors[i];
    }
    step = search.next(below);
  }
  return step.value;
}
