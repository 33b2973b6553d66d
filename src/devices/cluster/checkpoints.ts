/**
 * Sums of finished tasks, kept on the server for a run that has a name: when its coordinator dies, a run of the same name goes
 * on where it stopped. A run is made again from its start; a task whose sums are kept costs nothing. Sums are kept under a digest
 * of program, params and task, so the bits are those of a run that was not interrupted, and a name that was used
 * for another integral does no harm.
 */
import { type Connected, type Queue, runsError } from './connection.ts';
import { Frames, frameOf, framesOf, headOf, withHead } from './packing.ts';

const STREAM = 'quadrille-runs';
/** Sums of runs that nobody went on with are removed after a week. */
const MAX_AGE_MS = 7 * 24 * 3600 * 1000;

export class Checkpoints {
  readonly #jetstream: Queue;
  readonly #run: string;
  /** Sums that are on their way to the server, one after another. */
  #keeping: Promise<void> = Promise.resolve();

  static async open(connected: Connected, jetstream: Queue, run: string): Promise<Checkpoints> {
    const { RetentionPolicy, StorageType } = connected.jetstream;
    try {
      await jetstream.manager.streams.add({
        name: STREAM,
        subjects: ['quadrille.sums.>'],
        retention: RetentionPolicy.Limits,
        storage: StorageType.File,
        max_age: MAX_AGE_MS * 1e6,
        max_msgs_per_subject: 1,
      });
    } catch (e) {
      throw runsError(e as Error, connected);
    }
    return new Checkpoints(jetstream, run);
  }

  private constructor(jetstream: Queue, run: string) {
    this.#jetstream = jetstream;
    this.#run = run;
  }

  /** What was kept under a digest; null when nothing was, or not all of it. */
  async find(digest: string): Promise<Uint8Array | null> {
    const frame = async (number: number) => {
      const subject = this.#subject(digest, number);
      const found = await this.#jetstream.manager.streams.getMessage(STREAM, { last_by_subj: subject });
      if (!found) return null;
      const { head, bytes } = headOf(found.data);
      return { frames: (JSON.parse(head) as { frames: number }).frames, bytes };
    };
    try {
      const first = await frame(0);
      if (!first) return null;
      const all = new Frames(first.frames);
      all.add(0, first.bytes);
      for (let i = 1; i < first.frames; i++) {
        const next = await frame(i);
        if (!next) return null;
        all.add(i, next.bytes);
      }
      return all.bytes;
    } catch {
      return null; // they are computed again
    }
  }

  /** Keeps sums, while the run goes on. */
  keep(digest: string, bytes: Uint8Array): void {
    const frames = framesOf(bytes);
    this.#keeping = this.#keeping.then(async () => {
      for (let i = 0; i < frames; i++) {
        const message = withHead({ frames }, frameOf(bytes, i));
        await this.#jetstream.js
          .publish(this.#subject(digest, i), message, { timeout: 5000 })
          .catch(() => {});
      }
    });
  }

  /** Resolves when the server has all sums, or did not take them. */
  settled(): Promise<void> {
    return this.#keeping;
  }

  /** The run has come to its end: nothing of it is needed any more. */
  async forget(): Promise<void> {
    await this.#keeping;
    await this.#jetstream.manager.streams
      .purge(STREAM, { filter: `quadrille.sums.${this.#run}.>` })
      .catch(() => {});
  }

  #subject(digest: string, frame: number): string {
    return `quadrille.sums.${this.#run}.${digest}.${frame}`;
  }
}
