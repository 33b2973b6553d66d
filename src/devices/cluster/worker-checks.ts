/**
 * What a worker makes sure of before it takes jobs: that it has the rights that it will need, and its name for itself. Without
 * rights it would take jobs and never send sums, and the coordinator would wait; two workers of one name would confirm each
 * other's sums as if they were one machine.
 */
import { hostname } from 'node:os';
import { ClusterError } from './cluster-error.ts';
import type { Connected } from './connection.ts';
import { who } from './presence.ts';
import { isWorkerName, STREAM, toRun, type Worker } from './protocol.ts';
import { pause } from './requests.ts';
import { refusalError, refusedToWorker } from './rights.ts';

/** The machine and the number of the process. */
export const defaultName = (): string =>
  `${hostname()
    .replace(/[^\w.-]/g, '-')
    .slice(0, 60)}-${process.pid}`;

/** A name that people have given. */
export function checkName(name: string): void {
  if (!isWorkerName(name))
    throw new ClusterError(
      `a worker cannot be called '${name}'; use letters, digits and . @ : + - _, at most 100`,
    );
}

/** Throws when the user of a worker has not the rights that it will need; returns the workers that answer, itself among them. */
export async function checkRights(connected: Connected, queue: string, claim: NameClaim): Promise<Worker[]> {
  const { nc, server, refused } = connected;
  // nobody listens to these, and nothing follows: the server looks at rights first. A request for a job without a place for
  // the answer gets none.
  for (const what of ['begin', 'blob', 'result'] as const) nc.publish(toRun(what, 'rights'));
  nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${STREAM}.${queue}`);
  nc.publish(`$JS.ACK.${STREAM}.rights`);
  const found = await who(nc, claim.text); // its own answer needs the right to subscribe, to answer, and to read answers
  await nc.flush();
  await pause(20); // a refusal comes as an event of its own
  const refusal = refusedToWorker(refused);
  if (refusal) throw refusalError(server, refusal, 'workers');
  return found;
}

/**
 * The claim of a worker to its name, which travels with its question who is there. A worker that has its name keeps it; of
 * those that ask at the same time the one with the smallest id has it, and each of them hears of the others: by their answers, or
 * by their questions.
 */
export class NameClaim {
  readonly text: string;
  readonly #name: string;
  readonly #id: string;
  #pending = true;
  #lost = false;

  constructor(name: string, id: string) {
    this.#name = name;
    this.#id = id;
    this.text = JSON.stringify({ name, id });
  }

  get pending(): boolean {
    return this.#pending;
  }

  /** A question of somebody, with a claim or without. */
  heard(question: string): void {
    if (!this.#pending || question === '' || question === this.text) return;
    try {
      const { name, id } = JSON.parse(question) as { name?: unknown; id?: unknown };
      if (name === this.#name && typeof id === 'string' && id < this.#id) this.#lost = true;
    } catch {
      // no claim
    }
  }

  /** Whether the name is this worker's, by the answers to its question. */
  settled(found: readonly Worker[]): boolean {
    this.#pending = false;
    const others = found.filter(w => w.name === this.#name && w.id !== this.#id);
    return !this.#lost && !others.some(w => !w.starting || (w.id ?? '') < this.#id);
  }
}
