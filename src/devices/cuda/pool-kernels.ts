/**
 * The kernels of a pool of regions (kernels/pool.cu): what they are given, and what they find. After each step they add over all regions and
 * count the errors, and the host reads both at once.
 */
import { ruleFor } from '../../tasks/every-rule.ts';
import { DEVIATING } from '../../tasks/pool/blame.ts';
import { DEEP, MOST_UNEVEN } from '../../tasks/pool/borders.ts';
import { differenceWeight } from '../../tasks/pool/errors.ts';
import type { PoolTask } from '../../tasks/pool/pool.ts';
import type { Rule } from '../../tasks/rules.ts';
import type { Buffer } from './card.ts';
import { PoolLists } from './lists.ts';
import type { Kernels } from './module.ts';
import type { CudaProgram, Recipe } from './program.ts';
import { blocksFor, type CudaRegions, KIND, THREADS } from './regions.ts';
import { FOUND, POOL } from './structs.ts';
import { type Selection, SHIFT, selectLargest, TOLD } from './survey.ts';

/** Threads of kernels that add over the threads of a block. */
export const WIDTH = 1024;
/** Buckets of values, for looks across borders. */
const BUCKETS = 2 ** 12;
/** Up to this many regions, one block writes lists; up to SURVEYED, the kernel that adds up counts their errors too. */
const MAX_ONE_BLOCK_REGIONS = 2 ** 15;
const SURVEYED = 2 ** 14;
/** Blocks of kernels that add over all regions, at most. */
export const MAX_SUM_BLOCKS = 1024;
/** Why regions are listed: for halving, for a look across borders, as gaps of finished ones, or to move into the gaps. */
export const PURPOSE = { HALVING: 0, LOOKS: 1, GAPS: 2, MOVES: 3 } as const;
/** Whose errors witnesses raise. */
export const BLAME = { SURPRISED: 0, DEVIATING: 1, EVERYONE: 2 } as const;

const found = FOUND.layout(0);
export type Found = ReturnType<typeof found.unpack>;
/** A copy of FOUND takes so many bytes of the memory for reports. */
const FOUND_BYTES = found.size;

/** Members of POOL that change from launch to launch. */
export interface Shape {
  n: number;
  purpose: number;
  threshold: number;
  unit: number;
  relative: number;
  below: number;
  thin: number;
  list: number;
}

const CONSTANTS = {
  DEEP,
  MOST_UNEVEN,
  WIDTH,
  BUCKETS,
  SHIFT,
  TOLD,
  SURVEYED,
  ...PURPOSE,
  ...BLAME,
  LIMIT: DEVIATING,
};
export const poolRecipe = (program: CudaProgram): Recipe => program.without('pool', CONSTANTS);

export class PoolKernels {
  readonly program: CudaProgram;
  readonly regions: CudaRegions;
  readonly task: PoolTask;
  readonly rule: Rule;
  readonly signal: AbortSignal | undefined;
  readonly lists: PoolLists;
  /** Regions, nodes of the tree of halvings, where that begins, and how often a region was halved at most. */
  readonly tree = { count: 0, nodes: 0, roots: 0, rootLevel: 0, depth: 0 };
  /** What the last sums were. */
  last!: Found;
  /** Those that select, list and add, and those that evaluate. */
  readonly #module: Kernels;
  readonly #evaluation: Kernels;
  readonly #struct;
  readonly #buckets: Buffer;
  readonly #survey: Buffer;
  readonly #found: Buffer;
  readonly #blocks: Buffer;
  readonly #sums: Buffer;
  /** Where kernels leave copies of FOUND, and which of the places there the next one takes. */
  readonly #reportTo: number;
  #slot = 0;
  /** How many errors are in each bucket. */
  readonly #counts = new Uint32Array(TOLD);
  /** The struct POOL as the last launch was given it. */
  #bytes: Uint8Array = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);

  constructor(program: CudaProgram, regions: CudaRegions, task: PoolTask, signal?: AbortSignal) {
    this.program = program;
    this.regions = regions;
    this.task = task;
    this.signal = signal;
    this.rule = ruleFor(program.dims, task.rule);
    this.#reportTo = program.card.reportTo;
    this.lists = new PoolLists(program.card, program.dims);
    this.#module = program.module(poolRecipe(program));
    this.#evaluation = program.module(regions.recipe(this.rule));
    this.#struct = POOL.layout(program.dims);
    this.#buckets = program.buffer('pool buckets').reserve(4 * BUCKETS);
    this.#found = program.buffer('pool found').reserve(FOUND_BYTES);
    this.#blocks = program.buffer('pool blocks');
    this.#sums = program.buffer('pool sums').reserve(8 * 6 * MAX_SUM_BLOCKS);
    this.#survey = program.buffer('pool survey');
    if (!program.card.surveyTo) this.#survey.reserve(4 * TOLD);
  }

  launch(
    kernel: string,
    blocks: number,
    threads: number,
    shape: Partial<Shape> = {},
    ...more: ArrayBufferView[]
  ): void {
    this.#module.launch(kernel, blocks, threads, 0, this.shaped(shape), ...more);
  }

  evaluate(kind: number, regions: number, shape: Partial<Shape> = {}): void {
    const how = [this.shaped(shape), Uint32Array.of(kind)];
    this.#evaluation.launch('evaluateRegions', blocksFor(regions, kind), THREADS, 0, ...how);
  }

  /** Writes a list of regions. */
  list(shape: Partial<Shape>): void {
    const { count } = this.tree;
    if (count <= MAX_ONE_BLOCK_REGIONS) {
      this.launch('listFew', 1, WIDTH, shape);
      return;
    }
    const blocks = Math.ceil(count / WIDTH);
    this.launch('listCounts', blocks, WIDTH, shape);
    this.launch('listStarts', 1, WIDTH, shape);
    this.launch('listWrite', blocks, WIDTH, shape);
  }

  /** Counts regions in buckets: by their errors, or small ones by their values. */
  bucket(kernel: 'bucketErrors' | 'bucketSmall', shape: Partial<Shape>): void {
    this.#buckets.clear(4 * BUCKETS);
    const all = this.tree.count + (shape.n ?? 0);
    // two blocks fit on a processor; more would only mean more lists of counts to add
    const blocks = Math.min(2 * this.program.card.processors, Math.ceil(all / WIDTH));
    this.launch(kernel, blocks, WIDTH, shape);
  }

  /** Adds over all regions, of which n are new, and counts their errors. */
  async addUp(n = 0): Promise<void> {
    this.#total(n);
    this.last = await this.read();
    this.#readCounts();
  }

  /**
   * Halves all regions so many times without waiting in between, and returns what was found after each halving. Null where the host has no
   * memory for so many answers.
   */
  async halveAll(times: number): Promise<Found[] | null> {
    const { card } = this.program;
    const { tree } = this;
    if (times * FOUND_BYTES > card.reportRoom || tree.count * 2 ** times > SURVEYED) return null;
    for (let slot = 0; slot < times; slot++) {
      const n = tree.count;
      this.#slot = slot;
      this.list({ threshold: 0 });
      this.evaluate(KIND.HALVES, 2 * n, { n });
      this.#total(n);
      this.halved(n);
    }
    this.#slot = 0;
    await card.finished(this.signal, 'evaluating regions');
    this.#readCounts();
    return Array.from({ length: times }, (_, slot) =>
      found.unpack(card.report(FOUND_BYTES, slot * FOUND_BYTES)),
    );
  }

  /** Takes note that n regions were halved. */
  halved(n: number): void {
    this.tree.count += n;
    this.tree.nodes += 2 * n;
    this.tree.depth++;
  }

  #total(n: number): void {
    const all = this.tree.count + n;
    this.launch('totals', Math.min(MAX_SUM_BLOCKS, Math.ceil(all / 256)), 256, { n });
    if (all <= SURVEYED) return;
    this.bucket('bucketErrors', { n });
    this.launch('survey', 1, WIDTH);
  }

  #readCounts(): void {
    const { card } = this.program;
    if (card.surveyTo) card.survey(this.#counts);
    else this.#survey.read(this.#counts);
  }

  /** The regions with the largest errors, as many as sum to `part`; Infinity for all that can be halved. */
  largest(part: number): Selection {
    const { error, stuckCount } = this.last;
    if (part === Infinity) return { threshold: 0, count: stuckCount === 0 ? this.tree.count : null };
    return selectLargest(this.#counts, error, Math.max(part, Number.MIN_VALUE)); // at least the region with the largest error
  }

  /** Waits for the kernels, and reads what they have found. */
  async read(): Promise<Found> {
    const { card } = this.program;
    await card.finished(this.signal, 'evaluating regions');
    return found.unpack(
      card.reportTo ? card.report(FOUND_BYTES) : this.#found.read(new Uint8Array(FOUND_BYTES)),
    );
  }

  /** Where values that are not finite are counted. */
  get wrong(): number {
    return this.#found.address + found.offset('wrong');
  }

  /** Clears the struct FOUND before kernels fill it. */
  expectFound(): void {
    const bytes = found.pack({});
    bytes.fill(255, found.offset('first'), found.offset('first') + 8);
    this.#found.write(bytes);
  }

  /** Says that the smallest and the largest error are to be found. */
  expectErrors(): void {
    this.#found.write(Uint32Array.of(0xffffffff, 0xffffffff, 0, 0), found.offset('leastError'));
  }

  /** Makes room for so many regions. */
  grow(room: number): void {
    this.lists.grow(room);
    this.#blocks.reserve(8 * Math.ceil(this.lists.room / WIDTH));
    this.draw();
  }

  /** The struct POOL for a launch, which copies it; most members stay the same until lists grow. */
  shaped({
    n = 0,
    purpose = 0,
    threshold = 0,
    unit = 0,
    relative = 0,
    below = 0,
    thin = 0,
    list,
  }: Partial<Shape>): Uint8Array {
    const [struct, view, tree] = [this.#struct, this.#view, this.tree];
    struct.put(view, 'count', tree.count);
    struct.put(view, 'n', n);
    struct.put(view, 'nodes', tree.nodes);
    struct.put(view, 'roots', tree.roots);
    struct.put(view, 'rootLevel', tree.rootLevel);
    struct.put(view, 'purpose', purpose);
    struct.put(view, 'threshold', threshold);
    struct.put(view, 'unit', unit);
    struct.put(view, 'relative', relative);
    struct.put(view, 'below', below);
    struct.put(view, 'thin', thin);
    struct.put(view, 'list', list ?? this.lists.address('list'));
    struct.put(view, 'report', this.#reportTo && this.#reportTo + this.#slot * FOUND_BYTES);
    return this.#bytes;
  }

  /** Notes where lists are, when some have moved. */
  draw(): void {
    const { card } = this.program;
    const address = this.lists.address.bind(this.lists);
    this.#bytes = this.#struct.pack({
      t: this.regions.struct(this.rule, this.task.ranges, 0, address, this.wrong),
      weight: differenceWeight(this.program.dims),
      found: this.#found,
      flags: address('flags'),
      depths: address('depths'),
      nodeOf: address('nodeOf'),
      tree: address('tree'),
      buckets: this.#buckets,
      survey: card.surveyTo || this.#survey,
      list: address('list'),
      blocks: this.#blocks,
      parentValues: address('parentValues'),
      parentErrors: address('parentErrors'),
      sums: this.#sums,
      best: address('best'),
      around: address('around'),
      face: address('face'),
      report: this.#reportTo,
    });
    this.#view = new DataView(this.#bytes.buffer);
  }
}
