/**
 * Iterations of VEGAS on a card. The pieces of an iteration are divided into leaves (kernels/sample.cu); a group of the task
 * has one or several leaves. After a whole iteration the card keeps what was learned, and the host reads a few numbers;
 * after a part, the host reads the sums of leaves and, if cubes are wanted, those of pieces.
 */
import { ALL_COUNT, blockBitsOf } from '../../tasks/counted.ts';
import type { Refinement } from '../../tasks/learning.ts';
import { isKept, type NonFinite, type Part } from '../../tasks/part.ts';
import { piecesOf, placeFinder } from '../../tasks/pieces.ts';
import {
  type AxisMap,
  type CubeSums,
  cubesOf,
  nodeWidth,
  type PartSums,
  type PlainTask,
  plainTask,
  type SampleSums,
  type SampleTask,
  samplesOf,
} from '../../tasks/sample.ts';
import { pointOfSample } from '../../tasks/sample-point.ts';
import { TreeSum } from '../../tasks/tree-sum.ts';
import { Ahead } from '../ahead.ts';
import type { Buffer } from './card.ts';
import { CudaLearning } from './learning.ts';
import type { Kernels } from './module.ts';
import { partCubes } from './part-cubes.ts';
import {
  type CudaProgram,
  type Recipe,
  SAMPLE_CONSTANTS,
  sampleConstants,
  sampleStruct,
  vectorBytes,
} from './program.ts';
import { SampleFrames } from './sample-frames.ts';
import { type Fit, fitFor, type SampleLayout, sampleLayout } from './sample-layout.ts';
import type { Layout } from './struct.ts';
import { LATTICE, SAMPLE_RESULT } from './structs.ts';

/** Samples of iterations that are waited for together, at most: an H200 takes 0.1 ms for them. */
const MOST_AHEAD = 2 ** 22;
/** Threads per block, at least. */
const MIN_THREADS = 128;
/** Bytes of shared memory that are reserved for the kernel beside map and histogram. */
const OWN_SHARED = 4096;
/** Indices of the numbers of a leaf of one result, in the order of sample-leaf.cu. */
const [INTEGRAL, VARIANCE, INCREMENTS, CONCENTRATION] = [0, 1, 2, 3];

const BUFFERS = [
  'counts',
  'firstPiece',
  'firstSample',
  'totals',
  'groupStarts',
  'sums',
  'kept variances',
  'means',
  'variances',
  'state',
  'smooth map',
  'shifts',
] as const;

/** An iteration on a card, with the memory that it needs. */
interface Laid extends SampleLayout {
  task: SampleTask;
  map: Buffer;
  wanted: { means: boolean; variances: boolean };
  /** Variances of pieces. What the card learns from has a buffer of its own, which other iterations leave alone. */
  variances: Buffer;
}

/** The cubes of an iteration, which have one piece each, in the card's memory. */
export interface SampledCubes {
  cubes: number;
  means: Buffer;
  variances: Buffer;
}

/** Sums over leaves. */
interface Totals {
  /** The sums of the task, where all of its leaves have run. */
  root: Float64Array;
  squares: number;
  evaluations: number;
  /** The number of values that were not finite, and the number of the first sample with one. */
  wrong: number;
  first: number;
}

export class CudaSampling {
  readonly #program: CudaProgram;
  readonly learning: CudaLearning;
  readonly #buffers: Record<(typeof BUFFERS)[number], Buffer>;
  readonly #ahead = new Ahead<{ laid: Laid; totals: Totals }>();
  /** Threads per block, at most; there is one block per multiprocessor. Numbers that a leaf adds. */
  readonly #constants: ReturnType<typeof sampleConstants>;
  readonly #result = SAMPLE_RESULT.layout(0);
  /** Kernels by what they are made for; a run has up to four kinds of iterations, which take turns. */
  readonly #modules = new Map<string, Kernels>();
  readonly #frames = new SampleFrames();
  /** The slopes of the smooth map that is on the card. */
  #slopes: Float64Array | null = null;
  /** The number of bytes of the state, from the result on, that are known to be 0; and the buffer with them. */
  #zeros = 0;
  #zerosAt = 0;

  constructor(program: CudaProgram) {
    this.#program = program;
    this.#constants = sampleConstants(program.results);
    this.learning = new CudaLearning(program);
    this.#buffers = program.buffers(...BUFFERS);
  }

  /** Forgets what belongs to a session that has ended. */
  reset(): void {
    this.#modules.clear();
    this.#slopes = null;
    this.learning.reset();
  }

  /** What was sampled ahead is not wanted any more. */
  forgetAhead(): void {
    this.#ahead.forget();
  }

  /** `following`: see `sample` of ../device.ts. */
  async sample(task: SampleTask, part: Part, signal?: AbortSignal, following = 0): Promise<PartSums> {
    const layout = sampleLayout(task);
    const whole = part.count === layout.groups;
    const leavesOf = (groups: number) => groups * 2 ** layout.leafBits;
    const known = whole ? this.#ahead.take(task) : null;
    const laid = known?.laid ?? this.#lay(task, layout);
    const more = whole ? this.#along(task, following) : 0;
    const [totals, ...others] = known
      ? [known.totals]
      : await this.#run(laid, leavesOf(part.first), leavesOf(part.count), signal, { more });
    if (others.length > 0)
      this.#ahead.put(
        task,
        others.map(totals => ({ laid, totals })),
      );
    const { evaluations, squares, root } = totals;
    const sums: PartSums = {
      part,
      evaluations,
      squares,
      nodes: whole ? root : new Float64Array(0),
      histogram: task.adapt && !task.adapt.keep ? this.#histogram(task.bins) : null,
      cubes: null,
      nonFinite: totals.wrong > 0 ? await this.#nonFinite(task, totals) : null,
    };
    if (whole) {
      if (task.adapt?.keep) this.#keep(laid);
      else if (laid.wanted.variances) sums.cubes = this.#wholeCubes(laid);
      return sums;
    }
    const place = placeFinder(plainTask(task).counts, laid.cubes);
    const [from, to] = [part.first, part.first + part.count].map(g => place(g * 2 ** laid.groupBits).sample);
    return {
      ...sums,
      ...this.#nodes(part, leavesOf, laid.groups),
      evaluations: to - from,
      cubes: laid.wanted.variances ? this.#partCubes(laid, part) : null,
    };
  }

  /** Samples all of a task whose cubes have one piece each; `then` starts a kernel that looks at them. */
  async sampleCubes(
    task: SampleTask,
    then: (sampled: SampledCubes) => void,
    signal: AbortSignal | undefined,
  ): Promise<Pick<PartSums, 'evaluations' | 'nonFinite'>> {
    const laid = this.#lay(task, sampleLayout(task));
    const { cubes, variances } = laid;
    const { means } = this.#buffers;
    const leaves = laid.groups * 2 ** laid.leafBits;
    const behind = { then: () => then({ cubes, means, variances }) };
    const [totals] = await this.#run(laid, 0, leaves, signal, behind);
    const nonFinite = totals.wrong > 0 ? await this.#nonFinite(task, totals) : null;
    return { evaluations: totals.evaluations, nonFinite };
  }

  /** How many of the iterations that are likely to follow are started along with one, and waited for together with it. */
  #along({ adapt, cubes, lattice, ...task }: SampleTask, following: number): number {
    const { card, mayTakeLong } = this.#program;
    if (following === 0 || adapt || cubes || lattice || mayTakeLong) return 0;
    const quick = Math.floor(MOST_AHEAD / samplesOf(task)) - 1;
    return Math.max(0, Math.min(following, quick, Math.floor(card.reportRoom / this.#reportBytes) - 1));
  }

  /** Bytes that kernels report of an iteration: the result, and behind it the sums of several results. */
  get #reportBytes(): number {
    const { results } = this.#program;
    return this.#result.size + (results > 1 ? 8 * nodeWidth(results) : 0);
  }

  /** Brings what an iteration needs into the card's memory. */
  #lay(task: SampleTask, layout: SampleLayout): Laid {
    const { bins, adapt } = task;
    const map = task.lattice ? this.#putLattice(plainTask(task)) : this.learning.mapOf(task.edges);
    this.learning.putCounts(task.counts);
    const wanted = { means: !!task.cubes, variances: !!task.cubes || !!adapt?.variances };
    const buffer = this.#buffers;
    if (wanted.means) buffer.means.reserve(8 * layout.pieces);
    const variances = adapt?.keep ? buffer['kept variances'] : buffer.variances;
    if (wanted.variances) variances.reserve(8 * layout.pieces);
    this.#clear(this.#result.size + (adapt ? 8 * this.#program.dims * bins : 0));
    // no spread: copies that grow by members are slow, and this is made in each iteration
    const { cubes, pieces, team, groupBits, leafBits, groups } = layout;
    return { cubes, pieces, team, groupBits, leafBits, groups, task, map, wanted, variances };
  }

  /** Writes the shifts of lattices, and a smooth map unless it is there: each edge with the slope there (tasks/smooth-map.ts). */
  #putLattice({ lattice, edges }: PlainTask): Buffer {
    const { slopes, shifts } = lattice!;
    this.#buffers.shifts.write(shifts);
    if (this.#slopes === slopes) return this.#buffers['smooth map'];
    this.#slopes = slopes;
    const pairs = new Float64Array(2 * edges.length);
    edges.forEach((edge, i) => {
      pairs[2 * i] = edge;
      pairs[2 * i + 1] = slopes[i];
    });
    return this.#buffers['smooth map'].write(pairs);
  }

  #latticeOf({ lattice, edges, bins, strata }: PlainTask) {
    const { steps } = lattice!;
    return LATTICE.layout(strata.length).pack({
      ends: strata.map((_, d) => edges[d * (bins + 1) + bins]),
      corner: 2 ** 20 - bins * 2 ** -33,
      shifts: this.#buffers.shifts,
      steps: Array.from(steps),
    });
  }

  /** Makes sure that this many bytes of the state are 0; mostly kernels have left them at 0. */
  #clear(bytes: number): void {
    const { state } = this.#buffers;
    const known = this.#zerosAt === state.address ? this.#zeros : 0;
    if (known >= bytes) return;
    state.clear(bytes);
    this.#zeros = bytes;
    this.#zerosAt = state.address;
  }

  /** Runs some leaves, and those of `more` iterations that follow; `then` starts what is behind them on the card. */
  async #run(
    laid: Laid,
    firstLeaf: number,
    leaves: number,
    signal: AbortSignal | undefined,
    { then, more = 0 }: { then?: () => void; more?: number },
  ): Promise<Totals[]> {
    const { task, cubes, wanted, team, leafBits } = laid;
    const { bins, counts, adapt } = task;
    const { card, dims, params } = this.#program;
    const { edgeBytes, histogramBytes, kernels } = fitFor(task, this.#room);
    const module = this.#moduleOf(kernels);
    const buffer = this.#buffers;
    const result = this.#result;
    this.#zeros = 0;
    // with one result the constant part of the Jacobian has its unit
    const { pass } = task;
    let volume = 1 / (pass?.results.length === 1 ? pass.units[0] : task.unit);
    for (let d = 0; d < dims; d++) volume *= bins;
    // room for the sums of the leaves and of all subtrees, which have 32 leaves or subtrees each
    buffer.sums.reserve(8 * this.#constants.SUMS * (leaves + Math.ceil(leaves / 31) + 8));
    const uniform = typeof counts === 'number';
    const several = this.#program.results > 1;
    const layout = sampleStruct({ several, lattice: !!task.lattice }).layout(dims) as Layout<string>;
    const struct = this.#frames.of(layout, task);
    layout.set(struct, {
      iteration: task.iteration,
      stream: task.stream,
      cubes,
      count: uniform ? counts : 0,
      pieces: uniform ? piecesOf(counts) : 0,
      team,
      groupBits: laid.groupBits,
      leafBits,
      firstLeaf,
      leaves,
      samples: samplesOf(task),
      totals: uniform ? 0 : buffer.totals,
      volume,
      scale: adapt?.scale ?? 0,
      limit: adapt?.limit ?? ALL_COUNT,
      blockBits: blockBitsOf(samplesOf(task)),
      edges: laid.map,
      params,
      counts: buffer.counts,
      firstPiece: buffer.firstPiece,
      firstSample: buffer.firstSample,
      groupStarts: buffer.groupStarts,
      sums: buffer.sums,
      means: wanted.means ? buffer.means : 0,
      variances: wanted.variances ? laid.variances : 0,
      result: buffer.state,
      histogram: buffer.state.address + result.size,
      report: card.reportTo,
    });
    if (task.lattice) layout.set(struct, { lattice: this.#latticeOf(plainTask(task)) });
    if (pass && several) {
      const leads = pass.results.map((_, r) => (pass.leads.includes(r) ? 1 : 0));
      layout.set(struct, { inverseUnits: pass.units.map(u => 1 / u), leads });
    }
    const perBlock = Math.min(
      this.#constants.THREADS,
      Math.max(MIN_THREADS, 32 * Math.ceil(leaves / card.processors)),
    );
    const blocks = Math.min(card.processors, Math.ceil(leaves / (perBlock / 32)));
    const kernel = adapt ? 'sampleAdapting' : 'sampleFrozen';
    for (let i = 0; i <= more; i++) {
      if (i > 0)
        layout.set(struct, {
          iteration: task.iteration + i,
          report: card.reportTo + i * this.#reportBytes,
        });
      module.launch(kernel, blocks, perBlock, edgeBytes + histogramBytes, struct);
    }
    then?.();
    await card.finished(signal, 'sampling');
    if (card.reportTo) this.#zeros = result.size;
    return Array.from({ length: 1 + more }, (_, i) => this.#totals(i * this.#reportBytes, leaves));
  }

  /** What the kernels left at a place for reports, or without one in the card's memory. */
  #totals(at: number, leaves: number): Totals {
    const result = this.#result;
    const { card } = this.#program;
    const bytes = card.reportTo
      ? card.report(result.size, at)
      : this.#buffers.state.read(new Uint8Array(result.size));
    const { integral, variance, concentration, increments, evaluations, wrong } = result.unpack(bytes);
    const [low, high] = new Uint32Array(bytes.buffer, bytes.byteOffset + result.offset('first'), 2);
    return {
      root: this.#root([integral, variance, concentration], at, leaves),
      squares: increments,
      evaluations,
      wrong,
      first: wrong > 0 ? (~high >>> 0) * 2 ** 32 + (~low >>> 0) : Infinity,
    };
  }

  /**
   * The sums of a whole iteration. Those of several results were reported behind the result; without a report they are behind the sums of all
   * subtrees of its leaves.
   */
  #root(ofOne: number[], at: number, leaves: number): Float64Array {
    const { results, card } = this.#program;
    if (results === 1) return Float64Array.from(ofOne);
    const width = nodeWidth(results);
    if (card.reportTo) return new Float64Array(card.report(8 * width, at + this.#result.size).buffer);
    let before = leaves;
    for (let n = leaves; n > 32; ) {
      n = Math.ceil(n / 32);
      before += n;
    }
    return this.#buffers.sums.read(new Float64Array(width), 8 * this.#constants.SUMS * before);
  }

  /** The sums of a part of the groups, from those of their leaves. */
  #nodes(
    part: Part,
    leavesOf: (groups: number) => number,
    groups: number,
  ): Pick<PartSums, 'nodes' | 'squares'> {
    const count = leavesOf(part.count);
    const { results } = this.#program;
    const { SUMS: perLeaf } = this.#constants;
    const leaves = this.#buffers.sums.read(new Float64Array(perLeaf * count));
    const tree = new TreeSum(nodeWidth(results), leavesOf(groups));
    let squares = 0;
    for (let i = 0; i < count; i++) {
      const own = leaves.subarray(perLeaf * i, perLeaf * (i + 1));
      const one = results === 1;
      tree.add(
        leavesOf(part.first) + i,
        one ? [own[INTEGRAL], own[VARIANCE], own[CONCENTRATION]] : own.subarray(0, perLeaf - 1),
      );
      squares += own[one ? INCREMENTS : perLeaf - 1];
    }
    return { nodes: tree.nodes, squares };
  }

  /** Keeps what the iteration learned on the card. */
  #keep({ task, cubes, map, groupBits, variances }: Laid): void {
    const { state } = this.#buffers;
    this.learning.keep({
      map,
      bins: task.bins,
      histogram: state.address + this.#result.size,
      variances: task.adapt!.variances
        ? this.learning.folded(variances, task.counts, cubes, groupBits, 'learned')
        : null,
      cubes,
    });
  }

  /** Means and variances of all cubes, added by the card. */
  #wholeCubes({ task, cubes, groupBits, wanted, variances }: Laid): CubeSums {
    const read = (from: Buffer) =>
      this.learning.folded(from, task.counts, cubes, groupBits, 'folded').read(new Float64Array(cubes));
    return {
      first: Uint32Array.of(0),
      starts: Uint32Array.of(0, cubes),
      variances: read(variances),
      means: wanted.means ? read(this.#buffers.means) : null,
    };
  }

  /** What cubes contribute to the groups of a part, from the sums of pieces. */
  #partCubes({ task, cubes, groupBits, wanted, variances }: Laid, part: Part): CubeSums {
    const lists = [variances, ...(wanted.means ? [this.#buffers.means] : [])];
    return partCubes(plainTask(task).counts, cubes, 2 ** groupBits, part, (from, to) =>
      lists.map(list => list.read(new Float64Array(to - from), 8 * from)),
    );
  }

  /** Learns from an iteration that other devices have sampled. */
  learn(task: SampleTask, { histogram, variances }: SampleSums): void {
    const { state } = this.#buffers;
    const counters = BigUint64Array.from(histogram!, BigInt);
    this.#clear(this.#result.size + counters.byteLength);
    this.#zeros = this.#result.size;
    state.write(counters, this.#result.size);
    this.learning.keep({
      map: this.learning.mapOf(task.edges),
      bins: task.bins,
      histogram: state.address + this.#result.size,
      variances: variances && this.#program.buffer('learned').write(variances),
      cubes: cubesOf(task),
    });
  }

  refine(how: Refinement): AxisMap {
    const { bins } = this.learning;
    const refined = this.learning.refine(how, () => this.#histogram(bins));
    // the kernel leaves the counters at 0
    if (isKept(refined) && !how.shared && this.#zeros === this.#result.size)
      this.#zeros += 8 * this.#program.dims * bins;
    return refined;
  }

  /** The kernels that a task needs. */
  recipe(task: SampleTask): Recipe {
    return this.#recipe(fitFor(task, this.#room).kernels);
  }

  #recipe(kernels: Fit['kernels']): Recipe {
    return this.#program.withIntegrand('sample', { ...kernels, ...SAMPLE_CONSTANTS, ...this.#constants });
  }

  /** Bytes of shared memory for map and histogram. */
  get #room(): number {
    return this.#program.card.shared - OWN_SHARED - vectorBytes(this.#program.results);
  }

  #moduleOf(kernels: Fit['kernels']): Kernels {
    const kind = Object.values(kernels).join();
    const known = this.#modules.get(kind) ?? this.#program.module(this.#recipe(kernels));
    this.#modules.set(kind, known);
    return known;
  }

  /** The counters of the histogram. When they overflow, the sum of squares shows it, and they are not used. */
  #histogram(bins: number): Float64Array {
    const histogram = new Float64Array(this.#program.dims * bins);
    const words = this.#buffers.state.read(new Uint32Array(2 * histogram.length), this.#result.size);
    for (let i = 0; i < histogram.length; i++) histogram[i] = words[2 * i + 1] * 2 ** 32 + words[2 * i];
    return histogram;
  }

  async #nonFinite(task: SampleTask, { wrong, first }: Totals): Promise<NonFinite> {
    const edges = this.learning.edgesOf(task.edges);
    const counts = typeof task.counts === 'number' ? task.counts : this.learning.countsOf(task.counts);
    const point = pointOfSample({ ...task, edges }, counts, first);
    return { count: wrong, first: { point, value: await this.#program.valueAt(point) } };
  }
}
