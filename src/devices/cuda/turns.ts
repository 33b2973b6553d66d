/**
 * Who may use a card. Calls of the driver wait, with the whole thread, for work that is on the card already (loading a module
 * does, and freeing memory); so a card has one task at a time, from its first call until its kernels are done, and what
 * waits for the card does not block. If it did, a kernel that never ends could not even be stopped: timers and signals
 * need the thread.
 */
export class Turns {
  #taken = false;
  #held: Promise<void> | null = null;
  readonly #waiting: (() => void)[] = [];
  readonly #between: (() => void)[] = [];

  /** Runs a task in its turn. The signal ends the waiting; what it means to the task is the task's affair. */
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

  /** The turn under way lasts until then, even if its task has ended. */
  hold(until: Promise<void>): void {
    this.#held = until;
  }

  /** Runs something short now, or after the turn under way. */
  between(work: () => void): void {
    this.#between.push(work);
    if (!this.#taken) this.sweep();
  }

  /** Runs what waits for the end of a turn; whether there was any. The task itself may ask for it. */
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
        this.#taken = true; // at once: nobody comes in between
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

/** The turns of a card, however often it is opened. */
export function turnsOf(ordinal: number): Turns {
  const turns = byCard.get(ordinal) ?? new Turns();
  byCard.set(ordinal, turns);
  return turns;
}
