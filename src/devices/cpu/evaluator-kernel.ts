/**
 * The kernel of the region evaluator: WebAssembly that moves a tile of regions from one point of the rule to the next,
 * and adds up what the integrand gives there. Lanes are regions: every region of the tile is at the same point of
 * the rule at the same time, so coordinates are centre + g·half-width with one g for all.
 *
 *     place(row, g, first, last, end): row ← centre + g·half-width, never outside [first, last]
 *     add(slot, end): sums of the slot ← sums + values; with several results add(slot, end, value), with the values of one
 *
 * `row`, `slot` and `value` are byte offsets, `end` is the size of a row in use, in bytes.
 */
import { encodeModule, FunctionWriter } from '../../wasm/assembler.ts';

export interface EvaluatorLayout {
  dims: number;
  /** Regions of a tile. */
  batch: number;
  slots: number;
  /** Results of the integrand. */
  results: number;
  /**
   * Byte offsets of rows of `batch` numbers: coordinates, values of each result, centres, half-widths; and one row of sums per
   * slot, for one result after the other.
   */
  points: number;
  values: number;
  centres: number;
  halves: number;
  sums: number;
  end: number;
}

export function evaluatorLayout(dims: number, batch: number, slots: number, results = 1): EvaluatorLayout {
  const row = batch * 8;
  const values = dims * row;
  const centres = values + results * row;
  const halves = centres + dims * row;
  const sums = halves + dims * row;
  const end = sums + results * slots * row;
  return { dims, batch, slots, results, points: 0, values, centres, halves, sums, end };
}

/** The module: imports `env.memory`, exports `place` and `add`. */
export function evaluatorModule(k: EvaluatorLayout): Uint8Array<ArrayBuffer> {
  return encodeModule([placeFunction(k), addFunction(k)], { place: 0, add: 1 });
}

function placeFunction(k: EvaluatorLayout): FunctionWriter {
  const w = new FunctionWriter(['i32', 'f64', 'f64', 'f64', 'i32'], null);
  const [row, g, first, last, end] = [0, 1, 2, 3, 4];
  const [factor, least, most] = [g, first, last].map(f => {
    const v = w.local('v128');
    w.get(f).op('f64x2.splat').set(v);
    return v;
  });
  w.get(row).get(end).op('i32.add').set(end);
  const top = w.open('loop');
  w.get(row);
  w.get(row).memory('v128.load', k.centres);
  w.get(row).memory('v128.load', k.halves).get(factor).op('f64x2.mul', 'f64x2.add');
  w.get(most).op('f64x2.min').get(least).op('f64x2.max').memory('v128.store', k.points);
  w.get(row).i32(16).op('i32.add').tee(row).get(end).op('i32.lt_u').brIf(top).close();
  return w;
}

function addFunction(k: EvaluatorLayout): FunctionWriter {
  const several = k.results > 1;
  const w = new FunctionWriter(several ? ['i32', 'i32', 'i32'] : ['i32', 'i32'], null);
  const [slot, end, value] = [0, 1, 2];
  const p = w.local('i32');
  w.doWhileBelow(p, 16, end, () => {
    w.get(p).get(slot).op('i32.add');
    w.get(p).get(slot).op('i32.add').memory('v128.load', k.sums);
    w.get(p);
    if (several) w.get(value).op('i32.add');
    w.memory('v128.load', k.values).op('f64x2.add').memory('v128.store', k.sums);
  });
  return w;
}
