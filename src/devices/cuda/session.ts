/**
 * One integrand on a card: runs the methods' tasks as kernels. Points are those of the CPU device, and sums are added in
 * an order that depends on the task alone, so the same seed gives the same bits in every run.
 *
 * Every task waits for its turn on the card. The first task of a session makes what the session needs there. Kernels are
 * compiled before that turn, those of one kind of task in parallel, and those of learning while the first samples are
 * drawn.
 */
import type { BoundProgram, CompiledProgram } from '../../integrand/bound.ts';
import { withResults } from '../../integrand/optimise.ts';
import { ruleFor } from '../../tasks/every-rule.ts';
import type { HeavyCubes, HeavyLimits } from '../../tasks/heavy.ts';
import type { Learning } from '../../tasks/learning.ts';
import { isKept, type Part } from '../../tasks/part.ts';
import type { PoolTask, RegionPool } from '../../tasks/pool/pool.ts';
import type { RegionSums, RegionTask } from '../../tasks/region.ts';
import type { PartSums, ResultPass, SampleTask } from '../../tasks/sample.ts';
import type { WitnessSums, WitnessTask } from '../../tasks/witness.ts';
import { beforeAbort } from '../before-abort.ts';
import type { Session } from '../device.ts';
import { OneByOne } from '../one-by-one.ts';
import { PoolInTurns } from '../pool-in-turns.ts';
import type { Card } from './card.ts';
import { LEARNING } from './learning.ts';
import { OnCard } from './on-card.ts';
import { CudaPool, lookRecipe } from './pool.ts';
import { poolRecipe } from './pool-kernels.ts';
import { integrandUnit, type Recipe, textOf } from './program.ts';
import type { CudaSampling } from './sampling.ts';
import { tierAsked } from './tiers.ts';

/** Cards for which kernels to learn with are compiled, or being compiled. */
const expected = new WeakSet<Card>();

export class CudaSession implements Session {
  readonly card: Card;
  readonly learning = this.#makeLearning();
  #integrand: CompiledProgram;
  /** Regions and witnesses of an integrand with several results. */
  readonly #oneByOne: OneByOne | null;
  #onCard: OnCard | null = null;
  /** Whether the present params are on the card. */
  #bound = false;
  /** The signal of the last task; learning between tasks belongs to the same run. */
  #signal: AbortSignal | undefined;

  constructor(card: Card, integrand: CompiledProgram) {
    this.card = card;
    this.#integrand = integrand;
    const several = integrand.program.results.length > 1;
    this.#oneByOne = several ? new OneByOne(integrand, single => new CudaSession(card, single)) : null;
  }

  get description(): string {
    const { name, info, linkFailure } = this.card;
    return `${name} (${info.name}${linkFailure === undefined ? '' : ', which cannot link kernels'})`;
  }

  /** Begins to compile the integrand, which all kinds of tasks need. Errors are reported when it is needed. */
  compileIntegrand(): void {
    const { program } = this.#integrand;
    const shape = { dims: program.dims, results: program.results.length };
    if (tierAsked() !== 'inlined' && this.card.linkFailure === undefined)
      this.card.compileAhead(integrandUnit(textOf(program), shape)).catch(() => {});
  }

  async sample(task: SampleTask, part: Part, signal?: AbortSignal, following = 0): Promise<PartSums> {
    // errors of these kernels are reported when the kernels are needed
    const learns = () => {
      // VEGAS begins with an iteration that does not adapt; on a machine that has not compiled these kernels yet, the next would wait
      if (task.adapt || !(task.lattice || expected.has(this.card)))
        this.#compiled('learning', undefined, () => LEARNING).catch(() => {});
      expected.add(this.card);
    };
    if (task.pass && task.pass.results.length < this.#integrand.program.results.length) {
      learns();
      return this.#samplePass(task, task.pass, part, signal, following);
    }
    const first = this.#compiled('samples', signal, ({ sampling }) => [sampling.recipe(task)]);
    learns(); // behind those that are needed first
    await first;
    return this.#use(signal, ({ sampling }) => sampling.sample(task, part, signal, following));
  }

  /**
   * Samples some of the results, by a program that computes only these. It has memory of its own, so a map or counts that
   * are kept on the card are fetched first.
   */
  async #samplePass(
    asked: SampleTask,
    { results }: ResultPass,
    part: Part,
    signal: AbortSignal | undefined,
    following: number,
  ): Promise<PartSums> {
    const { edges, counts } = asked;
    const task: SampleTask = {
      ...asked,
      edges: await this.learning.edgesOf(edges),
      counts:
        typeof counts === 'object' && isKept(counts.each)
          ? { ...counts, each: await this.learning.countsOf(counts) }
          : counts,
    };
    const { program, params, ...rest } = this.#integrand;
    let narrow: CompiledProgram | null = null;
    const narrowed = () => {
      narrow ??= { ...rest, params, program: withResults(program, results) };
      return narrow;
    };
    const kind = `samples of ${results}`;
    await this.#compiled(kind, signal, own => [own.pass(results, narrowed).sampling.recipe(task)]);
    return this.#use(signal, own => {
      const pass = own.pass(results, narrowed);
      if (!pass.bound) pass.program.bind(narrowed());
      pass.bound = true;
      return pass.sampling.sample(task, part, signal, following);
    });
  }

  async regions(task: RegionTask, part: Part, signal?: AbortSignal): Promise<RegionSums> {
    if (this.#oneByOne) return this.#oneByOne.regions(task, part, signal);
    await this.compileRegions(task, signal);
    return this.#use(signal, ({ regions }) => regions.evaluate(task, part, signal));
  }

  async compileRegions(task: RegionTask, signal?: AbortSignal): Promise<void> {
    const rule = ruleFor(task.ranges.length, task.rule);
    await this.#compiled('regions', signal, ({ regions }) => [regions.recipe(rule)]);
  }

  async heavy(task: SampleTask, limits: HeavyLimits, signal?: AbortSignal): Promise<HeavyCubes> {
    await this.#compiled('samples', signal, ({ sampling }) => [sampling.recipe(task)]);
    await this.#compiled('learning', signal, () => LEARNING);
    return this.#use(signal, ({ heavy }) => heavy.find(task, limits, signal));
  }

  async witness(task: WitnessTask, part: Part, signal?: AbortSignal): Promise<WitnessSums> {
    if (this.#oneByOne) return this.#oneByOne.witness(task, part, signal);
    await this.#compiled('witness', signal, ({ witness }) => Object.values(witness.recipes()));
    return this.#use(signal, ({ witness }) => witness.hear(task, part, signal));
  }

  async pool(task: PoolTask, signal?: AbortSignal): Promise<RegionPool> {
    const rule = ruleFor(task.ranges.length, task.rule);
    const first = this.#compiled('pool', signal, ({ program, regions }) => [
      poolRecipe(program),
      regions.recipe(rule),
    ]);
    // compiled behind those, and needed after the first regions; errors are reported when the kernels are needed
    const looks = this.#later('looks', ({ program }) => [lookRecipe(program)]);
    const witnesses = this.#later('witness', ({ witness }) => Object.values(witness.recipes()));
    await first;
    const own = await this.#use(
      signal,
      async ({ program, regions, witness }) => new CudaPool(program, regions, witness, task, signal),
    );
    return new PoolInTurns(own, {
      run: step => this.card.run(signal, step),
      looks: looks && beforeAbort(looks, signal),
      witnesses: witnesses && beforeAbort(witnesses, signal),
      close: () => this.card.turns.between(() => own.close()),
    });
  }

  async rebind(program: BoundProgram): Promise<void> {
    this.#integrand = program as CompiledProgram;
    this.#bound = false;
    await this.#oneByOne?.rebind(this.#integrand);
    this.#onCard?.rebound();
  }

  close(): void {
    this.#oneByOne?.close();
    const own = this.#onCard;
    this.#onCard = null;
    if (own) this.card.turns.between(() => this.card.cache.giveIdle(own));
  }

  /** Learning on the card; its steps stop with the signal of the last task. */
  #makeLearning(): Learning {
    const learned = async <T>(ask: (sampling: CudaSampling) => T): Promise<T> => {
      await this.#compiled('learning', this.#signal, () => LEARNING);
      return this.#use(this.#signal, async ({ sampling }) => ask(sampling));
    };
    return {
      learn: (task, sums) => learned(sampling => sampling.learn(task, sums)),
      refine: how => learned(sampling => sampling.refine(how)),
      allocate: (beta, evaluations) => learned(({ learning }) => learning.allocate(beta, evaluations)),
      edgesOf: async map =>
        map instanceof Float64Array ? map : learned(({ learning }) => learning.edgesOf(map)),
      countsOf: counts => learned(({ learning }) => learning.countsOf(counts)),
    };
  }

  /** Runs a task in its turn, with the session's objects on the card. */
  #use<T>(signal: AbortSignal | undefined, task: (own: OnCard) => Promise<T>): Promise<T> {
    this.#signal = signal;
    return this.card.run(signal, async () => {
      this.#onCard ??= this.#made();
      if (!this.#bound) this.#onCard.program.bind(this.#integrand);
      this.#bound = true;
      return task(this.#onCard);
    });
  }

  /** Waits until the kernels of a kind of task are compiled. The signal ends the waiting. */
  async #compiled(
    kind: string,
    signal: AbortSignal | undefined,
    recipes: (own: OnCard) => readonly Recipe[],
  ): Promise<void> {
    this.#onCard ??= this.#made();
    const { kinds, program } = this.#onCard;
    if (kinds.get(kind) === null) return;
    const job = kinds.get(kind) ?? program.compileAhead(recipes(this.#onCard));
    kinds.set(kind, job);
    await beforeAbort(job, signal);
    kinds.set(kind, null);
  }

  /** Begins to compile a kind of kernels; nothing to wait for where they are compiled. */
  #later(kind: string, recipes: (own: OnCard) => readonly Recipe[]): Promise<void> | undefined {
    if (this.#onCard?.kinds.get(kind) === null) return undefined;
    const job = this.#compiled(kind, undefined, recipes);
    job.catch(() => {});
    return job;
  }

  #made(): OnCard {
    const { card } = this;
    return card.cache.takeIdle(this.#integrand.program)?.reset() ?? new OnCard(card, this.#integrand);
  }
}
