/**
 * The CPU device: a pool of workers, each with its own memory. Until the first worker is up, and for iterations too
 * small to be worth a message, the calling thread does the work; who does it changes no bit of the result.
 */
import { toWasm } from '../../integrand/targets/wasm.ts';
import { ROUNDS, WEYL } from '../../random/philox.ts';
import type { Device, DeviceIntegrand, SampleSums, SampleTask, Session } from '../device.ts';
import { chunksOf, MAX_CUBES } from './chunks.ts';
import { kernelModule } from './kernel.ts';
import { CORNER, type KernelLayout, kernelLayout, STATE } from './layout.ts';
import {
  type Chunk,
  type ChunkSums,
  type Iteration,
  makeSampler,
  type Sampler,
  type SamplerSetup,
} from './sampler.ts';
import { defaultWorkers, startWorker, type WorkerLike } from './workers.ts';

/** Samples in a batch: what the kernel holds in the first-level cache. */
const BATCH = 256;
/** An iteration of fewer samples than this runs on the calling thread: a few milliseconds. */
const SMALL = 1 << 16;
/** Bins that a sampler has room for at least, so that a growing map needs no new one. */
const ROOM = 1024;
/** Milliseconds that a worker running a plain function has to come back after an abort. */
const PATIENCE = 250;
/** Chunks that a worker has at hand, so that it never waits for the next message. */
const AHEAD = 2;

export class CpuDevice implements Device {
  readonly name: string;
  readonly #wanted: number | undefined;
  #ready: WorkerLike[] = [];
  #starting = new Set<Promise<void>>();
  #sessions = 0;
  #closed = false;

  /** `workers`: how many; by default one a core. */
  constructor(workers?: number) {
    this.#wanted = workers;
    this.name = workers === undefined ? 'cpu' : `cpu:${workers}`;
  }

  async open(integrand: DeviceIntegrand): Promise<Session> {
    this.checkOpen();
    return new CpuSession(this, this.#sessions++, integrand);
  }

  checkOpen(): void {
    if (this.#closed) throw new Error(`the device ${this.name} is closed; open a new one`);
  }

  /** The workers that are up; starts as many as are missing, the first time or because some died. */
  workers(): readonly WorkerLike[] {
    this.#ready = this.#ready.filter(w => !w.dead);
    const wanted = this.#wanted ?? defaultWorkers();
    for (let n = this.#ready.length + this.#starting.size; n < wanted; n++) this.#start();
    return this.#ready;
  }

  /** Resolves when one worker is up; rejects when none can be had. */
  async firstWorker(): Promise<void> {
    if (this.workers().length > 0) return;
    await Promise.any(this.#starting).catch((e: AggregateError) => {
      throw e.errors[0];
    });
  }

  #start(): void {
    const worker = startWorker();
    const up = worker.ask({ what: 'ping' }).then(() => {
      if (this.#closed) worker.close();
      else this.#ready.push(worker);
    });
    this.#starting.add(up);
    up.catch(() => {}).finally(() => this.#starting.delete(up));
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const w of this.#ready) w.close();
    this.#ready = [];
  }
}

class CpuSession implements Session {
  readonly description: string;
  readonly #device: CpuDevice;
  readonly #id: number;
  readonly #integrand: DeviceIntegrand;
  readonly #dims: number;
  #signal: AbortSignal | undefined;
  /** When others last had a turn: kept from one iteration to the next, since small ones are shorter than a turn. */
  #turned = performance.now();
  #setup: {
    bins: number;
    made: Promise<SamplerSetup>;
    local: Sampler | null;
    remote: Map<WorkerLike, Promise<unknown>>;
  } | null = null;

  constructor(device: CpuDevice, id: number, integrand: DeviceIntegrand) {
    this.#device = device;
    this.#id = id;
    this.#integrand = integrand;
    this.#dims = integrand.kind === 'program' ? integrand.program.dims : integrand.dims;
    this.description =
      integrand.kind === 'program' ? device.name : integrand.call.moved ? 'js' : 'js on this thread';
  }

  async sample(task: SampleTask): Promise<SampleSums> {
    task.signal?.throwIfAborted();
    this.#device.checkOpen();
    this.#signal = task.signal;
    const cubes = task.strata.reduce((a, b) => a * b, 1);
    const total = typeof task.counts === 'number' ? cubes * task.counts : sumOf(task.counts);
    const iteration: Iteration = {
      key: task.key,
      iteration: task.iteration,
      stream: task.stream,
      bins: task.bins,
      edges: task.edges,
      strata: task.strata,
      unit: task.unit,
      adapt: task.adapt !== null,
      variances: task.adapt?.variances ?? false,
      factor: task.adapt ? task.adapt.scale * (total / cubes) : 0,
    };
    if (!this.#setup || this.#setup.bins < task.bins) {
      const bins = Math.max(task.bins, ROOM);
      this.#setup = { bins, made: this.#makeSetup(bins), local: null, remote: new Map() };
    }
    const collected: ChunkSums[] = [];
    const histograms: (Float64Array | null)[] = [];
    const queue = chunksOf(task, total);
    const next = (): Chunk | undefined => {
      task.signal?.throwIfAborted();
      const { value, done } = queue.next();
      return done ? undefined : value;
    };
    const movable = this.#integrand.kind === 'program' || !!this.#integrand.call.moved;
    if (movable && total > SMALL) await this.#spread(iteration, next, collected, histograms);
    else await this.#here(iteration, next, collected, histograms, () => true);
    const sums = merge(task, cubes, collected, histograms);
    if (sums.evaluations !== total)
      throw new Error(`the device gave ${sums.evaluations} of ${total} samples`);
    return sums;
  }

  close(): void {
    for (const worker of this.#setup?.remote.keys() ?? [])
      worker.ask({ what: 'close', session: this.#id }).catch(() => {});
    this.#setup = null;
  }

  /** Runs chunks on the calling thread while `goOn`, letting others have a turn between them. */
  async #here(
    iteration: Iteration,
    next: () => Chunk | undefined,
    collected: ChunkSums[],
    histograms: (Float64Array | null)[],
    goOn: () => boolean,
  ): Promise<void> {
    const setup = this.#setup!;
    const made = await setup.made;
    setup.local ??=
      this.#integrand.kind === 'program'
        ? makeSampler(made)
        : makeSampler(made, this.#integrand.call.f, () => this.#pause());
    const sampler = setup.local;
    sampler.begin(iteration);
    while (goOn()) {
      this.#device.checkOpen();
      const chunk = next();
      if (!chunk) break;
      collected.push(await sampler.run(chunk));
      await this.#pause();
    }
    histograms.push(sampler.histogram());
  }

  /** Gives others a turn now and then. */
  #pause(): Promise<void> | undefined {
    if (performance.now() - this.#turned < 8) return;
    return turn().then(() => {
      this.#turned = performance.now();
      this.#signal?.throwIfAborted();
    });
  }

  async #spread(
    iteration: Iteration,
    next: () => Chunk | undefined,
    collected: ChunkSums[],
    histograms: (Float64Array | null)[],
  ): Promise<void> {
    const setup = this.#setup!;
    const made = await setup.made;
    let ready = this.#device.workers();
    if (ready.length === 0) {
      // nobody is up yet: begin here, and hand over to the first one that is
      let up = false;
      const first = this.#device.firstWorker().then(() => {
        up = true;
      });
      first.catch(() => {}); // without workers all of it is done here
      await this.#here(iteration, next, collected, histograms, () => !up);
      if (!up) return;
      this.#device.checkOpen();
      ready = this.#device.workers();
    }
    const plain = this.#integrand.kind === 'function' ? this.#integrand.call.moved : undefined;
    let failed = false;
    const nextOne = () => (failed ? undefined : next());
    const work = async (worker: WorkerLike) => {
      const ask = <T>(what: string, value?: unknown) =>
        worker.ask<T>({ what, session: this.#id, value, plain });
      if (!setup.remote.has(worker)) setup.remote.set(worker, ask('setup', made));
      await setup.remote.get(worker);
      const begun = ask('begin', iteration);
      const lane = async () => {
        for (let chunk = nextOne(); chunk; chunk = nextOne())
          collected.push(await ask<ChunkSums>('run', chunk));
      };
      const lanes = Array.from({ length: plain ? 1 : AHEAD }, lane);
      await Promise.all([begun, ...lanes]);
      histograms.push(await ask<Float64Array | null>('histogram'));
    };
    const busy = new Set(ready);
    // whoever fails ends the iteration; a plain function that goes on long after an abort goes down with its worker
    const stop = () => setTimeout(() => plain && [...busy].forEach(w => w.close()), PATIENCE);
    this.#signal?.addEventListener('abort', stop, { once: true });
    const results = await Promise.allSettled(
      ready.map(w =>
        work(w)
          .catch(e => {
            failed = true;
            throw e;
          })
          .finally(() => busy.delete(w)),
      ),
    );
    this.#signal?.removeEventListener('abort', stop);
    this.#signal?.throwIfAborted();
    const first = results.find(r => r.status === 'rejected');
    if (first) throw first.reason;
  }

  async #makeSetup(bins: number): Promise<SamplerSetup> {
    const { layout, module } = kernelFor(this.#dims, bins);
    const setup: SamplerSetup = {
      kernel: await module,
      integrand: null,
      layout,
      initial: [],
      constants: { state: STATE, corner: CORNER, weyl: WEYL, rounds: ROUNDS },
    };
    if (this.#integrand.kind === 'function') return setup;
    const { program, params } = this.#integrand;
    const { bytes, layout: own } = toWasm(program, BATCH, layout.end, layout);
    setup.integrand = await WebAssembly.compile(bytes);
    setup.initial = [...own.initial(), ...own.params(params)];
    setup.layout = { ...layout, end: own.end };
    return setup;
  }
}

const kernels = new Map<string, { layout: KernelLayout; module: Promise<WebAssembly.Module> }>();

/** The kernel for so many axes and bins; kept, because V8 keeps its optimised code with the module. */
function kernelFor(dims: number, bins: number) {
  const key = `${dims} ${bins}`;
  let kernel = kernels.get(key);
  if (!kernel) {
    const values = dims * BATCH * 8;
    const layout = kernelLayout(dims, BATCH, bins, MAX_CUBES, 0, values, values + BATCH * 8);
    kernel = { layout, module: WebAssembly.compile(kernelModule(layout)) };
    kernels.set(key, kernel);
  }
  return kernel;
}

/** Adds chunks in their order, whoever ran them. */
function merge(
  task: SampleTask,
  cubes: number,
  chunks: ChunkSums[],
  histograms: (Float64Array | null)[],
): SampleSums {
  chunks.sort((a, b) => a.index - b.index);
  const sums: SampleSums = {
    evaluations: 0,
    sum: 0,
    variance: 0,
    histogram: null,
    variances: null,
    nonFinite: null,
  };
  const variances = task.adapt?.variances ? new Float64Array(cubes) : null;
  let cube = 0;
  let used = 0;
  for (const c of chunks) {
    sums.evaluations += c.evaluations;
    sums.sum += c.sum;
    sums.variance += c.variance;
    if (c.nonFinite) {
      sums.nonFinite = {
        count: (sums.nonFinite?.count ?? 0) + c.nonFinite.count,
        first: sums.nonFinite?.first ?? c.nonFinite.first,
      };
    }
    if (!variances || !c.variances) continue;
    // a cube cut between chunks gets its parts from each
    for (let i = 0; i < c.variances.length; i++) variances[cube + i] += c.variances[i];
    used += c.evaluations;
    const count = typeof task.counts === 'number' ? task.counts : task.counts[cube];
    if (c.variances.length > 1 || used >= count) {
      cube += c.variances.length;
      used = 0;
    }
  }
  sums.variances = variances;
  if (task.adapt) {
    sums.histogram = new Float64Array(task.edges.length - task.strata.length);
    for (const h of histograms) if (h) for (let i = 0; i < h.length; i++) sums.histogram[i] += h[i];
  }
  return sums;
}

/** A plain loop: there may be a million cubes. */
function sumOf(counts: Uint32Array): number {
  let total = 0;
  for (let i = 0; i < counts.length; i++) total += counts[i];
  return total;
}

/** Lets timers and messages have their turn. */
function turn(): Promise<void> {
  return new Promise(resolve => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
