/**
 * An integrand on a cluster. Tasks are cut into parts by the rates of the workers (sizes.ts) and handed out; the sums of parts
 * are merged as on one machine, with the same bits for any cut. A task of few evaluations is done here, where the device is
 * a CPU: all CPUs give the same bits, and a few milliseconds of work are less than the trip.
 */
import { type BoundProgram, type CompiledProgram, compiledOnly } from '../../integrand/bound.ts';
import { encodeProgram } from '../../integrand/verify.ts';
import type { IntegralList, SolvedIntegral } from '../../tasks/integrals.ts';
import type { Part } from '../../tasks/part.ts';
import { mergeRegions, type RegionSums, type RegionTask } from '../../tasks/region.ts';
import { mergeParts, type PartSums, plainTask, type SampleTask } from '../../tasks/sample.ts';
import { costOf } from '../../tasks/verify.ts';
import { mergeWitnesses, type WitnessSums, type WitnessTask } from '../../tasks/witness.ts';
import type { Session } from '../device.ts';
import type { Coordinator, Integrand } from './coordinator.ts';
import { shareIntegrals } from './integrals.ts';
import { digestOf, fromBytes, pack, toBytes } from './packing.ts';
import { paramList } from './part-runner.ts';
import { type AnySums, type AnyTask, readSums } from './parts.ts';
import type { TaskKind } from './protocol.ts';
import { cut } from './sizes.ts';

/** Evaluations of a task that is done here, at most; and where other integrals wait for this thread. */
const MAX_HERE = 2 ** 16;
const MAX_HERE_SHARED = 2 ** 12;
/** Workers that a description names. */
const MAX_NAMED = 12;

export class ClusterSession implements Session {
  readonly #coordinator: Coordinator;
  readonly #name: string;
  /** For small tasks; null where the workers are no CPUs. */
  readonly #here: Session | null;
  readonly #mostHere: number;
  #integrand: Integrand;
  #release: () => void;

  constructor(
    coordinator: Coordinator,
    name: string,
    program: BoundProgram,
    here: Session | null,
    shared: boolean,
  ) {
    this.#coordinator = coordinator;
    this.#name = name;
    this.#here = here;
    this.#mostHere = shared ? MAX_HERE_SHARED : MAX_HERE;
    [this.#integrand, this.#release] = this.#bind(compiledOnly(program, name));
  }

  get description(): string {
    const shares = this.#coordinator.roster.shares.sort((a, b) => b[1] - a[1]);
    const named = shares.slice(0, MAX_NAMED).map(([n, parts]) => `${n} ${parts}`);
    const more = shares.length - named.length;
    if (more > 0) named.push(`and ${more} more`);
    return `${this.#name} (${named.length > 0 ? `parts of ${named.join(', ')}` : 'small enough for this machine'})`;
  }

  get warnings(): readonly string[] {
    return this.#coordinator.warnings;
  }

  async sample(asked: SampleTask, part: Part, signal?: AbortSignal): Promise<PartSums> {
    const task = plainTask(asked);
    if (this.#here && costOf('sample', task, part) <= this.#mostHere)
      return this.#here.sample(task, part, signal);
    const each = costOf('sample', task, { first: 0, count: 1 });
    const merge = (sums: AnySums[]) => mergeParts(task, part, sums as PartSums[]);
    return (await this.#share('sample', task, part, each, merge, signal)) as PartSums;
  }

  async regions(task: RegionTask, part: Part, signal?: AbortSignal): Promise<RegionSums> {
    if (this.#here && costOf('regions', task, part) <= this.#mostHere)
      return this.#here.regions(task, part, signal);
    const each = costOf('regions', task, { first: 0, count: 1 });
    const merge = (sums: AnySums[]) => mergeRegions(part, sums as RegionSums[]);
    return (await this.#share('regions', task, part, each, merge, signal)) as RegionSums;
  }

  async witness(task: WitnessTask, part: Part, signal?: AbortSignal): Promise<WitnessSums> {
    if (this.#here && costOf('witness', task, part) <= this.#mostHere)
      return this.#here.witness(task, part, signal);
    const each = costOf('witness', task, { first: 0, count: 1 });
    const merge = (sums: AnySums[]) => mergeWitnesses(part, sums as WitnessSums[]);
    return (await this.#share('witness', task, part, each, merge, signal)) as WitnessSums;
  }

  async integrals(
    list: IntegralList,
    tell: (index: number, solved: SolvedIntegral) => void,
    signal?: AbortSignal,
  ): Promise<void> {
    // each integral brings its params, and those of this session need not travel
    const integrand = { ...this.#integrand, params: { text: '[]' } };
    await shareIntegrals(this.#coordinator, integrand, list, tell, signal);
  }

  async rebind(program: BoundProgram): Promise<void> {
    this.#release();
    [this.#integrand, this.#release] = this.#bind(compiledOnly(program, this.#name));
    await this.#here?.rebind(program);
  }

  close(): void {
    this.#release();
    this.#here?.close();
  }

  async #share(
    what: TaskKind,
    task: AnyTask,
    whole: Part,
    each: number,
    merge: (sums: AnySums[]) => AnySums,
    signal: AbortSignal | undefined,
  ): Promise<AnySums> {
    const { roster, checkpoints } = this.#coordinator;
    const { program, params, fit } = this.#integrand;
    const digest = checkpoints ? digestOf(toBytes({ program, params, what, task, whole })) : '';
    const kept = await checkpoints?.find(digest);
    if (kept) return readSums(what, fromBytes(kept), task, whole, fit);
    const parts = cut(whole, each, roster.count, roster.rate, roster.slowest).map(part => ({
      part,
      cost: each * part.count,
    }));
    const sums = merge(await this.#coordinator.handOut(this.#integrand, what, task, parts, signal));
    checkpoints?.keep(digest, toBytes(sums));
    return sums;
  }

  /** Makes program and params known to workers. */
  #bind({ program, params, dims }: CompiledProgram): [Integrand, () => void] {
    const { put, release } = this.#coordinator.blobs.user();
    const integrand = {
      program: put(encodeProgram(program)),
      params: pack(paramList(program, params), put),
      fit: { dims, results: program.results.length },
    };
    return [integrand, release];
  }
}
