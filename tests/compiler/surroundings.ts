/** What generated programs are run with: params of every kind, and points with all that a coordinate can be. */
import type { Params } from '../../src/integrand/params.ts';
import { table } from '../../src/integrand/tables.ts';
import { PARAM_ARRAYS } from './expressions.ts';
import { Random } from './random.ts';

export const params: Params = {
  a: 1.75,
  b: -0.3,
  on: true,
  off: false,
  data: Float64Array.from({ length: PARAM_ARRAYS.data }, (_, i) => 1.5 * i - 2.25),
  bytes: Uint8Array.from({ length: PARAM_ARRAYS.bytes }, (_, i) => 7 * i + 1),
  curve: table([[-1, 0, 0.3, 2, 10]], [3, 1, -1, 4, 0.5]),
  surface: table(
    [
      [0, 0.5, 1],
      [-1, 0, 4],
    ],
    [1, 2, 3, -1, 0, 1, 5, 4, 0.25],
    { outside: 'zero' },
  ),
};

const SPECIAL = [0, 1, -1, -0, 0.5, 2, 1e-9, -3.5, 1e10, 5e-324, -1e300, 1e17, 0.1, 3];

/** Points of `dims` coordinates: ordinary ones, and ones with special coordinates; an odd number of them. */
export function pointsFor(seed: number, dims: number): number[][] {
  const r = new Random(seed);
  const coordinate = (k: number) =>
    k < 20 ? r.unit() : k < 28 ? 8 * r.unit() - 4 : r.chance(0.7) ? r.pick(SPECIAL) : r.unit();
  return Array.from({ length: 41 }, (_, k) => Array.from({ length: dims }, () => coordinate(k)));
}
