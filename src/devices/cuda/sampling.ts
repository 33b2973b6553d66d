/**
 * Iterations of VEGAS on a card. The pieces of an iteration are divided into leaves (kernels/sample.cu); a group of the task
 * has one or several leaves. After a whole iteration the card keeps what was learned, and the host reads a few numbers;
 * after a part, the host reads the sums of leaves and, if cubes are wanted, those of pieces.
 */
import { latticeWord } from '../../random/lattice.ts';
import { type Key, roundKeys, wordsOf } from '../../random/philox.ts';
import type { Refinement } from '../../tasks/learning.ts';
import { isKept, type NonFinite, type Part } from '../../tasks/part.ts';
import { PIECE, piecesOf, placeFinder } from '../../tasks/pieces.ts';
import {
  type AxisMap,
  type CubeSums,
  cubesOf,
  nodeWidth,
  type PartSums,
  type PlainTask,
  plainTask,
  plan,
  type SampleSums,
  type SampleTask,
  samplesOf,
} from '../../tasks/sample.ts';
import { curveOf, placeIn } from '../../tasks/smooth-map.ts';
import { TreeSum } from '../../tasks/tree-sum.ts';
import type { Buffer } from './card.ts';
import { CudaLearning, MANY_PIECES } from './learning.ts';
import type { Kernels } from './module.ts';
import { type CudaProgram, type Recipe, sampleConstants, sampleStruct, vectorBytes } from './program.ts';
import type { Layout } from './struct.ts';
import { LATTICE, SAMPLE_RESULT } from './structs.ts';

/** Threads per block, at least. */
const MIN_THREADS = 128;
/**
 * Lanes that should have work: about as many as a large card runs at a time. It is not the number of the card in use,
 * because the layout, and with it the bits of the sums, would then depend on the card.
 */
const BUSY_LANES = 2 ** 17;
/** Leaves per iteration, at most, as long as a leaf is no larger than a group. */
const MAX_LEAVES = 2 ** 16;
/** Steps of a team on a piece, at least, before the team is doubled: with fewer, lanes idle in the last step. */
const MIN_TEAM_STEPS = 6;
/** Bytes of shared memory that are reserved for the kernel beside map and histogram. */
const OWN_SHARED = 4096;
/** Copies of the curves of a lattice's map, at most: as many as there are banks of 16 bytes. */
const MOST_REPLICAS = 8;
/** The typical number of samples per piece where cubes have many samples. */
const LONG_PIECE = 180;
/** Strata per axis, at most, whose numbers fit beside 32 random bits in the 53 bits of a float64. */
const MAX_PLAIN_STRATA = 2 ** 20;
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
  'curves',
  'shifts',
] as const;

/** The layout of an iteration on a card. */
interface Laid {
  task: SampleTask;
  cubes: number;
  /** The number of pieces, at most. */
  pieces: number;
  map: Buffer;
  /** Lanes that share a piece. */
  team: number;
  /** A group has 2^groupBits samples and 2^leafBits leaves. */
  groupBits: number;
  leafBits: number;
  groups: number;
  wanted: { means: boolean; variances: boolean };
  /** Variances of pieces. What the card learns from has a buffer of its own, which other iterations leave alone. */
  variances: Buffer;
}

/** What of an iteration fits into shared memory. */
interface Fit {
  edgeBytes: number;
  histogramBytes: number;
  /** Constants that tell the kernel. */
  kernels: Record<string, boolean | number>;
}

/** Sums over leaves. */
interface Totals {
  sum: number;
  variance: number;
  concentration: number;
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
  /** Threads per block, at most; there is one block per multiprocessor. Numbers that a leaf adds. */
  readonly #constants: ReturnType<typeof sampleConstants>;
  readonly #result = SAMPLE_RESULT.layout(0);
  /** The kernels of the last iteration; the next one mostly needs the same. */
  #module: { made: Kernels; kind: string } | null = null;
  #keys: { of: Key; words: number[] } | null = null;
  /** The number of bytes of the state, from the result on, that are known to be 0; and the buffer with them. */
  #zeros = 0;
  #zerosAt = 0;

  constructor(program: CudaProgram) {
    this.#program = program;
    this.#constants = sampleConstants(program.results);
    this.learning = new CudaLearning(program);
    this.#buffers = program.buffers(...BUFFERS);
  }

  async sample(task: SampleTask, part: Part, signal?: AbortSignal): Promise<PartSums> {
    const laid = this.#lay(task);
    const whole = part.count === laid.groups;
    const leavesOf = (groups: number) => groups * 2 ** laid.leafBits;
    const totals = await this.#run(laid, leavesOf(part.first), leavesOf(part.count), signal);
    const { evaluations, squares } = totals;
    const sums: PartSums = {
      part,
      evaluations,
      squares,
      nodes: whole ? this.#root(totals, leavesOf(part.count)) : new Float64Array(0),
      histogram: task.adapt && !task.adapt.keep ? this.#histogram(task.bins) : null,
      cubes: null,
      nonFinite: totals.wrong > 0 ? await this.#nonFinite(laid, totals) : null,
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

  /** Lays out an iteration. The layout depends on the task alone. */
  #lay(task: SampleTask): Laid {
    const { bins, counts, adapt } = task;
    const cubes = cubesOf(task);
    const map = task.lattice ? this.#putLattice(plainTask(task)) : this.learning.mapOf(task.edges);
    this.learning.putCounts(counts);
    const { groups, size } = plan(task);
    const samples = samplesOf(task);
    const uniform = typeof counts === 'number';
    const pieces = uniform ? cubes * piecesOf(counts) : cubes + Math.ceil(samples / (PIECE / 2));
    const average = Math.min(LONG_PIECE, samples / cubes);
    const items = uniform ? pieces : cubes + Math.ceil(samples / PIECE);
    let team = 1;
    while (
      team < 32 &&
      (2 * MIN_TEAM_STEPS * team <= average || (team < average && items * team < BUSY_LANES))
    )
      team *= 2;
    const groupBits = Math.log2(size);
    // a round gives a piece to every team of a warp; a leaf has one round, or several when there are many
    const rounds = (items * team) / 32;
    const perGroup = rounds * Math.min(1, size / samples);
    const leafBits =
      rounds <= BUSY_LANES / 32
        ? Math.ceil(Math.log2(perGroup))
        : Math.floor(Math.log2(perGroup / Math.max(1, rounds / MAX_LEAVES)));
    const wanted = { means: !!task.cubes, variances: !!task.cubes || !!adapt?.variances };
    const buffer = this.#buffers;
    if (wanted.means) buffer.means.reserve(8 * pieces);
    const variances = adapt?.keep ? buffer['kept variances'] : buffer.variances;
    if (wanted.variances) variances.reserve(8 * pieces);
    this.#clear(this.#result.size + (adapt ? 8 * this.#program.dims * bins : 0));
    const leaves = { team, leafBits: Math.max(0, leafBits), groupBits, groups };
    return { task, cubes, pieces, map, ...leaves, wanted, variances };
  }

  /** Writes the curves of a smooth map, e, m, b and a of each bin (tasks/smooth-map.ts), and the shifts of its lattices. */
  #putLattice({ lattice, edges, bins, strata }: PlainTask): Buffer {
    const { slopes, shifts } = lattice!;
    const curves = new Float64Array(4 * strata.length * bins);
    strata.forEach((_, d) => {
      for (let bin = 0; bin < bins; bin++) {
        const at = d * (bins + 1) + bin;
        curves.set(curveOf(edges, slopes, at), 4 * (d * bins + bin));
      }
    });
    this.#buffers.shifts.write(shifts);
    return this.#buffers.curves.write(curves);
  }

  #latticeOf({ lattice, edges, bins, strata }: PlainTask) {
    const { steps, folded } = lattice!;
    return LATTICE.layout(strata.length).pack({
      ends: strata.map((_, d) => edges[d * (bins + 1) + bins]),
      corner: 2 ** 20 - bins * 2 ** -33,
      shifts: this.#buffers.shifts,
      steps: Array.from(steps),
      folded: folded ? 1 : 0,
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

  /** Runs some leaves. */
  async #run(
    laid: Laid,
    firstLeaf: number,
    leaves: number,
    signal: AbortSignal | undefined,
  ): Promise<Totals> {
    const { task, cubes, wanted, team, leafBits } = laid;
    const { bins, strata, counts, adapt } = task;
    const { card, dims, params } = this.#program;
    const { edgeBytes, histogramBytes, kernels } = this.#fit(task);
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
    const struct = layout.pack({
      scales: strata.map(n => bins / n),
      strata,
      inverses: strata.map(n => Math.min(2 ** 32 - 1, Math.floor(2 ** 32 / n))),
      keys: this.#roundKeys(task.key),
      iteration: task.iteration,
      stream: task.stream,
      bins,
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
      ...(task.lattice && { lattice: this.#latticeOf(plainTask(task)) }),
      ...(several && {
        inverseUnits: pass!.units.map(u => 1 / u),
        leads: pass!.results.map((_, r) => (pass!.leads.includes(r) ? 1 : 0)),
      }),
    });
    const perBlock = Math.min(
      this.#constants.THREADS,
      Math.max(MIN_THREADS, 32 * Math.ceil(leaves / card.processors)),
    );
    const blocks = Math.min(card.processors, Math.ceil(leaves / (perBlock / 32)));
    const kernel = adapt ? 'sampleAdapting' : 'sampleFrozen';
    module.launch(kernel, blocks, perBlock, edgeBytes + histogramBytes, struct);
    await card.finished(signal, 'sampling');
    if (card.reportTo) this.#zeros = result.size;
    const bytes = card.reportTo ? card.report(result.size) : buffer.state.read(new Uint8Array(result.size));
    const { integral, increments, wrong, ...sums } = result.unpack(bytes);
    const [low, high] = new Uint32Array(bytes.buffer, bytes.byteOffset + result.offset('first'), 2);
    return {
      ...sums,
      sum: integral,
      squares: increments,
      wrong,
      first: wrong > 0 ? (~high >>> 0) * 2 ** 32 + (~low >>> 0) : Infinity,
    };
  }

  /** The sums of a whole iteration. Those of several results are behind the sums of all subtrees of its leaves. */
  #root({ sum, variance, concentration }: Totals, leaves: number): Float64Array {
    const { results } = this.#program;
    if (results === 1) return Float64Array.of(sum, variance, concentration);
    let at = leaves;
    for (let n = leaves; n > 32; ) {
      n = Math.ceil(n / 32);
      at += n;
    }
    return this.#buffers.sums.read(new Float64Array(nodeWidth(results)), 8 * this.#constants.SUMS * at);
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

  /** What cubes contribute to the groups of a part, from the sums of pieces; added in the order of `fold` in allocate.cu. */
  #partCubes({ task, cubes, groupBits, wanted, variances: spreads }: Laid, part: Part): CubeSums {
    const { counts } = plainTask(task);
    const countOf = typeof counts === 'number' ? () => counts : (cube: number) => counts.each[cube];
    const place = placeFinder(counts, cubes);
    const places = Array.from({ length: part.count + 1 }, (_, g) => place((part.first + g) * 2 ** groupBits));
    const [from, to] = [places[0].piece, places[part.count].piece];
    const read = (buffer: Buffer) => buffer.read(new Float64Array(to - from), 8 * from);
    const lists = [spreads, ...(wanted.means ? [this.#buffers.means] : [])].map(read);
    const starts = new Uint32Array(part.count + 1);
    const sums: number[][] = lists.map(() => []);
    for (let g = 0; g < part.count; g++) {
      const end = places[g + 1];
      let { cube, offset, piece } = places[g];
      while (cube < end.cube || (cube === end.cube && offset < end.offset)) {
        const last =
          cube === end.cube ? end.piece : piece + piecesOf(countOf(cube)) - Math.ceil(offset / PIECE);
        lists.forEach((list, l) => {
          sums[l].push(sumOf(list.subarray(piece - from, last - from)));
        });
        [cube, offset, piece] = [cube + 1, 0, last];
      }
      starts[g + 1] = sums[0].length;
    }
    const [variances, means] = sums.map(s => Float64Array.from(s));
    return {
      first: Uint32Array.from(places.slice(0, -1), p => p.cube),
      starts,
      variances,
      means: means ?? null,
    };
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
    return this.#recipe(this.#fit(task).kernels);
  }

  #recipe(kernels: Fit['kernels']): Recipe {
    return this.#program.withIntegrand('sample', { ...kernels, PIECE, ...this.#constants });
  }

  /** Which of map and histogram fit into shared memory: their bytes, and the constants that tell the kernel. */
  #fit({ bins, strata, adapt, lattice }: SampleTask): Fit {
    const { card, dims } = this.#program;
    const room = card.shared - OWN_SHARED - vectorBytes(this.#program.results);
    if (lattice) {
      const once = 32 * dims * bins;
      const copies = [MOST_REPLICAS, 4, 2, 1].find(n => n * once <= room);
      const kernels = { SHARED_EDGES: copies !== undefined, LATTICE: true, REPLICAS: copies ?? 1 };
      return { edgeBytes: once * (copies ?? 0), histogramBytes: 0, kernels };
    }
    const edges = 8 * dims * (bins + 1);
    const edgeBytes = edges <= room ? edges : 0;
    const histogram = adapt ? 8 * dims * bins : 0;
    const histogramBytes = edgeBytes + histogram <= room ? histogram : 0;
    const kernels = {
      SHARED_EDGES: edgeBytes > 0,
      SHARED_HISTOGRAM: histogramBytes === histogram,
      ...(strata.some(n => n > MAX_PLAIN_STRATA) && { MANY_STRATA: true }),
    };
    return { edgeBytes, histogramBytes, kernels };
  }

  #moduleOf(kernels: Fit['kernels']): Kernels {
    const kind = Object.values(kernels).join();
    if (this.#module?.kind !== kind)
      this.#module = { made: this.#program.module(this.#recipe(kernels)), kind };
    return this.#module.made;
  }

  #roundKeys(key: Key): number[] {
    if (this.#keys?.of !== key) this.#keys = { of: key, words: roundKeys(key) };
    return this.#keys.words;
  }

  /** The counters of the histogram. When they overflow, the sum of squares shows it, and they are not used. */
  #histogram(bins: number): Float64Array {
    const histogram = new Float64Array(this.#program.dims * bins);
    const words = this.#buffers.state.read(new Uint32Array(2 * histogram.length), this.#result.size);
    for (let i = 0; i < histogram.length; i++) histogram[i] = words[2 * i + 1] * 2 ** 32 + words[2 * i];
    return histogram;
  }

  async #nonFinite({ task, cubes }: Laid, { wrong, first }: Totals): Promise<NonFinite> {
    const edges = this.learning.edgesOf(task.edges);
    const counts = typeof task.counts === 'number' ? task.counts : this.learning.countsOf(task.counts);
    const point = pointOf({ ...task, edges }, cubeOf(counts, cubes, first), first);
    return { count: wrong, first: { point, value: await this.#program.valueAt(point) } };
  }
}

/** The sum over the pieces of a cube in a group, in the order of `fold` in allocate.cu. */
function sumOf(pieces: Float64Array): number {
  if (pieces.length <= MANY_PIECES) return pieces.reduce((a, b) => a + b, 0);
  const lanes = new Float64Array(32);
  pieces.forEach((v, i) => {
    lanes[i % 32] += v;
  });
  for (let step = 16; step >= 1; step /= 2) for (let l = 0; l < step; l++) lanes[l] += lanes[l + step];
  return lanes[0];
}

/** The cube that a sample belongs to. */
function cubeOf(counts: number | Uint32Array, cubes: number, sample: number): number {
  if (typeof counts === 'number') return Math.floor(sample / counts);
  let [cube, end] = [0, counts[0]];
  while (end <= sample && cube < cubes - 1) end += counts[++cube];
  return cube;
}

/** The coordinates of a sample. */
function pointOf(task: SampleTask & { edges: Float64Array }, cube: number, sample: number): number[] {
  const { strata, bins, edges, key, iteration, stream, lattice } = task;
  let rest = cube;
  return strata.map((n, d) => {
    const k = lattice ? 0 : rest % n;
    rest = Math.floor(rest / n);
    const word = lattice
      ? latticeWord(lattice, cube, d, sample)
      : wordsOf(sample, d >> 2, iteration, stream, key)[d & 3];
    const t = (k + (word + 0.5) * 2 ** -32) * (bins / n);
    const b = Math.floor(t);
    return placeIn(edges, lattice?.slopes, d * (bins + 1) + b, t - b).x;
  });
}
