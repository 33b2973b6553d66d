/**
 * The cards of one run, each with a session. Work is handed out in chunks: whoever is done takes the next. A card that
 * fails leaves, and what it has done goes back to the others, with what it has not; the run ends when none is left.
 *
 * One thread drives all cards: launches return at once, and waiting for a card does not block. A worker for each would only
 * add copies between them.
 */
import { CudaError } from './driver.ts';
import type { CudaSession } from './session.ts';

export class Team {
  #left: CudaSession[];
  /** What became of cards that left. */
  warnings: string[];

  constructor(sessions: CudaSession[], warnings: readonly string[]) {
    this.#left = sessions;
    this.warnings = [...warnings];
  }

  get left(): readonly CudaSession[] {
    return this.#left;
  }

  /** The same on every card; gives what those came to that did not fail. `lost` hears of the others. */
  async each<T>(
    task: (session: CudaSession) => Promise<T>,
    lost: (session: CudaSession) => void = () => {},
  ): Promise<Map<CudaSession, T>> {
    const sessions = this.#left;
    const ends = await Promise.allSettled(sessions.map(task));
    // what is wrong with the run, not with a card: aborted, for instance
    const broken = ends.find(e => e.status === 'rejected' && !(e.reason instanceof CudaError));
    if (broken) throw (broken as PromiseRejectedResult).reason;
    if (ends.every(e => e.status === 'rejected')) throw ends[0].reason;
    const results = new Map<CudaSession, T>();
    ends.forEach((end, i) => {
      if (end.status === 'fulfilled') results.set(sessions[i], end.value);
      else {
        this.#leave(sessions[i], end.reason);
        lost(sessions[i]);
      }
    });
    return results;
  }

  /** On one card, the first that does not fail. */
  async one<T>(task: (session: CudaSession) => Promise<T>): Promise<T> {
    for (;;) {
      const [session] = this.#left;
      try {
        return await task(session);
      } catch (e) {
        if (!(e instanceof CudaError) || this.#left.length === 1) throw e;
        this.#leave(session, e);
      }
    }
  }

  /** Runs all chunks; then `end` once on every card, when what chunks left there is all that there will be. */
  async share<C>(
    chunks: Iterable<C>,
    run: (session: CudaSession, chunk: C) => Promise<void>,
    end: (session: CudaSession) => Promise<void> = async () => {},
  ): Promise<void> {
    let queue = [...chunks];
    const done = new Map<CudaSession, C[]>(this.#left.map(s => [s, []]));
    const work = async (session: CudaSession) => {
      for (let c = queue.shift(); c !== undefined; c = queue.shift()) {
        done.get(session)!.push(c);
        try {
          await run(session, c);
        } catch (e) {
          if (!(e instanceof CudaError)) queue = []; // the others need not go on
          throw e;
        }
      }
    };
    const lost = (session: CudaSession) => {
      queue.push(...done.get(session)!);
    };
    do {
      await this.each(work, lost);
      if (queue.length === 0) await this.each(end, lost);
    } while (queue.length > 0);
  }

  #leave(session: CudaSession, error: CudaError): void {
    this.#left = this.#left.filter(s => s !== session);
    this.warnings.push(`${session.card.name} was left out: ${error.message}`);
  }
}
