/**
 * How long the steps take that come before a first result: the start of the driver, compiling, linking, loading. Nobody
 * listens but benchmarks and tests.
 */

export interface Phase {
  /** What was done, such as `compiling sample`. */
  name: string;
  /** Milliseconds since the process started. */
  start: number;
  end: number;
}

let listener: ((phase: Phase) => void) | null = null;

/** Tells of each phase when it has ended; null ends that. */
export function listenToPhases(to: ((phase: Phase) => void) | null): void {
  listener = to;
}

export function phase<T>(name: string, work: () => T): T {
  const end = phaseBegins(name);
  const result = work();
  end();
  return result;
}

/** Begins a phase that ends on the call of what is returned. */
export function phaseBegins(name: string): () => void {
  const start = performance.now();
  return () => listener?.({ name, start, end: performance.now() });
}
