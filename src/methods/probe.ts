/**
 * Measures how fast an integrand is, for runs with a deadline: the first iterations are sized by that rate. A few samples are
 * drawn, then four times as many, until they tell that an iteration of the size that the method would begin with takes a
 * small part of the time, or until the next ones would take more than MAX_PROBE_TIME themselves. A probe that seems slow is made once more:
 * a device may have been compiling, or the machine been busy, and a run that believes it makes tiny iterations to its end.
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
  let again = false;
  for (let samples = FIRST_PROBE; samples <= MAX_PROBE; ) {
    const before = ledger.timeSpent;
    await sample(samples);
    const took = ledger.timeSpent - before;
    const first = samples === FIRST_PROBE;
    const slow = first ? took > 10 * MAX_PROBE_TIME : took * GROWTH > MAX_PROBE_TIME;
    if (slow && again) return;
    again = slow;
    if (slow) continue;
    if (!first && ledger.iterationLimit >= wanted) return;
    samples *= GROWTH;
  }
}
