/**
 * One worker's share of a list of regions: applies a cubature rule to tiles of them.
 *
 * The text of `makeEvaluator` is what workers are made of, so it uses nothing but its arguments; it runs on the
 * main thread as well. Between two chunks other engines of the thread may use its memory. The regions of a tile walk
 * through the points of the rule together, in an order in which few coordinates change from one point to the next, and
 * only those are computed. Values are added by slot: points that share their weights have one slot, except that the two
 * orbits whose fourth differences tell which axis to split have one slot per axis. Several results of an integrand have a row of
 * values and a set of slots each; the points are placed, and what the results share is computed, once for all of them.
 */
import type { PlainValue } from '../../integrand/plain.ts';
import type { Volume } from '../../tasks/region.ts';
import type { EvaluatorLayout } from './evaluator-kernel.ts';
import type { MemoryPool, MemoryUser } from './memory-pool.ts';
import type { Walk } from './walk.ts';

/** Everything an evaluator is made from; can be posted to a worker. */
export interface EvaluatorSetup {
  kernel: WebAssembly.Module;
  /** The compiled integrand; null when a function is called instead. */
  integrand: WebAssembly.Module | null;
  layout: EvaluatorLayout;
  /** Numbers to write into memory: constants and params. */
  initial: { address: number; data: ArrayLike<number> }[];
  walk: Walk;
  /** The box: every axis from low to high. */
  ranges: readonly (readonly [number, number])[];
  /** The volume of the box. */
  volume: Volume;
  /** The inner range of each axis (integrand/inner-range.ts), which no point leaves. */
  innerRanges: readonly (readonly [number, number])[];
}

/** Some regions in the order of the list; `levels` says how often each axis was halved. */
export interface RegionChunk {
  index: number;
  count: number;
  /** `count` numbers per axis. */
  centres: Float64Array;
  levels: Uint8Array;
}

/** With several results the lists have one after the other. */
export interface RegionChunkSums {
  index: number;
  /** Regions of the chunk. */
  count: number;
  values: Float64Array;
  errors: Float64Array;
  axes: Uint8Array;
  nonFinite: { count: number; first: { point: number[]; value: number } } | null;
}

export interface Evaluator {
  bind(initial: EvaluatorSetup['initial']): void;
  /** Runs a chunk; asynchronous only when the integrand is. */
  run(chunk: RegionChunk): RegionChunkSums | Promise<RegionChunkSums>;
  close(): void;
}

/**
 * `f` is called for every point when there is no compiled integrand; it may return promises, and of several results it returns
 * a list. Between points `pause` may give the event loop a turn.
 */
export function makeEvaluator(
  setup: EvaluatorSetup,
  memories: MemoryPool,
  f?: (x: number[]) => PlainValue | Promise<PlainValue>,
  pause?: () => Promise<void> | undefined,
): Evaluator {
  const { layout: k, walk, ranges, innerRanges } = setup;
  const { dims, batch, slots, results } = k;
  let memory: WebAssembly.Memory | null = null;
  const numbers = (address: number, length: number) => new Float64Array(memory!.buffer, address, length);
  const write = (list: EvaluatorSetup['initial']) => {
    for (const { address, data } of list) numbers(address, data.length).set(data);
  };
  let kernel: {
    place(row: number, g: number, first: number, last: number, end: number): void;
    add(slot: number, end: number, value: number): void;
  };
  let evaluateCompiled: ((n: number) => void) | null;
  let rows: Float64Array[];
  let centres: Float64Array;
  let halves: Float64Array;
  let values: Float64Array;
  let sums: Float64Array;
  let params: EvaluatorSetup['initial'] = [];
  let inside = false;
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
      rows = Array.from({ length: dims }, (_, d) => numbers(k.points + d * batch * 8, batch));
      centres = numbers(k.centres, dims * batch);
      halves = numbers(k.halves, dims * batch);
      values = numbers(k.values, results * batch);
      sums = numbers(k.sums, results * slots * batch);
      write(setup.initial);
      write(params);
      inside = true;
    },
    leave() {
      inside = false;
    },
  };
  const powers = Float64Array.from({ length: 256 }, (_, level) => 2 ** -level);
  const { weights, nulls, pairs, coefficients, inner, outer, ratio } = walk;
  const nullSums = new Float64Array(Math.max(1, nulls.length));
  // half-widths are half·2^−level: the volume of a region is that of the box times a power of two
  const { mantissa, exponent } = setup.volume;
  const exponents = new Int32Array(batch);
  /** x·mantissa·2^n, in steps that neither overflow nor underflow unless the result does. */
  const scaled = (x: number, n: number): number => {
    let y = x * mantissa;
    for (; n > 1000; n -= 1000) y *= 2 ** 1000;
    for (; n < -1000; n += 1000) y *= 2 ** -1000;
    return y * 2 ** n;
  };
  /** Where sums would overflow, values are multiplied by 2 to this power. */
  const SHRINK = -64;

  /** Writes the regions from `first` on into the tile, the last one twice when their number is odd. */
  const load = (chunk: RegionChunk, first: number, n: number) => {
    const { count } = chunk;
    exponents.fill(exponent);
    for (let d = 0; d < dims; d++) {
      const [low, high] = ranges[d];
      const half = (high - low) / 2;
      for (let i = 0; i < n; i++) {
        centres[d * batch + i] = chunk.centres[d * count + first + i];
        const level = chunk.levels[d * count + first + i];
        halves[d * batch + i] = half * powers[level];
        exponents[i] -= level;
      }
      if (n % 2) {
        centres[d * batch + n] = centres[d * batch + n - 1];
        halves[d * batch + n] = halves[d * batch + n - 1];
      }
      kernel.place(d * batch * 8, 0, innerRanges[d][0], innerRanges[d][1], n * 8);
    }
    sums.fill(0);
  };

  /** Moves the tile to a point of the rule. */
  const move = (point: number, n: number) => {
    const { starts, axis, value } = walk;
    for (let c = starts[point]; c < starts[point + 1]; c++) {
      const d = axis[c];
      kernel.place(d * batch * 8, value[c], innerRanges[d][0], innerRanges[d][1], n * 8);
    }
  };

  /** Adds what the integrand gives at a point to the sums of the point's slot. */
  const add = (point: number, n: number) => {
    const slot = walk.slot[point];
    for (let r = 0; r < results; r++) kernel.add((r * slots + slot) * batch * 8, n * 8, r * batch * 8);
  };

  /** Calls the plain integrand for every region at this point; returns a promise if there is something to wait for. */
  const callEach = (n: number, found: Float64Array): Promise<void>[] => {
    const waits: Promise<void>[] = [];
    const keep = (i: number, y: PlainValue) => {
      if (typeof y !== 'object' || y === null) found[i] = y;
      else for (let r = 0; r < results; r++) found[r * batch + i] = y[r];
    };
    for (let i = 0; i < n; i++) {
      let y: PlainValue | Promise<PlainValue>;
      try {
        y = f!(rows.map(r => r[i]));
      } catch (e) {
        y = Promise.reject(e); // not thrown, since promises of other regions may be pending and have to be awaited
      }
      if (typeof y === 'object' && y !== null && typeof (y as Promise<PlainValue>).then === 'function')
        waits.push((y as Promise<PlainValue>).then(v => keep(i, v)));
      else keep(i, y as PlainValue);
    }
    return waits;
  };

  /** Sets values that are not finite to 0 and remembers the first; shrinks the others. */
  const sweep = (n: number, out: RegionChunkSums, shrunk: number) => {
    for (let r = 0; r < results; r++) {
      for (let i = 0; i < n; i++) {
        const at = r * batch + i;
        if (Math.abs(values[at]) < Infinity) {
          values[at] *= 2 ** shrunk;
          continue;
        }
        const first = out.nonFinite?.first ?? { point: rows.map(row => row[i]), value: values[at] };
        out.nonFinite = { count: (out.nonFinite?.count ?? 0) + 1, first };
        values[at] = 0;
      }
    }
  };

  /** What the rule makes of all results of the tile's regions; false when a sum is not finite. */
  const combine = (first: number, n: number, out: RegionChunkSums, shrunk: number): boolean => {
    let finite = true;
    for (let r = 0; r < results; r++)
      if (!combineOne(r * out.count + first, n, out, shrunk, r * slots * batch)) finite = false;
    return finite;
  };

  /** Rule, null rules and fourth differences of the tile's regions, for the result whose sums are at `own`. */
  const combineOne = (
    first: number,
    n: number,
    out: RegionChunkSums,
    shrunk: number,
    own: number,
  ): boolean => {
    let finite = true;
    for (let i = 0; i < n; i++) {
      let sum = 0;
      nullSums.fill(0);
      for (let s = 0; s < slots; s++) {
        const v = sums[own + s * batch + i];
        sum += weights[s] * v;
        for (let r = 0; r < nulls.length; r++) nullSums[r] += nulls[r][s] * v;
      }
      let error = Math.abs(nullSums[0]);
      if (coefficients) {
        // the largest estimate among the null rules that two successive ones span
        let [a, b, c] = [0, 0, 0];
        for (let r = 0; r < pairs.length; r++) {
          const { scale, norm } = pairs[r];
          let most = 0;
          for (let j = 0; j < scale.length; j++) {
            const candidate = Math.abs(nullSums[r + 1] + scale[j] * nullSums[r]) * norm[j];
            if (candidate > most) most = candidate;
          }
          if (r === 0) a = most;
          else if (r === 1) b = most;
          else c = most;
        }
        const [fall, calm, wild] = coefficients;
        error = fall * a <= b && fall * b <= c ? calm * a : wild * Math.max(a, b, c);
      }
      out.values[first + i] = scaled(sum, exponents[i] - shrunk);
      out.errors[first + i] = scaled(error, exponents[i] - shrunk);
      if (!(Math.abs(sum) < Infinity && error < Infinity)) finite = false;
      // the axis with the largest fourth difference, of equal ones the widest; not one whose halves have the same centre
      const centre = sums[own + i];
      const base = 2 * centre * (1 - ratio);
      let [axis, most, widest] = [0, -1, 0];
      for (let d = 0; d < dims; d++) {
        const [near, far] = [sums[own + (inner + d) * batch + i], sums[own + (outer + d) * batch + i]];
        let bend = Math.abs(base + ratio * near - far);
        // a difference of this size is the rounding error of numbers that cancel
        if (bend <= 1e-14 * (Math.abs(near) + Math.abs(far) + Math.abs(centre))) bend = 0;
        const half = halves[d * batch + i];
        if (centres[d * batch + i] + half / 8 === centres[d * batch + i]) continue;
        const width = half / (ranges[d][1] - ranges[d][0]);
        if (bend > most || (bend === most && width > widest)) [axis, most, widest] = [d, bend, width];
      }
      out.axes[first + i] = axis;
    }
    return finite;
  };

  /**
   * Evaluates a tile with the compiled integrand. If a sum is not finite, the tile is repeated with a check of every
   * value; and if the values are finite and only their sum overflows, once more with values that are scaled down.
   */
  const tile = (chunk: RegionChunk, first: number, n: number, out: RegionChunkSums, pass = 0): void => {
    load(chunk, first, n);
    const shrunk = pass < 2 ? 0 : SHRINK;
    if (pass > 0) out.nonFinite = before;
    else before = out.nonFinite;
    for (let point = 0; point < walk.slot.length; point++) {
      move(point, n);
      evaluateCompiled!(n);
      if (pass > 0) sweep(n, out, shrunk);
      add(point, n);
    }
    if (!combine(first, n, out, shrunk) && pass < 2) tile(chunk, first, n, out, pass + 1);
  };
  let before: RegionChunkSums['nonFinite'] = null;

  /** The same with a plain function, which may be asynchronous. */
  const plainTile = async (
    chunk: RegionChunk,
    first: number,
    n: number,
    out: RegionChunkSums,
    shrunk = 0,
  ): Promise<void> => {
    load(chunk, first, n);
    const known = out.nonFinite;
    for (let point = 0; point < walk.slot.length; point++) {
      move(point, n);
      const found = new Float64Array((results - 1) * batch + n); // not in the memory: another engine may have it when a promise resolves
      const waits = callEach(n, found);
      const turn = pause?.();
      if (turn) waits.push(turn);
      if (waits.length > 0) await Promise.all(waits);
      values.set(found);
      sweep(n, out, shrunk);
      add(point, n);
    }
    if (combine(first, n, out, shrunk) || shrunk) return;
    out.nonFinite = known;
    await plainTile(chunk, first, n, out, SHRINK);
  };

  const run = (chunk: RegionChunk): RegionChunkSums | Promise<RegionChunkSums> => {
    const { count, index } = chunk;
    const out: RegionChunkSums = {
      index,
      count,
      values: new Float64Array(results * count),
      errors: new Float64Array(results * count),
      axes: new Uint8Array(results * count),
      nonFinite: null,
    };
    if (!evaluateCompiled) {
      return (async () => {
        for (let first = 0; first < count; first += batch)
          await plainTile(chunk, first, Math.min(batch, count - first), out);
        return out;
      })();
    }
    for (let first = 0; first < count; first += batch) {
      const n = Math.min(batch, count - first);
      tile(chunk, first, n, out);
    }
    return out;
  };

  return {
    bind(found) {
      params = found;
      if (inside) write(params);
    },
    run: chunk => memories.use(user, () => run(chunk)),
    close: () => memories.close(user),
  };
}
