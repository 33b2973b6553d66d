/**
 * Waiting for a GPU in Node. Dawn's binding asks the GPU again in each turn of the event loop while a promise of it is pending, and makes an
 * object with a finalizer each time: 100 MB a second, for which V8 stopped the thread for 20 ms every 0.4 s, 8 % of runs with 1e10 samples on an
 * H200. On SwiftShader the turns take one of the cores that it computes on. So turns are made longer.
 */

/** Milliseconds of waiting in which turns are as short as they are: small tasks end in that time. */
const AT_ONCE_MS = 5;
/**
 * What the thread sleeps in each turn then, in milliseconds; systems make 0.06 of it. Dawn needs several turns to notice that the GPU is done:
 * with 0.2 an iteration of 5e8 samples took 1 ms longer (_trial_).
 */
const LONGER_MS = 0.01;

/** When the waits that are under way began. */
const begun = new Set<{ at: number }>();
const cell = typeof SharedArrayBuffer === 'function' ? new Int32Array(new SharedArrayBuffer(4)) : null;

function turn(): void {
  if (begun.size === 0) return;
  const now = performance.now();
  let waited = Infinity;
  for (const { at } of begun) waited = Math.min(waited, now - at);
  if (waited > AT_ONCE_MS) Atomics.wait(cell!, 0, 0, LONGER_MS);
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
  }
}
