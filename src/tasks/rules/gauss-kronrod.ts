/** Kronrod's rule of 15 points on an interval, with null rules. */
import type { Row } from './rows.ts';

/** The 8 of Kronrod's 15 nodes that are not negative, with QUADPACK's weights halved. */
const NODES = [
  0, 0.20778495500789848, 0.4058451513773972, 0.5860872354676911, 0.7415311855993945, 0.8648644233597691,
  0.9491079123427585, 0.9914553711208126,
];
const WEIGHTS = [
  0.10474107054236391, 0.10221647003764944, 0.09517528903239271, 0.08450236331963396, 0.07032662985776296,
  0.052395005161125094, 0.03154604631498928, 0.011467661005264612,
];

/**
 * Null rules on Kronrod's nodes: their weights are polynomials of degrees 14, 12, 10 and 8 in the node, orthogonal over
 * the nodes to all polynomials of lower degree. The first is K15 − G7 up to a factor. All have the Euclidean norm of the
 * rule, which makes them equally strong (Berntsen and Espelid, "Error estimation in automatic quadrature routines",
 * ACM TOMS 17, 1991).
 */
export function gaussKronrod(): Row[] {
  const dot = (u: number[], v: number[]) => u.reduce((s, x, i) => s + (i === 0 ? 1 : 2) * x * v[i], 0);
  const square = dot(WEIGHTS, WEIGHTS);
  const basis: number[][] = [];
  let v = NODES.map(() => 1);
  for (const _ of NODES) {
    // Gram–Schmidt is done twice, since the first time leaves rounding errors of the large parts that it subtracts
    for (const u of [...basis, ...basis]) {
      const part = dot(u, v) / square;
      v = v.map((y, i) => y - part * u[i]);
    }
    const length = Math.sqrt(square / dot(v, v));
    basis.push(v.map(y => y * length));
    v = basis.at(-1)!.map((y, i) => y * NODES[i] * NODES[i]);
  }
  const nulls = basis.slice(4).reverse();
  return NODES.map((x, i) => [x === 0 ? [] : [x], [WEIGHTS[i], ...nulls.map(u => u[i])]]);
}
