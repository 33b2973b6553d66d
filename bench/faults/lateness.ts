/**
 * How late runs end: milliseconds between the `maxTime` or the abort of a run and its return, for one run and for 50 at a time,
 * beside runs whose loops never end. The promise is 200 ms, on a machine that does nothing else.
 */
import { type Integrand, integrate } from '../../src/index.ts';

/** Never ends where x > 0.2. */
const endless: Integrand = ([x, y]) => {
  let t = x;
  while (t > 0.2) t = t < 1 ? t + 0.5 : t - 0.5;
  return t + y;
};
/** No method is done with it soon. */
const rough: Integrand = ([x, y]) => Math.sqrt(Math.abs(x - y * y));
const FUNCTIONS = { 'a rough integrand': rough, 'a loop that never ends': endless };
const METHODS = ['vegas+', 'pagani', 'auto', 'zmc'] as const;
export const PROMISED_MS = 200;

export interface Lateness {
  integrand: string;
  runs: number;
  /** Runs beside them whose loops never end. */
  beside: number;
  /** The latest return after `maxTime`, and after an abort. */
  afterTime: number;
  afterAbort: number;
}

export async function latenesses(): Promise<Lateness[]> {
  const rows: Lateness[] = [];
  for (const [integrand, f] of Object.entries(FUNCTIONS))
    for (const runs of [1, 50])
      for (const beside of [0, 1, 5]) {
        const stop = new AbortController();
        for (let i = 0; i < beside; i++) void integrate(endless, { dims: 2, signal: stop.signal });
        const afterTime = await latest(f, runs, 'time');
        const afterAbort = await latest(f, runs, 'abort');
        stop.abort();
        rows.push({ integrand, runs, beside, afterTime, afterAbort });
      }
  return rows;
}

async function latest(f: Integrand, runs: number, end: 'time' | 'abort'): Promise<number> {
  const one = async (i: number): Promise<number> => {
    const ms = 500 + 10 * i;
    const start = performance.now();
    const method = METHODS[i % METHODS.length];
    const options = { dims: 2, relTol: 0, maxEvaluations: 1e12, method };
    if (end === 'time') {
      await integrate(f, { ...options, maxTime: ms });
      return performance.now() - start - ms;
    }
    const stop = new AbortController();
    let aborted = Infinity;
    setTimeout(() => {
      aborted = performance.now();
      stop.abort();
    }, ms);
    await integrate(f, { ...options, signal: stop.signal });
    return performance.now() - aborted;
  };
  return Math.max(...(await Promise.all(Array.from({ length: runs }, (_, i) => one(i)))));
}
