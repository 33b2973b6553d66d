/**
 * Iterations of VEGAS on a GPU (kernels/sample.ts). The host lays out groups, reads sums of each group back, and adds them as the
 * tree that every device adds (tasks/tree-sum.ts): 640 bytes for 65,536 samples. Where variances of cubes are wanted, it also reads
 * those of pieces.
 */
import { latticeWord } from '../../random/lattice.ts';
import { roundKeys, wordsOf } from '../../random/philox.ts';
import type { NonFinite, Part } from '../../tasks/part.ts';
import { PIECE, type Place, piecesOf, placeFinder } from '../../tasks/pieces.ts';
import {
  type CubeSums,
  cubesOf,
  type LatticePoints,
  nodeWidth,
  type PartSums,
  type PlainTask,
  plainTask,
  plan,
  resultsOf,
  type SampleTask,
  samplesOf,
} from '../../tasks/sample.ts';
import { curveOf, placeIn } from '../../tasks/smooth-map.ts';
import { TreeSum } from '../../tasks/tree-sum.ts';
import { exponentOf, innerRange32, splitFloat32, toFloat32 } from './float32.ts';
import type { GrowingBuffer } from './gpu.ts';
import { FRACTION_BITS } from './kernels/numbers.ts';
import {
  AXIS,
  FOLD,
  foldKernel,
  powersAt,
  recordOf,
  type SampleVariant,
  sampleKernel,
  TASK,
  TASK_VECTORS,
  THREADS,
} from './kernels/sample.ts';
import type { Points } from './points.ts';
import type { WebGpuProgram } from './program.ts';

/** Bytes of workgroup memory that the kernel needs beside the histogram. */
const OWN_SHARED = 256;
/** Samples of a task from which on kernels of its own pay: one that only measures, and one whose histogram is in workgroup memory. */
const LARGE = 2 ** 17;
/** Groups in one dispatch, at most: 10 KB for each are between its two kernels, for one result. */
const MAX_DISPATCH_GROUPS = 4096;
/** Records per group that are read back. */
const RECORDS = THREADS / FOLD;

export class WebGpuSampling {
  readonly #program: WebGpuProgram;
  readonly #points: Points;
  readonly #task: GrowingBuffer;
  readonly #folds: GrowingBuffer;
  readonly #records: GrowingBuffer;
  readonly #edges: GrowingBuffer;
  readonly #groups: GrowingBuffer;
  readonly #before: GrowingBuffer;
  readonly #found: GrowingBuffer;
  readonly #histogram: GrowingBuffer;
  readonly #ofPieces: GrowingBuffer;
  readonly #lattice: GrowingBuffer;
  /** The map and the counts that are on the GPU. */
  #map: Float64Array | null = null;
  #counts: Uint32Array | null = null;

  constructor(program: WebGpuProgram, points: Points) {
    this.#program = program;
    this.#points = points;
    this.#task = program.buffer('uniform');
    this.#folds = program.buffer('uniform');
    this.#records = program.buffer('storage');
    [this.#edges, this.#groups, this.#before, this.#found, this.#histogram, this.#ofPieces, this.#lattice] =
      Array.from({ length: 7 }, () => program.buffer('storage'));
  }

  async sample(asked: SampleTask, part: Part, signal?: AbortSignal): Promise<PartSums> {
    const task = plainTask(asked);
    const { gpu } = this.#program;
    const [cubes, results] = [cubesOf(task), resultsOf(task)];
    const { groups, size } = plan(task);
    const wantsCubes = !!(task.cubes || task.adapt?.variances);
    const variant = this.#variant(task);
    const pipeline = await gpu.pipeline(sampleKernel(this.#program.text, variant));
    const fold = await gpu.pipeline(foldKernel(results));
    signal?.throwIfAborted();
    const edges = this.#putMap(task);
    const lattice = task.lattice ? this.#putLattice(task.lattice) : null;
    const before = this.#putCounts(task, cubes);
    const words = this.#taskWords(task, cubes);
    const histogramBytes = task.adapt ? 8 * task.strata.length * task.bins : 0;
    const histogram = variant.adapt ? this.#histogram.of(histogramBytes) : null;
    if (histogram && task.adapt) gpu.record().clear(histogram, histogramBytes).submit();

    const tree = new TreeSum(nodeWidth(results), groups);
    const cubeSums = wantsCubes ? new CubeLists(task, cubes + part.count) : null;
    const totals = { squares: 0, wrong: 0, firstWrong: null as number | null };
    const place = placeFinder(task.counts, cubes);
    const places = Array.from({ length: part.count + 1 }, (_, i) => place((part.first + i) * size));
    const mostPieces = Math.floor(gpu.bindingBytes / 8);
    const record = recordOf(results);
    const perGroup = RECORDS * record.words;
    const mostGroups = Math.min(
      MAX_DISPATCH_GROUPS,
      Math.floor(gpu.bindingBytes / (4 * THREADS * record.words)),
    );

    for (let first = 0; first < part.count; ) {
      // as many groups as the buffer for sums of pieces holds
      let end = first + 1;
      const fits = (to: number) => !wantsCubes || places[to].piece - places[first].piece <= mostPieces;
      while (end < part.count && fits(end + 1)) end++;
      const span = places.slice(first, end + 1);
      const count = end - first;
      const ownPieces = span[count].piece - span[0].piece;
      const found = this.#found.of(4 * perGroup * count);
      const ofPieces = this.#ofPieces.of(wantsCubes ? 8 * ownPieces : 8);
      const groupsBuffer = this.#groups.write(groupList(span));
      words[TASK.FIRST_PIECE] = span[0].piece;
      await this.#program.pace.run(
        gpu,
        count,
        (span[count].sample - span[0].sample) / count,
        mostGroups,
        (from, n) => {
          words[TASK.FIRST_GROUP] = from;
          const task = this.#task.write(words);
          const params = this.#program.params();
          const records = this.#records.of(4 * THREADS * record.words * Math.min(count, mostGroups));
          gpu.submit(
            pipeline,
            [params, task, edges, groupsBuffer, before, records, ofPieces, histogram ?? lattice],
            [n],
          );
          const folds = this.#folds.write(Uint32Array.of(n * RECORDS, from * RECORDS, 0, 0));
          gpu.submit(fold, [folds, records, found], [Math.ceil((n * RECORDS) / 64)]);
        },
        signal,
      );
      const [sums, cubesFound] = await gpu.read([
        { buffer: found, bytes: 4 * perGroup * count },
        { buffer: ofPieces, bytes: wantsCubes ? 8 * ownPieces : 0 },
      ]);
      signal?.throwIfAborted();
      const own = new Uint32Array(sums);
      for (let g = 0; g < count; g++) {
        const node = readGroup(own.subarray(g * perGroup, (g + 1) * perGroup), task, results);
        tree.add(part.first + first + g, node.sums);
        totals.squares += node.squares;
        if (node.wrong > 0) totals.firstWrong ??= span[g].sample + node.firstWrong;
        totals.wrong += node.wrong;
      }
      cubeSums?.add(span, new Float32Array(cubesFound));
      first = end;
    }
    const counters = task.adapt
      ? histogramOf((await gpu.read([{ buffer: histogram!, bytes: histogramBytes }]))[0])
      : null;
    return {
      part,
      evaluations: places[part.count].sample - places[0].sample,
      nodes: tree.nodes,
      histogram: counters,
      // beyond 2^53 counters of 64 bits may have wrapped around
      squares:
        totals.squares < 2 ** 52 && counters
          ? counters.subarray(0, task.bins).reduce((a, b) => a + b, 0)
          : totals.squares,
      cubes: cubeSums?.sums ?? null,
      nonFinite: totals.wrong > 0 ? await this.#nonFinite(task, totals.wrong, totals.firstWrong!) : null,
    };
  }

  #variant(task: PlainTask): SampleVariant {
    const { strata, bins, adapt, lattice } = task;
    const dims = strata.length;
    const large = samplesOf(task) >= LARGE;
    const room = (this.#program.gpu.device.limits.maxComputeWorkgroupStorageSize - OWN_SHARED) / 4;
    return {
      dims,
      results: this.#program.results,
      adapt: !lattice && (!large || !!adapt),
      // powers of two, so that maps of about the same size have the same text
      shared: large && adapt ? Math.min(Math.floor(room), 2 ** Math.ceil(Math.log2(dims * bins))) : 0,
      wide: strata.some(n => n * bins >= 2 ** 32),
      lattice: !!lattice,
    };
  }

  /** Puts the map on the GPU, unless it is there. */
  #putMap({ edges, bins, strata, lattice }: PlainTask): GPUBuffer {
    const numbers = lattice ? 8 : 4;
    const map = lattice?.slopes ?? edges;
    if (this.#map === map) return this.#edges.of(4 * numbers * strata.length * bins);
    const rows = new Float32Array(numbers * strata.length * bins);
    strata.forEach((_, d) => {
      const scale = bins * 2 ** -axisExponent(edges, bins, d);
      for (let b = 0; b < bins; b++) {
        const at = d * (bins + 1) + b;
        const [low, width] = [splitFloat32(edges[at]), edges[at + 1] - edges[at]];
        const row = [...low, toFloat32(width), width * scale];
        rows.set(lattice ? curveRow(low, curveOf(edges, map, at), scale) : row, numbers * (d * bins + b));
      }
    });
    this.#map = map;
    return this.#edges.write(rows);
  }

  #putLattice({ folded, steps, shifts }: LatticePoints): GPUBuffer {
    return this.#lattice.write(Uint32Array.of(Number(folded), ...steps, ...shifts));
  }

  /** Puts pieces and samples before each cube on the GPU, unless they are there or all cubes have as many. */
  #putCounts({ counts }: PlainTask, cubes: number): GPUBuffer {
    if (typeof counts === 'number') return this.#before.of(8);
    const { each } = counts;
    if (this.#counts === each) return this.#before.of(8);
    const list = new Uint32Array(2 * (cubes + 1));
    let [pieces, samples] = [0, 0];
    for (let cube = 0; cube < cubes; cube++) {
      pieces += piecesOf(each[cube]);
      samples += each[cube];
      list[2 * cube + 2] = pieces;
      list[2 * cube + 3] = samples;
    }
    this.#counts = each;
    return this.#before.write(list);
  }

  #taskWords(task: PlainTask, cubes: number): Uint32Array {
    const { key, iteration, stream, bins, counts, unit, edges, strata, adapt, pass } = task;
    const dims = strata.length;
    const words = new Uint32Array(4 * TASK_VECTORS);
    if (powersAt(dims) + this.#program.results > words.length)
      throw new RangeError(`${dims} dimensions are more than this device has room for; use another one.`);
    const floats = new Float32Array(words.buffer);
    words.set(roundKeys(key), TASK.KEYS);
    words[TASK.ITERATION] = iteration;
    words[TASK.STREAM] = stream;
    words[TASK.BINS] = bins;
    words[TASK.COUNT] = typeof counts === 'number' ? counts : 0;
    words[TASK.CUBES] = cubes;
    for (const lead of pass?.leads ?? [0]) words[TASK.LEADS] |= 1 << lead;
    words[TASK.CUBES_WANTED] = Number(!!(task.cubes || adapt?.variances));
    if (adapt) {
      const root = Math.floor(exponentOf(adapt.scale) / 2);
      floats[TASK.ROOT] = 2 ** root;
      floats[TASK.REST] = adapt.scale / 4 ** root;
    }
    if (typeof counts !== 'number') floats[TASK.AVERAGE] = counts.each.reduce((a, b) => a + b, 0) / cubes;
    let exponent = 0;
    strata.forEach((n, d) => {
      const at = TASK.AXES + AXIS.WORDS * d;
      words[at + AXIS.STRATA] = n;
      const ends = d * (bins + 1);
      floats.set(innerRange32(edges[ends], edges[ends + bins]), at + AXIS.LOW);
      exponent += axisExponent(edges, bins, d);
    });
    const units = pass?.units ?? [1];
    units.forEach((own, r) => {
      words[powersAt(dims) + r] = exponent - exponentOf(unit) - exponentOf(own);
    });
    return words;
  }

  /** What was not finite, with the point of the first. */
  async #nonFinite(task: PlainTask, count: number, sample: number): Promise<NonFinite> {
    const { strata, counts, bins, edges, pass, lattice } = task;
    let cube = 0;
    if (typeof counts === 'number') cube = Math.floor(sample / counts);
    else for (let before = 0; before + counts.each[cube] <= sample; cube++) before += counts.each[cube];
    let rest = lattice ? 0 : cube;
    const point = strata.map((n, d) => {
      const k = rest % n;
      rest = Math.floor(rest / n);
      const word = lattice
        ? latticeWord(lattice, cube, d, sample)
        : wordsOf(sample, d >> 2, task.iteration, task.stream, task.key)[d & 3];
      const t = (k + (word + 0.5) * 2 ** -32) * (bins / n);
      const bin = Math.floor(t);
      return placeIn(edges, lattice?.slopes, d * (bins + 1) + bin, t - bin).x;
    });
    const values = await this.#points.evaluate(Float64Array.from(point), 1);
    const row = Math.max(
      0,
      values.findIndex(v => !Number.isFinite(v)),
    );
    // a finite value whose product with the Jacobian is beyond float32
    const value = Number.isFinite(values[row]) ? Infinity : values[row];
    return { count, first: { point, value, ...(pass && { result: pass.results[row] }) } };
  }
}

/** A bin of a smooth map as the kernel reads it. */
const curveRow = (low: readonly number[], [, m, b, a]: readonly number[], scale: number): number[] => [
  ...low,
  ...[m, b, a].map(toFloat32),
  scale,
  0,
  0,
];

/** The power of two near the width of an axis. */
const axisExponent = (edges: Float64Array, bins: number, d: number): number =>
  exponentOf(edges[d * (bins + 1) + bins] - edges[d * (bins + 1)]);

/** Groups as the kernel reads them, from where each begins; the last place is the end of them all. */
function groupList(places: readonly Place[]): Uint32Array {
  const list = new Uint32Array(8 * (places.length - 1));
  for (let g = 0; g < places.length - 1; g++) {
    const { cube, offset, sample, piece } = places[g];
    list.set([cube, offset, sample, Math.floor(sample / 2 ** 32), piece, places[g + 1].piece - piece], 8 * g);
  }
  return list;
}

/** The sums of a group as a node of the tree, from its records. */
function readGroup(words: Uint32Array, { counts }: PlainTask, results: number) {
  const floats = new Float32Array(words.buffer, words.byteOffset, words.length);
  const record = recordOf(results);
  const width = nodeWidth(results);
  const sums = new Float64Array(width);
  const share = typeof counts === 'number' ? 1 / counts : 1;
  const found = { sums, squares: 0, wrong: 0, firstWrong: Infinity };
  for (let at = 0; at < words.length; at += record.words) {
    for (let r = 0; r < results; r++) {
      const [w0, w1, w2, w3] = words.subarray(at + 4 * r, at + 4 * r + 4);
      const fixed = (w3 | 0) * 2 ** 96 + w2 * 2 ** 64 + w1 * 2 ** 32 + w0;
      sums[r] += words[at + record.overflows] > 0 ? Infinity : fixed * 2 ** -FRACTION_BITS * share;
    }
    const own = at + 4 * results;
    for (let i = 0; i < width - results; i++)
      sums[results + i] += floats[own + i] * (i < width - 2 * results ? share ** 2 : share ** 4);
    found.squares += floats[own + width - results];
    found.wrong += words[at + record.wrong];
    found.firstWrong = Math.min(found.firstWrong, words[at + record.firstWrong]);
  }
  return found;
}

/** Counters of two words each. */
function histogramOf(buffer: ArrayBuffer): Float64Array {
  const words = new Uint32Array(buffer);
  return Float64Array.from({ length: words.length / 2 }, (_, i) => words[2 * i] + words[2 * i + 1] * 2 ** 32);
}

/** Variances and means of cubes from those of pieces, group by group. */
class CubeLists {
  readonly #countOf: (cube: number) => number;
  readonly #first: number[] = [];
  readonly #starts: number[] = [0];
  readonly #variances: Float64Array;
  readonly #means: Float64Array | null;
  #n = 0;

  /** A cube that is cut between groups is in each of them. */
  constructor({ counts, cubes: wantsMeans }: PlainTask, most: number) {
    this.#countOf = typeof counts === 'number' ? () => counts : cube => counts.each[cube];
    this.#variances = new Float64Array(most);
    this.#means = wantsMeans ? new Float64Array(most) : null;
  }

  /** Adds the pieces of some groups: a variance and a mean each. */
  add(places: readonly Place[], ofPieces: Float32Array): void {
    let piece = 0;
    for (let g = 0; g < places.length - 1; g++) {
      const end = places[g + 1].piece - places[0].piece;
      let { cube } = places[g];
      let left = piecesOf(this.#countOf(cube)) - Math.ceil(places[g].offset / PIECE);
      this.#first.push(cube);
      while (piece < end) {
        let [variance, mean] = [0, 0];
        for (; left > 0 && piece < end; left--, piece++) {
          variance += ofPieces[2 * piece];
          mean += ofPieces[2 * piece + 1];
        }
        this.#variances[this.#n] = variance;
        if (this.#means) this.#means[this.#n] = mean;
        this.#n++;
        if (piece < end) left = piecesOf(this.#countOf(++cube));
      }
      this.#starts.push(this.#n);
    }
  }

  get sums(): CubeSums {
    return {
      first: Uint32Array.from(this.#first),
      starts: Uint32Array.from(this.#starts),
      variances: this.#variances.slice(0, this.#n),
      means: this.#means?.slice(0, this.#n) ?? null,
    };
  }
}
