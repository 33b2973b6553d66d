/** What all parts of the suite use: the card, the CPU beside it, and a count of what went wrong. */
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import { integrate, type Result } from '../../src/index.ts';
import type { CommonOptions } from '../../src/problem.ts';
import type { Entry } from '../../tests/integrands/entry.ts';

export { entry, opened } from './entries.ts';

export const cuda = new CudaDevice(0);
export const cpu = new CpuDevice();

export const relative = (a: number, b: number) =>
  a === b ? 0 : Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b));

/** On the card, unless the options say otherwise. */
export const onCard = (e: Entry, options: CommonOptions): Promise<Result> =>
  integrate(e.f as never, { domain: e.domain, params: e.params ?? {}, device: 'cuda', ...options });

/** Methods whose JavaScript is compiled. */
const compiled = new Set<string>();
/** How long the first runs of a method are repeated for that, in ms: some thousand short runs. */
const WARM_MS = 3000;

/** Short runs are repeated that long, and that often at most. */
const SHORT_MS = 1500;
const MOST_RUNS = 1200;

/**
 * The median of runs, warm: after a first one that compiles kernels, and after others as long as they are short, for JavaScript
 * too is compiled as it runs, most of it during the first seconds of a method. Long ones are not repeated.
 */
export async function timed(e: Entry, options: CommonOptions): Promise<Result> {
  await onCard(e, { ...options, relTol: 0.1, maxTime: 10_000 });
  const method = String(options.method);
  if (!compiled.has(method)) {
    const end = performance.now() + WARM_MS;
    while (performance.now() < end) await onCard(e, { ...options, maxTime: WARM_MS });
    compiled.add(method);
  }
  const runs: Result[] = [];
  for (let sum = 0; runs.length < 3 ? sum < 1000 : sum < SHORT_MS && runs.length < MOST_RUNS; ) {
    runs.push(await onCard(e, options));
    sum += runs.at(-1)!.elapsed;
  }
  const warm = runs.slice(runs.length >> 1).sort((a, b) => a.elapsed - b.elapsed);
  return warm[(warm.length - 1) >> 1];
}

export const trueError = (r: Result, e: Entry) => Math.abs(r.value / e.truth! - 1);

export const failures: string[] = [];

/** Notes what is not as it must be. */
export function verdict(ok: boolean, what: string): string {
  if (!ok) failures.push(what);
  return ok ? '' : '  FAILED';
}
