/**
 * Several GPUs as one device, with the bits of one: those of the first, if they differ in size.
 *
 * Samples are shared by groups of pieces, whose sums do not depend on who runs them and are put together in their order
 * (merging.ts); counters of the histogram are integers. What an iteration learned then goes to every card, through the host,
 * and each allots samples and refines the map for itself: the next iteration finds the same on all of them, and a card
 * that is lost takes nothing along. Regions are shared by ranges, and depend on nothing but themselves.
 */
import type {
  Allocation,
  AxisMap,
  Device,
  DeviceIntegrand,
  KeptMap,
  Refinement,
  RegionSums,
  RegionTask,
  SampleSums,
  SampleTask,
  Session,
} from '../device.ts';
import { type CudaDevice, compiled } from './cuda.ts';
import { addCounters, Merging, type Part } from './merging.ts';
import type { CompiledIntegrand } from './program.ts';
import type { CudaSampling, Layout } from './sampling.ts';
import { CudaSession } from './session.ts';
import { Team } from './team.ts';

/** Chunks that each card should get, so that faster ones get more; and the smallest, so that a card is worth asking. */
const CHUNKS = 8;
const GROUPS_PER_PROCESSOR = 32;
const REGION_EVALUATIONS = 2 ** 18;

export class SeveralCards implements Device {
  readonly name: string;
  readonly #devices: readonly CudaDevice[];
  readonly #warnings: readonly string[];

  /** `warnings` say which ones are missing from the start. */
  constructor(devices: readonly CudaDevice[], warnings: readonly string[] = []) {
    this.#devices = devices;
    this.#warnings = warnings;
    this.name = devices.map(d => d.name).join(', ');
  }

  async open(integrand: DeviceIntegrand): Promise<Session> {
    const cards = this.#devices.map(d => d.card);
    const program: CompiledIntegrand = compiled(integrand);
    return new SeveralSession(
      cards.map(card => new CudaSession(card, program)),
      this.#warnings,
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.#devices.map(d => d.close()));
  }
}

/** Samples of each cube, as every card has them. */
class SharedAllocation implements Allocation {
  readonly of: ReadonlyMap<CudaSession, Allocation>;

  constructor(of: ReadonlyMap<CudaSession, Allocation>) {
    this.of = of;
  }

  get evaluations(): number {
    return [...this.of.values()][0].evaluations;
  }
}

/** A map, as every card has it. */
class SharedMap implements KeptMap {
  readonly of: ReadonlyMap<CudaSession, AxisMap>;
  readonly bins: number;

  constructor(of: ReadonlyMap<CudaSession, AxisMap>, bins: number) {
    this.of = of;
    this.bins = bins;
  }
}

class SeveralSession implements Session {
  readonly #all: readonly CudaSession[];
  readonly #team: Team;
  #bins = 1;

  constructor(sessions: CudaSession[], warnings: readonly string[]) {
    this.#all = sessions;
    this.#team = new Team(sessions, warnings);
  }

  get description(): string {
    const cards = this.#team.left.map(s => s.card);
    const names = new Set(cards.map(c => c.info.name));
    if (names.size > 1 || cards.length === 1) return cards.map(c => `${c.name} (${c.info.name})`).join(', ');
    return `${cards.map(c => c.name).join(', ')} (${cards.length} × ${cards[0].info.name})`;
  }

  get warnings(): readonly string[] {
    return this.#team.warnings;
  }

  async sample(task: SampleTask): Promise<SampleSums> {
    const { signal, adapt } = task;
    const team = this.#team;
    const layouts = new Map<CudaSession, Layout>();
    const lay = (session: CudaSession, sampling: CudaSampling): Layout => {
      const layout = layouts.get(session) ?? sampling.lay(this.#own(session, task), this.#processors);
      layouts.set(session, layout);
      return layout;
    };
    const shape = await team.one(s => s.use(signal, async ({ sampling }) => lay(s, sampling)));
    const merging = new Merging(shape);
    const counters = new Map<CudaSession, BigUint64Array>();
    await team.share(
      this.#parts(shape.groups),
      (session, part) =>
        session.use(signal, async ({ sampling }) => {
          const layout = lay(session, sampling);
          const { first, groups } = part;
          const totals = await sampling.run(layout, first, groups);
          const pieces = (of: 'means' | 'variances') =>
            layout.wanted[of] ? sampling.pieces(of, layout, first, groups) : null;
          const sums = sampling.groupSums(groups);
          merging.put(part, { totals, sums, means: pieces('means'), variances: pieces('variances') });
        }),
      async session => {
        const layout = layouts.get(session);
        if (!adapt || !layout) return;
        const read = async ({ sampling }: { sampling: CudaSampling }) => sampling.counters(layout);
        counters.set(session, await session.use(signal, read));
      },
    );
    // a card that is lost leaves no counters: what it had counted was counted again
    for (const session of counters.keys()) if (!team.left.includes(session)) counters.delete(session);
    const all = addCounters(counters.values());
    const { totals } = merging;
    const complete = (session: CudaSession, sampling: CudaSampling): Layout => {
      const layout = lay(session, sampling);
      if (all) sampling.putCounters(all);
      if (merging.means) sampling.putPieces('means', merging.means);
      if (merging.variances) sampling.putPieces('variances', merging.variances);
      return layout;
    };
    if (adapt) {
      this.#bins = task.bins;
      await team.each(s => s.use(signal, async ({ sampling }) => sampling.learn(complete(s, sampling))));
    }
    return team.one(s => s.use(signal, ({ sampling }) => sampling.finish(complete(s, sampling), totals)));
  }

  async allocate(beta: number, evaluations: number): Promise<Allocation> {
    return new SharedAllocation(await this.#team.each(s => s.allocate(beta, evaluations)));
  }

  async refine(how: Refinement): Promise<AxisMap> {
    return new SharedMap(await this.#team.each(s => s.refine(how)), this.#bins);
  }

  async edgesOf(map: AxisMap): Promise<Float64Array> {
    if (!(map instanceof SharedMap)) return map as Float64Array;
    return this.#team.one(s => s.edgesOf(map.of.get(s)!));
  }

  async regions(task: RegionTask): Promise<RegionSums> {
    const { count } = task;
    const sums: RegionSums = {
      values: new Float64Array(count),
      errors: new Float64Array(count),
      axes: new Uint8Array(count),
      nonFinite: null,
    };
    const size = this.#size(count, Math.ceil(REGION_EVALUATIONS / task.rule.points));
    const wrong: RegionSums['nonFinite'][] = [];
    await this.#team.share(Array(Math.ceil(count / size)).keys(), async (session, index) => {
      const first = index * size;
      const own = await session.regions(rangeOf(task, first, Math.min(size, count - first)));
      sums.values.set(own.values, first);
      sums.errors.set(own.errors, first);
      sums.axes.set(own.axes, first);
      wrong[index] = own.nonFinite;
    });
    for (const found of wrong) {
      if (!found) continue;
      sums.nonFinite ??= { count: 0, first: found.first };
      sums.nonFinite.count += found.count;
    }
    return sums;
  }

  async rebind(integrand: DeviceIntegrand): Promise<void> {
    this.#team.warnings = []; // told with the result before
    await this.#team.each(s => s.rebind(integrand));
  }

  close(): void {
    for (const session of this.#all) session.close();
  }

  /** Of the first card, whether it is left or not. */
  get #processors(): number {
    return this.#all[0].card.processors;
  }

  /** How many items a chunk has. */
  #size(items: number, least: number): number {
    return Math.max(least, Math.ceil(items / (CHUNKS * this.#team.left.length)));
  }

  #parts(groups: number): Part[] {
    const size = this.#size(groups, GROUPS_PER_PROCESSOR * this.#processors);
    return Array.from({ length: Math.ceil(groups / size) }, (_, i) => ({
      first: i * size,
      groups: Math.min(size, groups - i * size),
    }));
  }

  /** A task with what this card has of it. */
  #own(session: CudaSession, task: SampleTask): SampleTask {
    const { edges, counts } = task;
    return {
      ...task,
      edges: edges instanceof SharedMap ? edges.of.get(session)! : edges,
      counts: counts instanceof SharedAllocation ? counts.of.get(session)! : counts,
    };
  }
}

/** Some regions of a task; lists have a column an axis. */
function rangeOf(task: RegionTask, first: number, count: number): RegionTask {
  if (count === task.count) return task;
  const dims = task.ranges.length;
  const centres = new Float64Array(dims * count);
  const levels = new Uint8Array(dims * count);
  for (let d = 0; d < dims; d++) {
    const from = d * task.count + first;
    centres.set(task.centres.subarray(from, from + count), d * count);
    levels.set(task.levels.subarray(from, from + count), d * count);
  }
  return { ...task, count, centres, levels };
}
