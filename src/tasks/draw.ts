/**
 * Points drawn one by one through a VEGAS map, each independent of the others: uniform numbers u in the unit cube, whose
 * images under the map have the density 1/J(u) with J the Jacobian. The numbers depend on key, iteration and number of the point
 * alone, so the same points come from every device and in every batch.
 *
 * Strata are left out on purpose. VEGAS+ has few samples where the integrand varies little within a cube, also if it is large
 * there, so that single points of such a cube would have large weights.
 */
import { type Key, roundKeys, STREAM, writeWords } from '../random/philox.ts';
import { cubesOf, type PlainTask } from './sample.ts';

export interface Draw {
  key: Key;
  /** Points of different iterations are different. */
  iteration: number;
  dims: number;
  bins: number;
  edges: Float64Array;
}

/** Points as devices take them: all first coordinates, then all second ones, and so on. */
export interface Drawn {
  points: Float64Array;
  jacobians: Float64Array;
  /** A further random number in (0, 1) for each point. */
  chances: Float64Array;
}

/** Points `first` to `first + n − 1`. */
export function drawPoints({ key, iteration, dims, bins, edges }: Draw, first: number, n: number): Drawn {
  const points = new Float64Array(dims * n);
  const jacobians = new Float64Array(n);
  const chances = new Float64Array(n);
  const keys = roundKeys(key);
  const words = new Uint32Array(4);
  for (let i = 0; i < n; i++) {
    let jacobian = 1;
    for (let d = 0; d <= dims; d += 4) {
      writeWords(words, first + i, d >> 2, iteration, STREAM.events, keys);
      for (let j = 0; j < 4 && d + j <= dims; j++) {
        const u = (words[j] + 0.5) * 2 ** -32;
        const axis = d + j;
        if (axis === dims) {
          chances[i] = u; // the coordinate behind the last one
          continue;
        }
        const t = u * bins;
        const bin = Math.floor(t);
        const at = axis * (bins + 1) + bin;
        const width = edges[at + 1] - edges[at];
        points[axis * n + i] = edges[at] + (t - bin) * width;
        jacobian *= bins * width;
      }
    }
    jacobians[i] = jacobian;
  }
  return { points, jacobians, chances };
}

/** Samples of a task, as they follow each other. */
export interface DrawnSamples {
  n: number;
  /** All first coordinates, then all second ones, and so on. */
  points: Float64Array;
  /** Jacobian/unit. */
  jacobians: Float64Array;
  /** The cube of each sample; cubes ascend. */
  cubes: Uint32Array;
}

/** The samples of an iteration, which devices draw as well, in batches: for what sums do not tell. */
export function* drawSamples(task: PlainTask, batch: number): Generator<DrawnSamples> {
  const { key, iteration, stream, bins, edges, strata, counts, unit } = task;
  const [dims, cubes] = [strata.length, cubesOf(task)];
  const countOf = typeof counts === 'number' ? () => counts : (cube: number) => counts.each[cube];
  const own = new Uint32Array(dims);
  const keys = roundKeys(key);
  const words = new Uint32Array(4);
  let [cube, offset, first] = [0, 0, 0];
  while (cube < cubes) {
    const drawn: DrawnSamples = {
      n: 0,
      points: new Float64Array(dims * batch),
      jacobians: new Float64Array(batch),
      cubes: new Uint32Array(batch),
    };
    for (; drawn.n < batch && cube < cubes; drawn.n++) {
      if (offset === 0) {
        let rest = cube;
        for (let d = 0; d < dims; d++) {
          own[d] = rest % strata[d];
          rest = Math.floor(rest / strata[d]);
        }
      }
      const i = drawn.n;
      let jacobian = 1 / unit;
      for (let d = 0; d < dims; d += 4) {
        writeWords(words, first + i, d >> 2, iteration, stream, keys);
        for (let axis = d; axis < Math.min(dims, d + 4); axis++) {
          const t = (own[axis] + (words[axis - d] + 0.5) * 2 ** -32) * (bins / strata[axis]);
          const bin = Math.floor(t);
          const at = axis * (bins + 1) + bin;
          const width = edges[at + 1] - edges[at];
          drawn.points[axis * batch + i] = edges[at] + (t - bin) * width;
          jacobian *= bins * width;
        }
      }
      drawn.jacobians[i] = jacobian;
      drawn.cubes[i] = cube;
      if (++offset === countOf(cube)) [cube, offset] = [cube + 1, 0];
    }
    first += drawn.n;
    yield drawn.n === batch ? drawn : shortened(drawn, dims, batch);
  }
}

/** The last batch, without the places that no sample has. */
function shortened({ n, points, jacobians, cubes }: DrawnSamples, dims: number, batch: number): DrawnSamples {
  const own = new Float64Array(dims * n);
  for (let d = 0; d < dims; d++) own.set(points.subarray(d * batch, d * batch + n), d * n);
  return { n, points: own, jacobians: jacobians.slice(0, n), cubes: cubes.slice(0, n) };
}
