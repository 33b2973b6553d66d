/** Who is there: every worker answers a request to all, so nothing has to be kept or cleared away. */
import type { NatsConnection } from '@nats-io/transport-node';
import { ClusterError } from './cluster-error.ts';
import type { Connected } from './connection.ts';
import { PROTOCOL, queueOf, RELEASE, readWorker, WHO, type Worker } from './protocol.ts';
import { pause } from './requests.ts';
import { refusalError } from './rights.ts';

/** No answer for so long, in milliseconds, and all have answered; 220 ms is what five workers of one machine took. */
const STALL_MS = 300;
const MAX_WAIT_MS = 2000;

/** The workers that answer; one that starts claims its name with the question (worker-checks.ts). */
export async function who(nc: NatsConnection, claim = ''): Promise<Worker[]> {
  const found: Worker[] = [];
  try {
    const answers = await nc.requestMany(WHO, claim, {
      strategy: 'stall',
      stall: STALL_MS,
      maxWait: MAX_WAIT_MS,
    });
    for await (const m of answers) {
      try {
        found.push(readWorker(m.string()));
      } catch {
        // not one of ours
      }
    }
  } catch {
    // nobody listens, or the connection is away: nobody is there
  }
  return found.sort((a, b) => a.name.localeCompare(b.name));
}

/** Why nobody answers. */
export async function nobodyError({ nc, server, refused }: Connected): Promise<ClusterError> {
  await nc.flush().catch(() => {});
  await pause(20); // that a subject is refused comes as an event of its own
  if (refused.length > 0) return refusalError(server, refused[0], 'coordinators');
  return new ClusterError(
    `no worker answers at ${server}; start some with quadrille worker ${server}, on every machine that is to take part`,
  );
}

/** The workers of the kind that was asked for, of this release; throws with a remedy where there are none. */
export async function findWorkers(
  connected: Connected,
  kind: string | undefined,
): Promise<{ kind: string; workers: Worker[] }> {
  const { nc, server } = connected;
  const all = await who(nc);
  const ours = all.filter(w => w.protocol === PROTOCOL && w.release === RELEASE);
  const kinds = [...new Set(ours.map(w => w.kind))];
  // of several kinds, the one that most workers have
  const most = kinds.sort((a, b) => count(ours, b) - count(ours, a))[0];
  const chosen = kind ?? most;
  const workers = ours.filter(w => w.kind === chosen && w.queue === queueOf(chosen));
  if (workers.length > 0) return { kind: chosen, workers };
  if (all.length === 0) throw await nobodyError(connected);
  const others = all.map(w => `${w.name} (${w.kind}, release ${w.release})`).slice(0, 8);
  const wanted = `release ${RELEASE}${kind ? ` and kind ${kind}` : ''}`;
  throw new ClusterError(
    `no worker at ${server} has ${wanted}: there are ${others.join(', ')}${all.length > 8 ? ', …' : ''}; results have the bits of one release and one kind, so start workers of the same`,
  );
}

const count = (workers: readonly Worker[], kind: string): number =>
  workers.filter(w => w.kind === kind).length;
