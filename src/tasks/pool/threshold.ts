/**
 * PAGANI's threshold classification (section 3.5.3, algorithm 3): a search for an error such that regions below it can
 * be finished. They must be half of all regions at least, so that memory is gained (the memory requirement), and their
 * errors must not take more than a part of what the tolerance leaves (the accuracy requirement). The search starts at
 * the average and goes half-way to the smallest or to the largest error, whichever requirement is missed; each
 * change of direction relaxes the part, from 25 % by 10 % up to 95 %, and after some of them it gives up.
 *
 * One thing differs. The paper's budget is e − τ·v, what the error has to lose; finishing a quarter of that commits to
 * more than the tolerance allows as soon as e exceeds 5·τ·v. Here it is what the tolerance leaves: τ·v minus
 * what finished regions already have.
 */

const FIRST_PART = 0.25;
const STEP = 0.1;
const LARGEST_PART = 0.95;
const MOST_TURNS = 9;
const MOST_STEPS = 64;

export interface ErrorRange {
  count: number;
  sum: number;
  least: number;
  largest: number;
}

/** Regions with an error below a threshold: how many, and their errors. */
export interface Below {
  count: number;
  error: number;
}

/** Searches for the threshold; null when there is none that meets both requirements. Asks what is below the ones it tries. */
export function* searchThreshold(of: ErrorRange, budget: number): Generator<number, number | null, Below> {
  let [t, part, turns, direction] = [of.sum / of.count, FIRST_PART, 0, 0];
  for (let step = 0; step < MOST_STEPS && turns <= MOST_TURNS; step++) {
    const below = yield t;
    const enough = 2 * below.count >= of.count;
    if (enough && below.error <= part * budget) return t;
    const next = enough ? -1 : 1; // too much error: lower; too few regions: higher
    if (direction === -next) {
      turns++;
      part = Math.min(LARGEST_PART, part + STEP);
    }
    direction = next;
    t = (t + (enough ? of.least : of.largest)) / 2;
  }
  return null;
}

/** The same for errors in a list. */
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
