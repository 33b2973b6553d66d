import { ALL_COUNT } from '../../tasks/counted.ts';
import { isKept, type NonFinite, type Part } from '../../tasks/part.ts';
import {
  cubesOf,
  type LatticePoints,
  merge,
  nodeWidth,
  type PartSums,
  type PlainTask,
  plan,
  resultsOf,
  type SampleTask,
  samplesOf,
} from '../../tasks/sample.ts';
import { pointOfSample } from '../../tasks/sample-point.ts';
import { TreeSum } from '../../tasks/tree-sum.ts';
import { Ahead } from '../ahead.ts';
import type { Commands } from './commands.ts';
import { CubeLists } from './cube-lists.ts';
import { addGroups } from './group-sums.ts';
import type { GrowingBuffer } from './growing-buffer.ts';
import { FOLD_THREADS, foldKernel, foldsFor, recordOf } from './kernels/fold.ts';
import { type SampleVariant, sampleKernel } from './kernels/sample.ts';
import { TASK, TASK_VECTORS } from './kernels/sample-words.ts';
import { JOIN_THREADS, joinKernel, placesOfSlices, sliceOf } from './kernels/slices.ts';
import { mostPieces, WebGpuLearning } from './learning.ts';
import type { Points } from './points.ts';
import type { WebGpuProgram } from './program.ts';
import {
  asksForLists,
  countsBefore,
  groupStarts,
  type MappedTask,
  mapped,
  mapRows,
  placesOf,
  plainCounts,
  rowBytes,
  taskWords,
  windowBitsFor,
} from './sample-task.ts';
import { variantFor } from './sample-variant.ts';

/** Workgroups of a dispatch, at most: WebGPU's default limit. */
const MAX_WORKGROUPS = 65_535;

/** What kernels read of an iteration's counts: what is before each cube, and where groups begin. */
interface CountBuffers {
  before: GPUBuffer;
  starts: GPUBuffer;
  /** The first group that `starts` tells of. */
  first: number;
}

/** Bytes of the buffers for iterations that are sampled together, at most. */
const MOST_AHEAD_BYTES = 2 ** 24;

/** What the GPU left of an iteration: records of its groups, and how many samples it had. */
interface Found {
  records: Uint32Array;
  evaluations: number;
}

export class WebGpuSampling {
  readonly learning: WebGpuLearning;
  readonly #program: WebGpuProgram;
  readonly #points: Points;
  readonly #task: GrowingBuffer;
  readonly #folds: GrowingBuffer[];
  readonly #records: GrowingBuffer;
  readonly #slices: GrowingBuffer;
  readonly #partial: GrowingBuffer[];
  readonly #edges: GrowingBuffer;
  readonly #starts: GrowingBuffer;
  readonly #before: GrowingBuffer;
  readonly #found: GrowingBuffer;
  readonly #histogram: GrowingBuffer;
  readonly #ofPieces: GrowingBuffer;
  readonly #lattice: GrowingBuffer;
  readonly #pipelines = new Map<string, Promise<GPUComputePipeline[]>>();
  /** The map and the counts that are on the GPU. */
  #map: Float64Array | null = null;
  #counts: Uint32Array | null = null;
  readonly #ahead = new Ahead<Found>();

  constructor(program: WebGpuProgram, points: Points) {
    this.#program = program;
    this.#points = points;
    this.learning = new WebGpuLearning(program);
    this.#task = program.buffer('uniform');
    this.#folds = [1, 2, 3].map(() => program.buffer('uniform'));
    this.#partial = [1, 2].map(() => program.buffer('storage'));
    const storage = () => program.buffer('storage');
    this.#records = storage();
    this.#slices = storage();
    this.#edges = storage();
    this.#starts = storage();
    this.#before = storage();
    this.#found = storage();
    this.#histogram = storage();
    this.#ofPieces = storage();
    this.#lattice = storage();
  }

  /** `following`: see `sample` of ../device.ts. */
  async sample(asked: SampleTask, part: Part, signal?: AbortSignal, following = 0): Promise<PartSums> {
    const task = mapped(asked);
    const isWhole = part.count === plan(task).groups;
    const known = isWhole ? this.#ahead.take(asked) : null;
    if (known) return this.#sumsOf(task, part, known);
    const { adapt } = task;
    if (adapt?.keep && adapt.variances && !this.learning.holds(task)) {
      // too many pieces for one buffer: the host learns from their variances
      const own = await this.#withPlainCounts({ ...task, adapt: { ...adapt, keep: false } });
      const sums = await this.#sample(own, part, signal, 0);
      await this.learning.learn(own, merge(own, [sums]));
      return { ...sums, cubes: null, histogram: null };
    }
    // the host cuts lists of cubes, and parts, by counts of its own
    const cut = asksForLists(task) || !isWhole;
    return this.#sample(
      cut ? await this.#withPlainCounts(task) : task,
      part,
      signal,
      isWhole ? following : 0,
    );
  }

  /** What was sampled ahead is not wanted any more. */
  forgetAhead(): void {
    this.#ahead.forget();
  }

  async #withPlainCounts(task: MappedTask): Promise<MappedTask> {
    const { counts } = task;
    if (typeof counts === 'number') return task;
    return { ...task, counts: { ...counts, each: await this.learning.countsOf(counts) } };
  }

  async #sample(
    task: MappedTask,
    part: Part,
    signal: AbortSignal | undefined,
    following: number,
  ): Promise<PartSums> {
    const { gpu } = this.#program;
    const [cubes, results] = [cubesOf(task), resultsOf(task)];
    const { groups, size } = plan(task);
    const { adapt } = task;
    const keeps = !!adapt?.keep;
    const lists = asksForLists(task);
    const variant = variantFor(task, this.#program);
    if (keeps) this.learning.kernels().catch(() => {}); // compiled beside the others
    const [pipeline, fold, join] = await this.#kernels(variant);
    signal?.throwIfAborted();
    const edges = this.#putMap(task);
    const lattice = task.lattice ? this.#putLattice(task.lattice) : null;
    const counts = this.#countBuffers(task, cubes, part, size);
    const words = taskWords(task, cubes, this.#program.results);
    const histogramBytes = adapt ? 8 * task.strata.length * task.bins : 0;
    const histogram = variant.adapt ? this.#histogram.of(Math.max(8, histogramBytes)) : null;
    const record = recordOf(results);
    const windowBits = windowBitsFor(task, cubes, size);
    const groupBits = Math.log2(size) - windowBits;
    const mostPlaces = placesOfSlices(mostPieces(task), samplesOf(task));
    const sliceBytes = 4 * sliceOf(results).words * mostPlaces;
    const rows = variant.sliced
      ? this.#rows(task, following, Math.max(sliceBytes, 4 * record.words * groups * 2 ** groupBits))
      : 1;
    const slices = variant.sliced ? this.#slices.of(sliceBytes * rows) : null;
    const turns = foldsFor(groupBits);
    const fromPlaces = lists || part.count < groups;
    const places = fromPlaces ? placesOf(plainCounts(task), cubes, part, size) : null;
    const mostGroups = Math.max(
      1,
      Math.min(
        Math.floor((MAX_WORKGROUPS * variant.threads) / 2 ** groupBits),
        Math.floor(gpu.bindingBytes / (4 * record.words * 2 ** groupBits)),
      ),
    );
    words[TASK.GROUP_BITS] = groupBits;
    words[TASK.WINDOW_BITS] = windowBits;
    words[TASK.PLACES] = mostPlaces;

    const tree = new TreeSum(nodeWidth(results), groups);
    const cubeSums = lists ? new CubeLists(plainCounts(task), cubes + part.count) : null;
    const totals = { squares: 0, wrong: 0, firstWrong: null as number | null };
    const share = typeof task.counts === 'number' ? 1 / task.counts : 1;
    let evaluations = typeof task.counts === 'number' ? task.counts * cubes : 0;
    let counters: Float64Array | null = null;

    for (let first = 0; first < part.count; ) {
      // as many groups as the buffer for sums of pieces holds
      let end = part.count;
      const span = (to: number) => places![to].piece - places![first].piece;
      if (lists && 8 * span(end) > gpu.bindingBytes) {
        end = first + 1;
        while (8 * span(end + 1) <= gpu.bindingBytes) end++;
      }
      const count = end - first;
      const pieceBytes = lists ? 8 * span(end) : keeps && adapt?.variances ? 8 * mostPieces(task) : 8;
      const ofPieces = this.#ofPieces.of(pieceBytes);
      const found = this.#found.of(4 * record.words * count * rows);
      const begun = gpu.record();
      // before any kernel: a clearing ends the pass of those before it
      if (first === 0 && adapt && histogram) begun.clear(histogram, Math.max(8, histogramBytes));
      const commands = this.learning.begin(begun);
      words[TASK.FIRST_PIECE] = lists ? places![first].piece : 0;
      const dispatch = (from: number, n: number, commands: Commands) => {
        const windows = n * 2 ** groupBits;
        words[TASK.FIRST_GROUP] = part.first + first + from - counts.first;
        words[TASK.WINDOWS] = windows;
        const records = this.#records.of(4 * record.words * windows * rows);
        this.#task.of(16 * TASK_VECTORS); // the kernel declares room for the most axes
        const own = this.#task.write(words);
        const threads = slices
          ? Math.min(mostPlaces, placesOfSlices((n * size) / 2, (n + 1) * size))
          : windows;
        commands.dispatch(
          pipeline,
          [
            this.#program.params(),
            own,
            edges,
            counts.starts,
            counts.before,
            slices ?? records,
            slices ? null : ofPieces,
            histogram ?? lattice,
          ],
          [Math.ceil(threads / variant.threads), rows],
        );
        if (slices)
          commands.dispatch(
            join,
            [slices, own, counts.starts, counts.before, records, ofPieces],
            [Math.ceil(windows / JOIN_THREADS), rows],
          );
        let [left, source] = [windows * rows, records];
        turns.forEach((by, turn) => {
          left /= by;
          const last = turn === turns.length - 1;
          const to = last ? found : this.#partial[turn].of(4 * record.words * left);
          const how = this.#folds[turn].write(Uint32Array.of(left, last ? from : 0, by, 0));
          commands.dispatch(fold, [how, source, to], [Math.ceil(left / FOLD_THREADS)]);
          source = to;
        });
      };
      const last = await this.#program.pace.runBut(
        gpu,
        count,
        (samplesOf(task) / groups) * rows,
        mostGroups,
        commands,
        dispatch,
        signal,
      );
      if (end === part.count && keeps && adapt?.variances)
        await this.learning.fold(last.commands, task, ofPieces, counts.before);
      const reading = gpu.read(
        [
          { buffer: found, bytes: 4 * record.words * count * rows },
          { buffer: ofPieces, bytes: lists ? pieceBytes : 0 },
          { buffer: counts.before, from: 8 * cubes, bytes: typeof task.counts === 'number' ? 0 : 8 },
          { buffer: histogram ?? found, bytes: end === part.count && adapt ? histogramBytes : 0 },
        ],
        last.commands,
      );
      this.learning.submitted();
      const [sums, cubesFound, total, squares] = await reading;
      last.done();
      signal?.throwIfAborted();
      const ofRow = (row: number) =>
        new Uint32Array(sums, 4 * record.words * count * row, record.words * count);
      const own = addGroups(tree, ofRow(0), part.first + first, count, results, share);
      totals.squares += own.squares;
      if (own.wrong > 0) totals.firstWrong ??= own.firstGroup * size + own.firstWrong;
      totals.wrong += own.wrong;
      cubeSums?.add(places!.slice(first, end + 1), new Float32Array(cubesFound));
      if (total.byteLength > 0) evaluations = new Uint32Array(total)[1];
      const others = Array.from({ length: rows - 1 }, (_, i) => ({ records: ofRow(i + 1), evaluations }));
      if (rows > 1) this.#ahead.put(task, others);
      if (squares.byteLength > 0) counters = histogramOf(squares);
      first = end;
    }
    if (places) evaluations = places[part.count].sample - places[0].sample;
    if (keeps) this.learning.keep(task, counters!);
    return {
      part,
      evaluations,
      nodes: tree.nodes,
      histogram: keeps ? null : counters,
      // beyond 2^53 counters of 64 bits may have wrapped around
      squares:
        totals.squares < 2 ** 52 && counters && (adapt?.limit ?? ALL_COUNT) === ALL_COUNT
          ? counters.subarray(0, task.bins).reduce((a, b) => a + b, 0)
          : totals.squares,
      cubes: cubeSums?.sums ?? null,
      nonFinite: totals.wrong > 0 ? await this.#nonFinite(task, totals.wrong, totals.firstWrong!) : null,
    };
  }

  /** How many iterations go into a dispatch of one that takes so many bytes per buffer: those that follow too, as far as they are quick. */
  #rows({ lattice, adapt, ...task }: MappedTask, following: number, bytes: number): number {
    if (lattice || adapt || task.cubes) return 1;
    // all of them in one dispatch of the pace, of which a half is left for rounding
    const quick = Math.floor(this.#program.pace.evaluations / 2 / samplesOf(task));
    return Math.max(1, Math.min(1 + following, quick, Math.floor(MOST_AHEAD_BYTES / bytes)));
  }

  /** The sums of an iteration that was sampled ahead. */
  async #sumsOf(task: MappedTask, part: Part, { records, evaluations }: Found): Promise<PartSums> {
    const results = resultsOf(task);
    const tree = new TreeSum(nodeWidth(results), part.count);
    const share = typeof task.counts === 'number' ? 1 / task.counts : 1;
    const own = addGroups(tree, records, 0, part.count, results, share);
    const first = own.firstGroup * plan(task).size + own.firstWrong;
    return {
      part,
      evaluations,
      nodes: tree.nodes,
      histogram: null,
      squares: own.squares,
      cubes: null,
      nonFinite: own.wrong > 0 ? await this.#nonFinite(task, own.wrong, first) : null,
    };
  }

  /** The kernels of a variant, compiled with the first task that needs them. */
  #kernels(variant: SampleVariant): Promise<GPUComputePipeline[]> {
    const { gpu, text } = this.#program;
    const key = Object.values(variant).join();
    const { results, sliced } = variant;
    const texts = () => [
      sampleKernel(text, variant),
      foldKernel(results),
      ...(sliced ? [joinKernel(results)] : []),
    ];
    const made = this.#pipelines.get(key) ?? Promise.all(texts().map(t => gpu.pipeline(t)));
    this.#pipelines.set(key, made);
    made.catch(() => this.#pipelines.delete(key));
    return made;
  }

  /** Puts the map on the GPU, unless it is there. */
  #putMap(task: MappedTask): GPUBuffer {
    const map = task.lattice?.slopes ?? task.edges;
    if (this.#map === map) return this.#edges.of(rowBytes(task));
    this.#map = map;
    return this.#edges.write(mapRows(task));
  }

  #putLattice({ folded, steps, shifts }: LatticePoints): GPUBuffer {
    return this.#lattice.write(Uint32Array.of(Number(folded), ...steps, ...shifts));
  }

  /** Counts and groups on the GPU: those that are kept there, or lists of the host. */
  #countBuffers(task: MappedTask, cubes: number, part: Part, size: number): CountBuffers {
    const { counts } = task;
    if (typeof counts !== 'number' && isKept(counts.each))
      return { ...this.learning.keptCounts(counts.each.kept), first: 0 };
    const starts = this.#starts.write(groupStarts(plainCounts(task), cubes, part, size));
    return { before: this.#putCounts(plainCounts(task)), starts, first: part.first };
  }

  /** Puts pieces and samples before each cube on the GPU, unless they are there or all cubes have as many. */
  #putCounts({ counts }: PlainTask): GPUBuffer {
    if (typeof counts === 'number') return this.#before.of(8);
    const { each } = counts;
    if (this.#counts === each) return this.#before.of(8);
    this.#counts = each;
    return this.#before.write(countsBefore(each));
  }

  /** What was not finite, with the point of the first. */
  async #nonFinite(task: MappedTask, count: number, sample: number): Promise<NonFinite> {
    const { pass } = task;
    const { counts } = plainCounts(await this.#withPlainCounts(task));
    const point = pointOfSample(task, typeof counts === 'number' ? counts : counts.each, sample);
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

/** Counters of two words each. */
function histogramOf(buffer: ArrayBuffer): Float64Array {
  const words = new Uint32Array(buffer);
  const counters = new Float64Array(words.length / 2);
  for (let i = 0; i < counters.length; i++) counters[i] = words[2 * i] + words[2 * i + 1] * 2 ** 32;
  return counters;
}
