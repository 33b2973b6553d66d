/**
 * Requests to the coordinator of a run. Servers restart and networks fail, so a request is made again until it is answered.
 * When the server says for GONE_MS that nobody listens, the coordinator is gone: the time lets one reconnect that has lost
 * its server too. One that takes longer publishes its open parts again (coordinator.ts).
 */
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { beforeAbort } from '../before-abort.ts';

/** How long nobody has to listen, and how long an answer may take, in milliseconds. */
const GONE_MS = 1000;
const ANSWER_MS = 5000;
/** After so long without an answer of any kind a request fails. */
const GIVE_UP_MS = 120_000;
const PAUSE_MS = 250;

/** The coordinator of a run has ended, or is out of reach. */
export class CoordinatorGone extends Error {
  override readonly name = 'CoordinatorGone';
}

export async function ask(
  nc: NatsConnection,
  subject: string,
  message: Uint8Array | string,
  signal?: AbortSignal,
): Promise<Msg> {
  const start = performance.now();
  let silent: number | null = null; // since when nobody listens
  for (;;) {
    try {
      return await beforeAbort(nc.request(subject, message, { timeout: ANSWER_MS }), signal);
    } catch (e) {
      if (signal?.aborted) throw signal.reason;
      const now = performance.now();
      silent = hasNoListener(e) ? (silent ?? now) : null;
      if ((silent !== null && now - silent > GONE_MS) || now - start > GIVE_UP_MS || nc.isClosed())
        throw new CoordinatorGone(`nobody answers ${subject}`);
    }
    await beforeAbort(pause(PAUSE_MS), signal);
  }
}

export function hasNoListener(e: unknown): boolean {
  const { name, message, cause } = e as Error;
  return (
    name === 'NoRespondersError' ||
    (cause as Error | undefined)?.name === 'NoRespondersError' ||
    /no responders/i.test(message)
  );
}

export const pause = (ms: number): Promise<void> => new Promise(done => setTimeout(done, ms));
