/** Whole tasks on a session, as methods ask for them. */
import type { Session } from '../../src/devices/device.ts';
import { HostPool } from '../../src/tasks/pool/host-pool.ts';
import type { PoolTask, RegionPool } from '../../src/tasks/pool/pool.ts';
import { allRegions, type RegionSums, type RegionTask } from '../../src/tasks/region.ts';
import { merge, type SampleSums, type SampleTask, wholeOf } from '../../src/tasks/sample.ts';

export async function sampled(session: Session, task: SampleTask, signal?: AbortSignal): Promise<SampleSums> {
  return merge(task, [await session.sample(task, wholeOf(task), signal)]);
}

export function evaluated(session: Session, task: RegionTask, signal?: AbortSignal): Promise<RegionSums> {
  return session.regions(task, allRegions(task), signal);
}

/** The pool in lists of this process. */
export const hostPool = (session: Session, task: PoolTask): RegionPool =>
  new HostPool(
    regions => evaluated(session, regions),
    witnesses => session.witness(witnesses, allRegions(witnesses)),
    task,
  );

export async function poolOf(session: Session, task: PoolTask): Promise<RegionPool> {
  return (await session.pool?.(task)) ?? hostPool(session, task);
}
