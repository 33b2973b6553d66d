/**
 * Calls of a user's function that is told of progress or results. It may be asynchronous: nobody waits for it while the
 * run goes on, but a promise that it returns and that rejects is the run's failure, and no unhandled rejection.
 */
import { beforeAbort } from './devices/before-abort.ts';

export class Reports<A extends unknown[]> {
  readonly #tell: ((...args: A) => unknown) | undefined;
  readonly #stop = new AbortController();
  readonly #pending = new Set<PromiseLike<void>>();
  #failure: { error: unknown } | null = null;

  constructor(tell: ((...args: A) => unknown) | undefined) {
    this.#tell = tell;
  }

  /** Aborted by the first failure: what goes on is of no use. */
  get signal(): AbortSignal | undefined {
    return this.#tell && this.#stop.signal;
  }

  /** Calls the function, unless it has failed; throws what it throws. */
  tell(...args: A): void {
    if (this.#failure) return;
    const returned = this.#tell?.(...args) as PromiseLike<unknown> | undefined;
    if (typeof returned?.then !== 'function') return;
    const pending: PromiseLike<void> = returned.then(
      () => void this.#pending.delete(pending),
      error => {
        this.#pending.delete(pending);
        this.fail(error);
      },
    );
    this.#pending.add(pending);
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stop.abort(error);
  }

  /** Waits for promises that are pending, at most until `signal` is aborted; throws the first failure. */
  async settled(signal: AbortSignal | undefined): Promise<void> {
    // only the signal rejects: promises that reject are failures, and settled
    if (this.#pending.size > 0) await beforeAbort(Promise.all(this.#pending), signal).catch(() => {});
    if (this.#failure) throw this.#failure.error;
  }
}
