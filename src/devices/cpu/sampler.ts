/**
 * One worker's share of an iteration: runs chunks, with the kernel and the integrand in a memory that other engines of
 * the thread may use between two chunks.
 *
 * The text of `makeSampler` is what workers are made of, so it uses nothing but its arguments: constants come in
 * the setup. It runs on the main thread as well.
 */
import type { KernelLayout } from './layout.ts';
import type { MemoryPool, MemoryUser } from './memory-pool.ts';

/** Everything a sampler is made from; can be posted to a worker. */
export interface SamplerSetup {
  kernel: WebAssembly.Module;
  /** The compiled integrand; null when a function is called instead. */
  integrand: WebAssembly.Module | null;
  layout: KernelLayout;
  /** Numbers in a node. */
  width: number;
  /** Numbers to write into memory: constants and params. */
  initial: { address: number; data: ArrayLike<number> }[];
  /** The numbers of the results that are sampled; null where the integrand has one. Plain functions give lists of all. */
  numbers: readonly number[] | null;
  constants: {
    state: Record<
      | 'sampleLow'
      | 'sampleHigh'
      | 'iteration'
      | 'stream'
      | 'cubes'
      | 'cursor'
      | 'taken'
      | 'stratified'
      | 'folded'
      | 'counted',
      number
    >;
    corner: number;
    weyl: readonly number[];
    rounds: number;
  };
}

/** What all chunks of an iteration share. */
export interface Iteration {
  key: readonly number[];
  iteration: number;
  stream: number;
  bins: number;
  edges: Float64Array;
  strata: readonly number[];
  /** As in the task; null for random points. */
  lattice: { steps: Uint32Array; shifts: Uint32Array; folded: boolean; slopes: Float64Array } | null;
  unit: number;
  /** Several results: 1/unit of each, and 1 or 0 for those that map and strata learn from or not. */
  inverseUnits: readonly number[];
  leads: readonly number[];
  adapt: boolean;
  /** Which samples the histogram counts (tasks/counted.ts). */
  counted: readonly number[];
  /** Whether to return variance and mean of each cube. */
  variances: boolean;
  means: boolean;
  /** Factor of w² in the histogram, for a cube with one sample. */
  factor: number;
}

/** A run of cubes: the samples to take of each, and the samples of the whole cube (they differ for a cube that is cut). */
export interface Chunk {
  index: number;
  firstCube: number;
  firstSample: number;
  cubes: number;
  take: Uint32Array | number;
  full: Uint32Array | number;
}

export interface ChunkSums {
  index: number;
  firstCube: number;
  evaluations: number;
  /** The numbers of a node (tasks/sample.ts). */
  sums: Float64Array;
  /** Σ of the scaled squares of all samples, when the map adapts. */
  squares: number;
  variances: Float64Array | null;
  means: Float64Array | null;
  nonFinite: { count: number; first: { point: number[]; value: number; result?: number } } | null;
}

export interface Sampler {
  begin(iteration: Iteration): void;
  /** Runs a chunk; asynchronous only when the integrand is. */
  run(chunk: Chunk): ChunkSums | Promise<ChunkSums>;
  /** The histogram of all chunks since `begin`. */
  end(): Float64Array | null;
  /** Writes other params into the memory. */
  bind(params: SamplerSetup['initial']): void;
  close(): void;
}

/**
 * `f` is called for every point when there is no compiled integrand; it may return promises. Between its batches `pause`
 * may give the event loop a turn.
 */
export function makeSampler(
  setup: SamplerSetup,
  memories: MemoryPool,
  f?: (x: number[]) => number | readonly number[] | Promise<number | readonly number[]>,
  pause?: () => Promise<void> | undefined,
): Sampler {
  const { layout: k, constants } = setup;
  let memory: WebAssembly.Memory | null = null;
  const numbers = (address: number, length: number) => new Float64Array(memory!.buffer, address, length);
  const words = (address: number, length: number) => new Uint32Array(memory!.buffer, address, length);
  const write = (list: SamplerSetup['initial']) => {
    for (const { address, data } of list) numbers(address, data.length).set(data);
  };
  const set = (field: keyof typeof constants.state, value: number) => {
    words(k.state + constants.state[field], 1)[0] = value;
  };
  let kernel: Record<
    'draw' | 'drawFrozen' | 'weigh' | 'add' | 'addFrozen' | 'addCubes',
    (n?: number) => number
  >;
  let evaluateCompiled: ((n: number) => void) | null;
  let rows: Float64Array[];
  /** One row per result. */
  let values: Float64Array[];
  let jacobian: Float64Array;
  let params: SamplerSetup['initial'] = [];
  let current: Iteration;
  /** Whether this engine has the memory, and whether the data of the iteration are in it. */
  let inside = false;
  let begun = false;
  /** The histogram so far, while another engine has the memory. */
  let kept: Float64Array | null = null;

  const user: MemoryUser = {
    size: k.end,
    enter(found) {
      if (memory !== found) {
        const imports = { env: { memory: found } };
        kernel = new WebAssembly.Instance(setup.kernel, imports).exports as typeof kernel;
        const compiled = setup.integrand && new WebAssembly.Instance(setup.integrand, imports);
        evaluateCompiled = (compiled?.exports.evaluate ?? null) as typeof evaluateCompiled;
        memory = found;
      }
      rows = Array.from({ length: k.dims }, (_, d) => numbers(k.points + d * k.batch * 8, k.batch));
      values = Array.from({ length: k.results }, (_, r) => numbers(k.values + r * k.batch * 8, k.batch));
      jacobian = numbers(k.jacobian, k.batch);
      write(setup.initial);
      write(params);
      numbers(k.reciprocals, k.batch + 1).set(reciprocals);
      inside = true;
    },
    leave() {
      if (begun && current.adapt) kept = histogram();
      inside = begun = false;
    },
  };
  const reciprocals = Float64Array.from({ length: k.batch + 1 }, (_, n) => (n > 0 ? 1 / n : 0));

  /** Writes what all chunks of the iteration share, and the histogram so far. */
  const begin = () => {
    const { key, strata, bins, edges, unit, factor } = current;
    const { rounds, weyl } = constants;
    for (let r = 0; r < rounds; r++) {
      for (const i of [0, 1]) words(k.keys + (2 * r + i) * 16, 4).fill((key[i] + r * weyl[i]) >>> 0);
    }
    set('iteration', current.iteration);
    set('stream', current.stream);
    words(k.state + constants.state.counted, 3).set(current.counted);
    set('stratified', strata.some(n => n > 1) ? 1 : 0);
    strata.forEach((n, d) => {
      numbers(k.scales, k.dims)[d] = bins / n;
      numbers(k.limits, k.dims)[d] = constants.corner - n;
    });
    numbers(k.strata, k.dims * k.batch).fill(constants.corner);
    const own = bins + 1; // at most what the layout has room for
    const putMap = (address: number, list: Float64Array) => {
      for (let d = 0; d < k.dims; d++)
        numbers(address + d * (k.bins + 1) * 8, own).set(list.subarray(d * own, (d + 1) * own));
    };
    putMap(k.edges, edges);
    if (current.lattice) {
      putMap(k.slopes, current.lattice.slopes);
      words(k.steps, k.dims).set(current.lattice.steps);
      set('folded', current.lattice.folded ? 1 : 0);
    }
    let volume = 1 / unit; // multiplied step by step, since engines round `bins ** dims` differently
    for (let d = 0; d < k.dims; d++) volume *= bins;
    numbers(k.factors, 2).set([volume, factor]);
    if (k.results > 1) {
      numbers(k.inverseUnits, k.results).set(current.inverseUnits);
      numbers(k.leads, k.results).set(current.leads);
    }
    for (let d = 0; d < k.dims; d++) {
      const row = numbers(k.histogram + d * k.bins * 8, bins);
      if (kept) row.set(kept.subarray(d * bins, (d + 1) * bins));
      else row.fill(0);
    }
    begun = true;
  };
  const histogram = (): Float64Array => {
    const { bins } = current;
    const result = new Float64Array(k.dims * bins);
    for (let d = 0; d < k.dims; d++) result.set(numbers(k.histogram + d * k.bins * 8, bins), d * bins);
    return result;
  };

  /** Sets values that are not finite to 0 and remembers the first. */
  const sweep = (n: number, sums: ChunkSums) => {
    for (let i = 0; i < n; i++) {
      for (let r = 0; r < k.results; r++) {
        if (Math.abs(values[r][i]) < Infinity) continue;
        const result = setup.numbers?.[r];
        const first = sums.nonFinite?.first ?? {
          point: rows.map(row => row[i]),
          value: values[r][i] / jacobian[i],
          ...(result !== undefined && { result }),
        };
        sums.nonFinite = { count: (sums.nonFinite?.count ?? 0) + 1, first };
        values[r][i] = 0;
      }
    }
  };

  const start = (chunk: Chunk) => {
    let cube = chunk.firstCube;
    current.strata.forEach((n, d) => {
      numbers(k.corners, k.dims)[d] = constants.corner - (cube % n);
      cube = Math.floor(cube / n);
    });
    if (current.lattice) {
      const [first, end] = [chunk.firstCube, chunk.firstCube + chunk.cubes].map(c => c * k.dims);
      words(k.shifts, end - first).set(current.lattice.shifts.subarray(first, end));
    }
    for (const [address, counts] of [
      [k.take, chunk.take],
      [k.full, chunk.full],
    ] as const) {
      if (typeof counts === 'number') words(address, chunk.cubes).fill(counts);
      else words(address, chunk.cubes).set(counts);
    }
    set('sampleLow', chunk.firstSample % 2 ** 32);
    set('sampleHigh', Math.floor(chunk.firstSample / 2 ** 32));
    set('cubes', chunk.cubes);
    set('cursor', 0);
    set('taken', 0);
    numbers(k.sums, setup.width).fill(0);
    numbers(k.squares, 1)[0] = 0;
    if (current.adapt || current.means) {
      numbers(k.variances, chunk.cubes).fill(0);
      numbers(k.means, chunk.cubes).fill(0);
    }
  };
  const finish = (chunk: Chunk, sums: ChunkSums): ChunkSums => {
    sums.sums = numbers(k.sums, setup.width).slice();
    sums.squares = numbers(k.squares, 1)[0];
    if (current.variances) sums.variances = numbers(k.variances, chunk.cubes).slice();
    if (current.means) sums.means = numbers(k.means, chunk.cubes).slice();
    return sums;
  };
  /**
   * Calls the plain integrand for every point of the batch; returns promises if there is something to wait for. `found` has a
   * row of n numbers per result.
   */
  const callEach = (n: number, found: Float64Array): Promise<void>[] => {
    const waits: Promise<void>[] = [];
    const put = (i: number, v: number | readonly number[]) => {
      if (!setup.numbers) found[i] = v as number;
      else for (let r = 0; r < k.results; r++) found[r * n + i] = (v as readonly number[])[setup.numbers[r]];
    };
    for (let i = 0; i < n; i++) {
      let y: ReturnType<NonNullable<typeof f>>;
      try {
        y = f!(rows.map(r => r[i]));
      } catch (e) {
        y = Promise.reject(e); // not thrown, since promises of other points may be pending and have to be awaited
      }
      if (typeof y === 'object' && y !== null && 'then' in y && typeof y.then === 'function')
        waits.push(y.then(v => put(i, v)));
      else put(i, y as number);
    }
    return waits;
  };
  const nothing = (chunk: Chunk): ChunkSums => ({
    index: chunk.index,
    firstCube: chunk.firstCube,
    evaluations: 0,
    sums: new Float64Array(0),
    squares: 0,
    variances: null,
    means: null,
    nonFinite: null,
  });
  const take = (n: number, found: Float64Array) => {
    for (let r = 0; r < k.results; r++) values[r].set(found.subarray(r * n, (r + 1) * n));
  };
  const settle = (n: number, sums: ChunkSums) => {
    if (kernel.weigh(n)) sweep(n, sums);
    (current.adapt ? kernel.add : current.means ? kernel.addCubes : kernel.addFrozen)();
    sums.evaluations += n;
  };

  const run = (chunk: Chunk): ChunkSums | Promise<ChunkSums> => {
    if (!begun) begin();
    start(chunk);
    const sums = nothing(chunk);
    const draw = current.adapt ? kernel.draw : kernel.drawFrozen;
    if (evaluateCompiled) {
      for (let n = draw(); n > 0; n = draw()) {
        evaluateCompiled(n);
        settle(n, sums);
      }
      return finish(chunk, sums);
    }
    const go = (): ChunkSums | Promise<ChunkSums> => {
      for (let n = draw(); n > 0; n = draw()) {
        const found = new Float64Array(k.results * n); // not in the memory: another engine may have it when a promise resolves
        const waits = callEach(n, found);
        const turn = pause?.();
        if (turn) waits.push(turn);
        if (waits.length > 0) {
          return Promise.all(waits).then(() => {
            take(n, found);
            settle(n, sums);
            return go();
          });
        }
        take(n, found);
        settle(n, sums);
      }
      return finish(chunk, sums);
    };
    return go();
  };

  return {
    begin(iteration) {
      current = iteration;
      begun = false;
      kept = null;
    },
    run: chunk => memories.use(user, () => run(chunk)),
    bind(found) {
      params = found;
      if (inside) write(params);
    },
    end() {
      if (!current.adapt) return null;
      const all = begun ? histogram() : (kept ?? new Float64Array(k.dims * current.bins));
      begun = false;
      kept = null;
      return all;
    },
    close: () => memories.close(user),
  };
}
