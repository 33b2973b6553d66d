/**
 * Requests to the coordinator of a run. Servers restart and networks fail, so a request is made again until it is answered.
 * When the server says that nobody listens, the coordinator is gone; only for a moment after this side has reconnected, the
 * other side may still be about to. A coordinator that comes back later publishes its open parts again (coordinator.ts).
 */
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { beforeAbort } from '../before-abort.ts';

/** After a reconnection nobody is gone for so long, in milliseconds. */
const SETTLE_MS = 3000;
/** How long an answer may take. */
const ANSWER_MS = 5000;
/** After so long without an answer of any kind a request fails: a server may be away for a minute. */
const GIVE_UP_MS = 60_000;
const PAUSE_MS = 250;

/** The coordinator of a run has ended, or is out of reach. */
export class CoordinatorGone extends Error {
  override readonly name = 'CoordinatorGone';
}

/** When connections were last made again. */
const reconnections = new WeakMap<NatsConnection, number>();
export const noteReconnection = (nc: NatsConnection): void => void reconnections.set(nc, performance.now());

export async function ask(
  nc: NatsConnection,
  subject: string,
  message: Uint8Array | string,
  signal?: AbortSignal,
  giveUp = GIVE_UP_MS,
): Promise<Msg> {
  const start = performance.now();
  for (;;) {
    try {
      return await beforeAbort(nc.request(subject, message, { timeout: ANSWER_MS }), signal);
    } catch (e) {
      if (signal?.aborted) throw signal.reason;
      const now = performance.now();
      const settled = now - (reconnections.get(nc) ?? -Infinity) > SETTLE_MS;
      if ((hasNoListener(e) && settled) || now - start > giveUp || nc.isClosed())
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
