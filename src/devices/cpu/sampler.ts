/**
 * One worker's share of an iteration: owns a memory with the kernel and the integrand in it, and runs chunks.
 *
 * The text of `makeSampler` is what workers are made of, so it uses nothing but its argument: constants come in
 * the setup. It runs on the main thread as well.
 */
import type { KernelLayout } from './layout.ts';

/** Everything a sampler is made from; can be posted to a worker. */
export interface SamplerSetup {
  kernel: WebAssembly.Module;
  /** The compiled integrand; null when a function is called instead. */
  integrand: WebAssembly.Module | null;
  layout: KernelLayout;
  /** Numbers to write into memory: constants and params. */
  initial: { address: number; data: ArrayLike<number> }[];
  constants: {
    state: Record<
      'sampleLow' | 'sampleHigh' | 'iteration' | 'stream' | 'cubes' | 'cursor' | 'taken' | 'stratified',
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
  unit: number;
  adapt: boolean;
  /** What to tell of each cube. */
  variances: boolean;
  means: boolean;
  /** Factor of w² in the histogram, for a cube with one sample. */
  factor: number;
}

/** A run of cubes: how many samples to take of each, and how many each has in all (they differ for a cube cut in two). */
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
  evaluations: number;
  sum: number;
  variance: number;
  variances: Float64Array | null;
  means: Float64Array | null;
  nonFinite: { count: number; first: { point: number[]; value: number } } | null;
}

export interface Sampler {
  begin(iteration: Iteration): void;
  /** Async only when the integrand is. */
  run(chunk: Chunk): ChunkSums | Promise<ChunkSums>;
  /** The histogram of all chunks since `begin`. */
  end(): Float64Array | null;
  /** Writes params. */
  bind(params: SamplerSetup['initial']): void;
}

/**
 * `f` is called for every point when there is no compiled integrand; it may return promises. Between its batches `pause`
 * may give others a turn.
 */
export function makeSampler(
  setup: SamplerSetup,
  f?: (x: number[]) => number | Promise<number>,
  pause?: () => Promise<void> | undefined,
): Sampler {
  const { layout: k, constants } = setup;
  const memory = new WebAssembly.Memory({ initial: Math.ceil(k.end / 65536) });
  const imports = { env: { memory } };
  const numbers = (address: number, length: number) => new Float64Array(memory.buffer, address, length);
  const words = (address: number, length: number) => new Uint32Array(memory.buffer, address, length);
  const bind = (initial: SamplerSetup['initial']) => {
    for (const { address, data } of initial) numbers(address, data.length).set(data);
  };
  bind(setup.initial);
  for (let n = 1; n <= k.batch; n++) numbers(k.reciprocals, k.batch + 1)[n] = 1 / n;
  const kernel = new WebAssembly.Instance(setup.kernel, imports).exports as Record<
    'draw' | 'drawFrozen' | 'weigh' | 'add' | 'addFrozen' | 'addCubes',
    (n?: number) => number
  >;
  const compiled = setup.integrand && new WebAssembly.Instance(setup.integrand, imports);
  const rows = Array.from({ length: k.dims }, (_, d) => numbers(k.points + d * k.batch * 8, k.batch));
  const values = numbers(k.values, k.batch);
  const jacobian = numbers(k.jacobian, k.batch);
  const evaluateCompiled = (compiled?.exports.evaluate ?? null) as ((n: number) => void) | null;
  const set = (field: keyof typeof constants.state, value: number) => {
    words(k.state + constants.state[field], 1)[0] = value;
  };
  let current: Iteration;

  /** Sets values that are not finite to 0 and remembers the first. */
  const sweep = (n: number, sums: ChunkSums) => {
    for (let i = 0; i < n; i++) {
      if (Math.abs(values[i]) < Infinity) continue;
      const first = sums.nonFinite?.first ?? { point: rows.map(r => r[i]), value: values[i] / jacobian[i] };
      sums.nonFinite = { count: (sums.nonFinite?.count ?? 0) + 1, first };
      values[i] = 0;
    }
  };

  const start = (chunk: Chunk) => {
    let cube = chunk.firstCube;
    current.strata.forEach((n, d) => {
      numbers(k.corners, k.dims)[d] = constants.corner - (cube % n);
      cube = Math.floor(cube / n);
    });
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
    numbers(k.sums, 2).fill(0);
    if (current.adapt || current.means) {
      numbers(k.variances, chunk.cubes).fill(0);
      numbers(k.means, chunk.cubes).fill(0);
    }
  };
  const finish = (chunk: Chunk, sums: ChunkSums): ChunkSums => {
    [sums.sum, sums.variance] = numbers(k.sums, 2);
    if (current.variances) sums.variances = numbers(k.variances, chunk.cubes).slice();
    if (current.means) sums.means = numbers(k.means, chunk.cubes).slice();
    return sums;
  };
  /** Calls the plain integrand for every point of the batch; returns what there is to wait for. */
  const callEach = (n: number): Promise<void>[] => {
    const waits: Promise<void>[] = [];
    for (let i = 0; i < n; i++) {
      let y: number | Promise<number>;
      try {
        y = f!(rows.map(r => r[i]));
      } catch (e) {
        y = Promise.reject(e); // beside other promises, which must not be left alone
      }
      if (typeof y === 'object' && y !== null && typeof y.then === 'function') {
        waits.push(
          y.then(v => {
            values[i] = v;
          }),
        );
      } else values[i] = y as number;
    }
    return waits;
  };
  const nothing = (chunk: Chunk): ChunkSums => ({
    index: chunk.index,
    evaluations: 0,
    sum: 0,
    variance: 0,
    variances: null,
    means: null,
    nonFinite: null,
  });
  const settle = (n: number, sums: ChunkSums) => {
    if (kernel.weigh(n)) sweep(n, sums);
    (current.adapt ? kernel.add : current.means ? kernel.addCubes : kernel.addFrozen)();
    sums.evaluations += n;
  };

  return {
    begin(iteration) {
      current = iteration;
      const { rounds, weyl } = constants;
      for (let r = 0; r < rounds; r++) {
        for (const i of [0, 1])
          words(k.keys + (2 * r + i) * 16, 4).fill((iteration.key[i] + r * weyl[i]) >>> 0);
      }
      set('iteration', iteration.iteration);
      set('stream', iteration.stream);
      set('stratified', iteration.strata.some(n => n > 1) ? 1 : 0);
      iteration.strata.forEach((n, d) => {
        numbers(k.scales, k.dims)[d] = iteration.bins / n;
        numbers(k.limits, k.dims)[d] = constants.corner - n;
      });
      numbers(k.strata, k.dims * k.batch).fill(constants.corner);
      const own = iteration.bins + 1; // at most what the layout has room for
      for (let d = 0; d < k.dims; d++) {
        numbers(k.edges + d * (k.bins + 1) * 8, own).set(iteration.edges.subarray(d * own, (d + 1) * own));
      }
      let volume = 1 / iteration.unit; // a product: engines round `bins ** dims` differently
      for (let d = 0; d < k.dims; d++) volume *= iteration.bins;
      numbers(k.factors, 2).set([volume, iteration.factor]);
      numbers(k.histogram, k.dims * k.bins).fill(0);
    },
    run(chunk) {
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
          const waits = callEach(n);
          const turn = pause?.();
          if (turn) waits.push(turn);
          if (waits.length > 0) {
            return Promise.all(waits).then(() => {
              settle(n, sums);
              return go();
            });
          }
          settle(n, sums);
        }
        return finish(chunk, sums);
      };
      return go();
    },
    bind,
    end() {
      if (!current.adapt) return null;
      const result = new Float64Array(k.dims * current.bins);
      for (let d = 0; d < k.dims; d++)
        result.set(numbers(k.histogram + d * k.bins * 8, current.bins), d * current.bins);
      return result;
    },
  };
}
