/**
 * Turns on a card. Some calls of the driver, such as loading a module or freeing memory, block the thread until work that
 * is on the card already has ended. So a card has one task at a time, from the task's first call until its kernels have
 * ended, and other tasks wait without blocking the thread. If they blocked it, a kernel that never ends could not be
 * stopped, because timers and signals need the thread.
 */
export class Turns {
  /** Whether all kernels that were started are known to have ended without a fault: asking the driver takes 2 µs (_trial_). */
  areOver = false;
  #taken = false;
  #held: Promise<void> | null = null;
  readonly #waiting: (() => void)[] = [];
  readonly #between: (() => void)[] = [];

  /** Runs a task in its turn. The signal ends the waiting; a task that has begun has to watch the signal itself. */
  async take<T>(signal: AbortSignal | undefined, task: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.#taken) await this.#wait(signal);
    this.#taken = true;
    try {
      return await task();
    } finally {
      if (this.#held) void this.#held.finally(() => this.#next());
      else this.#next();
    }
  }

  /** Makes the present turn last until the promise settles, even if its task has ended. */
  hold(until: Promise<void>): void {
    this.#held = until;
  }

  /** Runs something short: now, or after the present turn. */
  between(work: () => void): void {
    this.#between.push(work);
    if (!this.#taken) this.sweep();
  }

  /** Runs what waits for the end of the turn; returns whether there was any. The task of the turn may call it. */
  sweep(): boolean {
    const works = this.#between.splice(0);
    for (const work of works) work();
    return works.length > 0;
  }

  #next(): void {
    this.#held = null;
    this.sweep();
    this.#taken = false;
    this.#waiting.shift()?.();
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', leave);
        this.#taken = true; // set before resolving, so that no other task takes the turn in between
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal!.reason);
      };
      this.#waiting.push(begin);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}

const byCard = new Map<number, Turns>();

/** The turns of a card, the same object however often the card is opened. */
export function turnsOf(ordinal: number): Turns {
  const turns = byCard.get(ordinal) ?? new Turns();
  byCard.set(ordinal, turns);
  return turns;
}
