/**
 * Genz's exp(a·x) that is cut off just behind 1/4 of the last axis, where regions of a quarter of the axis meet: what lies beyond is closer
 * to the border than any point of a rule. Some claims about these were false by up to 144 tolerances.
 */
export const CUT_BEHIND = [0.0037, 0.0017, 0.0009] as const;

export const cutOff = (x: number[], p: { a: Float64Array; u: Float64Array }) => {
  let s = 0;
  let inside = true;
  for (let d = 0; d < x.length; d++) {
    s += p.a[d] * x[d];
    inside = inside && x[d] < p.u[d];
  }
  return inside ? Math.exp(s) : 0;
};

/** Parameters, and the integral over the unit cube in 4 dimensions. */
export function cutBehind(off: number): { params: { a: Float64Array; u: Float64Array }; truth: number } {
  const a = Float64Array.of(1.01, 1.6, 1.35, -0.23);
  const u = Float64Array.of(0.0702, 0.0962, 0.1477, 0.25 + off);
  return { params: { a, u }, truth: a.reduce((t, v, d) => (t * Math.expm1(v * u[d])) / v, 1) };
}
