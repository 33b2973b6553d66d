/**
 * Whole integrals of a scan as jobs: thousands of small ones, many to a job. Nobody knows beforehand what an integral takes, so
 * there are two jobs for each worker, each with as many integrals as took BATCH_MS before, and fewer near the end, so that all
 * workers end at about the same time.
 *
 * An integral that is too large comes back undone, and is left to the caller; if most do, all others are left to it as well.
 */
import type {
  IntegralData,
  IntegralDone,
  IntegralList,
  IntegralSums,
  Neighbours,
  SolvedIntegral,
} from '../../tasks/integrals.ts';
import { readIntegralSums } from '../../tasks/verify.ts';
import type { Coordinator, Integrand } from './coordinator.ts';
import { digestOf, fromBytes, toBytes } from './packing.ts';
import { paramList } from './part-runner.ts';

/** What a job of integrals should take, in milliseconds, with the time that it waits for a worker; and at least. */
const BATCH_MS = 500;
const SHORT_BATCH_MS = 20;
/** Integrals of a job, and bytes of their params, at most. */
const MAX_BATCH = 256;
const MAX_BATCH_BYTES = 2 ** 24;
/** Jobs that wait or are under way, at most. */
const MAX_LANES = 512;
/** So many more undone integrals than solved ones, and the others are left to the caller. */
const MAX_UNDONE = 8;

/** The integrals of a job: their numbers in the list, and under which digests a run with a name keeps them. */
interface Batch {
  indexes: number[];
  integrals: IntegralData[];
  digests: string[];
}

/** Tells of integrals that workers have solved. */
export async function shareIntegrals(
  coordinator: Coordinator,
  integrand: Integrand,
  list: IntegralList,
  tell: (index: number, solved: SolvedIntegral) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { checkpoints } = coordinator;
  const lanes = Math.min(MAX_LANES, 2 * coordinator.roster.count, list.count);
  let next = 0;
  let undone = 0;
  /** Milliseconds per integral of the last job; 0 when there was none. */
  let pace = 0;
  const report = (index: number, done: IntegralDone, vouched: boolean) => {
    undone = Math.max(-MAX_BATCH, undone + (done ? -1 : 1));
    if (!done) return;
    list.neighbours.contradicted ||= done.contradicted;
    tell(index, { result: done.result, elapsed: pace, vouched });
  };
  /** The next integrals, without those that a run of the same name has kept. */
  const take = async (neighbours: Neighbours): Promise<Batch> => {
    const batch: Batch = { indexes: [], integrals: [], digests: [] };
    const most = batchSize(list.count - next, lanes, pace);
    let bytes = 0;
    while (next < list.count && batch.indexes.length < most && bytes < MAX_BATCH_BYTES) {
      const index = next++;
      const own = await list.at(index);
      if (!own) continue;
      const params = paramList(own.program.program, own.program.params);
      const integral = { params, ...(own.domain !== undefined && { domain: own.domain }) };
      const { options } = list;
      const digest = checkpoints
        ? digestOf(toBytes({ program: integrand.program, options, integral, neighbours }))
        : '';
      const kept = await checkpoints?.find(digest);
      if (kept) {
        const { integrals } = readIntegralSums(fromBytes(kept), 1);
        report(index, integrals[0], !neighbours.contradicted);
        continue;
      }
      for (const p of params) bytes += p instanceof Float64Array ? p.byteLength : 8;
      batch.indexes.push(index);
      batch.integrals.push(integral);
      batch.digests.push(digest);
    }
    return batch;
  };
  const lane = async () => {
    while (next < list.count && undone < MAX_UNDONE) {
      const neighbours = { ...list.neighbours };
      const { indexes, integrals, digests } = await take(neighbours);
      if (indexes.length === 0) continue;
      const task = { options: list.options, integrals, neighbours };
      const part = { first: 0, count: indexes.length };
      const start = performance.now();
      const [sums] = await coordinator.handOut(integrand, 'integrals', task, [{ part, cost: 0 }], signal);
      pace = (performance.now() - start) / indexes.length;
      for (const [i, done] of (sums as IntegralSums).integrals.entries()) {
        if (done) checkpoints?.keep(digests[i], toBytes({ integrals: [done] }));
        report(indexes[i], done, !neighbours.contradicted);
      }
    }
  };
  const ends = await Promise.allSettled(
    Array.from({ length: lanes }, () =>
      lane().catch(e => {
        next = list.count; // others end with what they have
        throw e;
      }),
    ),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Integrals of the next job. */
export function batchSize(left: number, lanes: number, pace: number): number {
  if (pace === 0) return 1;
  const share = Math.max(Math.ceil(left / (2 * lanes)), Math.floor(SHORT_BATCH_MS / pace));
  return Math.max(1, Math.min(MAX_BATCH, left, share, Math.floor(BATCH_MS / pace)));
}
