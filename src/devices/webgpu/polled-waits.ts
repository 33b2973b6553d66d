/**
 * Waiting for a GPU in Node. Dawn's binding asks the GPU again in each turn of the event loop while a promise of it is pending, and makes an
 * object with a finalizer each time: 100 MB a second, for which V8 stopped the thread for 20 ms every 0.4 s, 8 % of runs with 1e10 samples on an
 * H200. On SwiftShader the turns take one of the cores that it computes on.
 *
 * So turns are made longer, but not near the end of a wait: Dawn needs several turns to notice that the GPU is done. With longer turns throughout
 * an iteration of 5e8 samples took 0.5 ms longer, and one of 5e7 0.4 of 3 ms (_trial_). A wait is expected to take as long as the last one.
 */

/** Milliseconds of waiting in which turns are as short as they are. */
const AT_ONCE_MS = 1;
/** The part of the expected time after which they are so again, until the wait takes longer than expected by so many milliseconds. */
const MOST_PART = 0.9;
const LATE_MS = 5;
/** What a turn lasts longer, in milliseconds; systems add 0.05 to it. */
const LONGER_MS = 0.05;

/** When the waits that are under way began, and how long the last one took. */
const begun = new Set<{ at: number }>();
let last = 0;
const cell = typeof SharedArrayBuffer === 'function' ? new Int32Array(new SharedArrayBuffer(4)) : null;

function turn(): void {
  if (begun.size === 0) return;
  const now = performance.now();
  let waited = Infinity;
  for (const { at } of begun) waited = Math.min(waited, now - at);
  if (waited > AT_ONCE_MS && (waited < MOST_PART * last || waited > last + LATE_MS))
    Atomics.wait(cell!, 0, 0, LONGER_MS);
  setImmediate(turn);
}

/** What some work of the GPU comes to. */
export async function polled<T>(work: Promise<T>): Promise<T> {
  if (!cell) return work;
  const own = { at: performance.now() };
  if (begun.size === 0) setImmediate(turn);
  begun.add(own);
  try {
    return await work;
  } finally {
    begun.delete(own);
    last = performance.now() - own.at;
  }
}
