/** Where a worker gets its jobs: a pull consumer of JetStream, which it makes where it is missing and it may. */
import type { Msg } from '@nats-io/transport-node';
import { beforeAbort } from '../before-abort.ts';
import { type Connected, openQueue } from './connection.ts';
import { STREAM } from './protocol.ts';
import { pause } from './requests.ts';

/**
 * How long a request for a job stays with the server, in milliseconds; shorter while the queue may be missing, since a server
 * with JetStream does not answer a request to a queue that it does not have.
 */
const PULL_MS = 5000;
const FIRST_PULL_MS = 500;

export class JobSource {
  readonly queue: string;
  readonly #connected: Connected;
  readonly #signal: AbortSignal;
  readonly #log: (text: string) => void;
  #queueIsThere = false;
  #logged = '';

  constructor(connected: Connected, queue: string, signal: AbortSignal, log: (text: string) => void) {
    this.#connected = connected;
    this.queue = queue;
    this.#signal = signal;
    this.#log = log;
  }

  /** Whoever comes first makes the queue; a worker without that right waits for a coordinator. */
  async open(): Promise<void> {
    try {
      await openQueue(this.#connected, this.queue);
    } catch (e) {
      // a worker may be without the right to make it
      if (this.#connected.refused.length === 0) this.#logOnce((e as Error).message);
      await beforeAbort(pause(500), this.#signal).catch(() => {});
    }
  }

  /** The next job; null when there was none for a while, or the server did not answer. */
  async next(): Promise<Msg | null> {
    const { nc } = this.#connected;
    const wait = this.#queueIsThere ? PULL_MS : FIRST_PULL_MS;
    const pull = JSON.stringify({ batch: 1, expires: wait * 1e6 });
    try {
      const asked = nc.request(`$JS.API.CONSUMER.MSG.NEXT.${STREAM}.${this.queue}`, pull, {
        timeout: wait + 1000,
        noMux: true, // a job has the subject of its queue, by which the shared inbox would not find the request
      });
      const m = await beforeAbort(asked, this.#signal);
      this.#queueIsThere = true;
      const status = m.headers?.code ?? 0;
      if (status === 0) return m;
      if (status !== 404 && status !== 408) await pause(500); // a deleted queue, or too many that wait
      return null;
    } catch {
      this.#queueIsThere = false;
      if (!this.#signal.aborted && !nc.isClosed()) await this.open();
      return null;
    }
  }

  #logOnce(text: string): void {
    if (text !== this.#logged) this.#log(text);
    this.#logged = text;
  }
}
