/**
 * What a server refuses to a user. It says so in a status only: no call fails, and requests wait for an answer until they time
 * out. So whoever is connected is told of each refusal, and names the right that is missing.
 */
import { ClusterError } from './cluster-error.ts';

export interface Refusal {
  operation: 'publish' | 'subscription';
  subject: string;
}

/** The refusal that a status of the client tells of, if it does. */
export function refusalOf(status: object): Refusal | null {
  const { type, error } = status as { type: string; error?: Partial<Refusal> };
  if (type !== 'error' || !error?.subject) return null;
  const { operation, subject } = error;
  return { operation: operation === 'subscription' ? operation : 'publish', subject };
}

export function refusalError(
  server: string,
  { operation, subject }: Refusal,
  who: 'coordinators' | 'workers' | 'coordinators and workers',
): ClusterError {
  const answers = operation === 'publish' && subject.startsWith('_INBOX.'); // they go where the request says
  const what = answers
    ? 'answer requests: its permissions need allow_responses = true'
    : `${operation === 'publish' ? 'publish' : 'subscribe'} to ${subject}`;
  return new ClusterError(
    `this user of ${server} may not ${what}; docs/cluster.md lists the rights of ${who}`,
  );
}

/** What a worker tries and need not have: it makes the queue where it is missing, which else a coordinator does. */
const SPARE_OF_WORKERS = /^\$JS\.API\.(STREAM|CONSUMER\.(INFO|CREATE|DURABLE))\./;

/** The refusal that makes a worker useless, if there is one. */
export const refusedToWorker = (refused: readonly Refusal[]): Refusal | undefined =>
  refused.find(r => !SPARE_OF_WORKERS.test(r.subject));
