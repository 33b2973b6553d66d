/**
 * Measures how fast an integrand is, for runs with a deadline: the first iterations are sized by that rate. A few samples are
 * drawn, then four times as many, until they tell that an iteration of the size that the method would begin with takes a
 * small part of the time, or until the next ones would take more than MAX_PROBE_TIME themselves.
 */
import type { Ledger } from './ledger.ts';

/** Samples of the first probe. It also waits until a device has compiled and started what it needs, so its rate says little. */
const FIRST_PROBE = 2;
const GROWTH = 4;
const MAX_PROBE = 2 ** 20;
/** The part of all time that one probe may take, as planned; the first one tells that calls are very slow if it takes ten times that. */
const MAX_PROBE_TIME = 0.02;

/** `wanted`: evaluations of the method's first iteration. Without a deadline nothing is drawn. */
export async function probe(
  ledger: Ledger,
  wanted: number,
  sample: (samples: number) => Promise<void>,
): Promise<void> {
  if (!ledger.hasDeadline) return;
  for (let samples = FIRST_PROBE; samples <= MAX_PROBE; samples *= GROWTH) {
    const before = ledger.timeSpent;
    await sample(samples);
    const took = ledger.timeSpent - before;
    const first = samples === FIRST_PROBE;
    if (first ? took > 10 * MAX_PROBE_TIME : took * GROWTH > MAX_PROBE_TIME) return;
    if (!first && ledger.iterationLimit >= wanted) return;
  }
}
