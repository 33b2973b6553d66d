/**
 * VEGAS' map made smooth: a monotone cubic through its edges. Lattices gain from integrands with smooth derivatives, and the
 * Jacobian of a piecewise linear map has a step at every edge: on f2 in 6 dimensions a lattice is 16 times as exact with this
 * map (_trial_).
 *
 * Between two edges e and E = e + Δ with slopes m and M, at the part s of the bin:
 *
 *     x(s) = e + s·(m + s·(b + s·a)),   x′(s) = m + s·(2b + 3a·s),   a = m + M − 2Δ,   b = Δ − m − a.
 *
 * The Jacobian x′ is continuous. Slopes are at most three times the smaller one of the two widths beside an edge, so that x′ is
 * nowhere negative (Fritsch, Carlson, "Monotone piecewise cubic interpolation", 1980).
 */

/** The slopes at the edges, per bin: bins + 1 numbers per axis. */
export function slopesOf(edges: Float64Array, dims: number): Float64Array {
  const own = edges.length / dims;
  const slopes = new Float64Array(edges.length);
  for (let d = 0; d < dims; d++) {
    const width = (i: number) => edges[d * own + i + 1] - edges[d * own + i];
    for (let i = 1; i < own - 1; i++) {
      const [left, right] = [width(i - 1), width(i)];
      slopes[d * own + i] = Math.min((left + right) / 2, 3 * Math.min(left, right));
    }
    slopes[d * own] = endSlope(width(0), own > 2 ? width(1) : width(0));
    slopes[d * own + own - 1] = endSlope(width(own - 2), own > 2 ? width(own - 3) : width(own - 2));
  }
  return slopes;
}

/** The slope at an end: the widths continued by half a bin; never 0, which would leave out the end. */
const endSlope = (width: number, next: number): number =>
  Math.min(3 * width, Math.max(width / 4, (3 * width - next) / 2));

/** A place in the domain, and the Jacobian there divided by the number of bins. */
export interface Place {
  x: number;
  width: number;
}

/** The place at the part s of a bin whose first edge has number `at`: by a cubic where there are slopes. The CPU computes the same bits. */
export function placeIn(edges: Float64Array, slopes: Float64Array | undefined, at: number, s: number): Place {
  const width = edges[at + 1] - edges[at];
  if (!slopes) return { x: edges[at] + s * width, width };
  const [e, m, b, a] = curveOf(edges, slopes, at);
  return { x: Math.min(edges[at + 1], e + s * (m + s * (b + s * a))), width: m + s * (b + b + s * (3 * a)) };
}

/** The numbers e, m, b and a of a bin. */
export function curveOf(
  edges: Float64Array,
  slopes: Float64Array,
  at: number,
): [number, number, number, number] {
  const width = edges[at + 1] - edges[at];
  const slope = slopes[at];
  const a = slope + slopes[at + 1] - (width + width);
  return [edges[at], slope, width - slope - a, a];
}
