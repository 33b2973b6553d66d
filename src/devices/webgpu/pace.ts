/**
 * How much goes into one dispatch. A page is frozen while the GPU works, and drivers reset a GPU that works for seconds, so work is
 * cut into dispatches of about TARGET_MS by the time that the last one took. How it is cut changes no bit.
 */
import type { Commands } from './commands.ts';
import type { Gpu } from './gpu.ts';

const TARGET_MS = 100;
/** Evaluations of the first dispatch of an integrand, about which nothing is known. */
const FIRST = 2 ** 17;
/**
 * A dispatch is at most this many times as large as the one before, and not smaller than the one before by more unless that took too long: a
 * pilot of 256 samples that waits 2 ms for something else would cut the next iteration of 5e8 samples into seven dispatches.
 */
const GROWTH = 8;
/** What took less than this was waiting rather than work, and tells of no slow integrand: small tasks are among large ones. */
const LATENCY_MS = 1;

export class Pace {
  #evaluations = FIRST;

  /** Evaluations of a dispatch. */
  get evaluations(): number {
    return this.#evaluations;
  }

  /**
   * Does `count` items, of which item i is `cost(from, to)` evaluations: submits ranges of them, and waits after each but the
   * last. At most `most(from)` items are in one dispatch.
   */
  async run(
    gpu: Gpu,
    count: number,
    evaluationsEach: number,
    most: number,
    submit: (first: number, count: number) => void | Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (let first = 0; first < count; ) {
      signal?.throwIfAborted();
      const n = Math.min(count - first, most, Math.max(1, Math.floor(this.#evaluations / evaluationsEach)));
      const begin = performance.now();
      await submit(first, n);
      first += n;
      if (first < count || n * evaluationsEach > this.#evaluations / 2) {
        await gpu.done();
        this.#learn(n * evaluationsEach, performance.now() - begin);
      }
    }
  }

  /**
   * The same for work of which the last dispatch is only recorded: whoever calls adds what comes behind it, submits it, and says when
   * it is done. `commands` come before all of it.
   */
  async runBut(
    gpu: Gpu,
    count: number,
    evaluationsEach: number,
    most: number,
    commands: Commands,
    record: (first: number, count: number, commands: Commands) => void,
    signal: AbortSignal | undefined,
  ): Promise<{ commands: Commands; done: () => void }> {
    let own = commands;
    for (let first = 0; ; own = gpu.record()) {
      signal?.throwIfAborted();
      const n = Math.min(count - first, most, Math.max(1, Math.floor(this.#evaluations / evaluationsEach)));
      const begin = performance.now();
      record(first, n, own);
      const done = () => this.#learn(n * evaluationsEach, performance.now() - begin);
      first += n;
      if (first === count) return { commands: own, done };
      own.submit();
      await gpu.done();
      done();
    }
  }

  #learn(evaluations: number, ms: number): void {
    const fitting = (evaluations * TARGET_MS) / Math.max(0.01, ms);
    const next = Math.max(1, Math.min(fitting, GROWTH * Math.max(this.#evaluations, evaluations)));
    const least = ms > TARGET_MS ? 0 : ms < LATENCY_MS ? this.#evaluations : this.#evaluations / GROWTH;
    this.#evaluations = Math.max(least, next);
  }
}
