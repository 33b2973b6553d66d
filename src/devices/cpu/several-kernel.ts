/**
 * What add-kernel.ts does differently for an integrand with several results: `weigh` and `add` have a row of
 * values per result, and `add` sums products of all pairs of results.
 *
 * Of each piece, first the mean of every result; then, about these means, Σ (vᵣ − meanᵣ)·(vₛ − meanₛ) for every pair; both loops
 * take two samples at a time, the last one of an odd number alone. Histogram and variances of cubes are those of
 * Σ vᵣ² over the results that lead, so that learning is the same as for one result.
 */
import { packedIndex, packedLength } from '../../tasks/correlation.ts';
import { FunctionWriter } from '../../wasm/assembler.ts';
import { pieceAdder } from './add-kernel.ts';
import type { KernelLayout } from './layout.ts';

const indices = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** values ← values/unit · Jacobian, for each result; returns whether one of them is not finite. */
export function weighSeveral(k: KernelLayout): FunctionWriter {
  const w = new FunctionWriter(['i32'], 'i32');
  const [p, end] = [w.local('i32'), w.local('i32')];
  const [jacobian, value, wrong] = Array.from({ length: 3 }, () => w.local('v128'));
  const inverses = indices(k.results).map(r => {
    const inverse = w.local('v128');
    w.i32(0)
      .memory('v128.load64_splat', k.inverseUnits + 8 * r)
      .set(inverse);
    return inverse;
  });
  w.get(0).i32(3).op('i32.shl').set(end);
  w.doWhileBelow(p, 16, end, () => {
    w.get(p).memory('v128.load', k.jacobian).set(jacobian);
    inverses.forEach((inverse, r) => {
      const row = k.values + r * k.batch * 8;
      w.get(p).memory('v128.load', row).set(value);
      w.get(p)
        .get(value)
        .get(inverse)
        .op('f64x2.mul')
        .get(jacobian)
        .op('f64x2.mul')
        .memory('v128.store', row);
      w.get(value).v128(0).op('f64x2.mul').v128(0).op('f64x2.ne').get(wrong).op('v128.or').set(wrong);
    });
  });
  w.get(wrong).op('v128.any_true');
  return w;
}

/** As addFunction in add-kernel.ts. */
export function addSeveral(k: KernelLayout, adapt: boolean, cubes: boolean): FunctionWriter {
  const w = new FunctionWriter([], null);
  const results = indices(k.results);
  const adder = pieceAdder(k, w, adapt);
  const { p, start, end, m, reciprocal, counted } = adder;
  const [share, factor, scale, part, norm, spread] = Array.from({ length: 6 }, () => w.local('f64'));
  const means = results.map(() => w.local('v128'));
  const deltas = results.map(() => w.local('v128'));
  const products = indices(packedLength(k.results)).map(() => w.local('v128'));
  const [square, squares] = [w.local('v128'), w.local('v128')];
  const rowOf = (r: number) => k.values + r * k.batch * 8;
  const lead = (r: number) => k.leads + 8 * r;
  /** Runs the body for pairs of samples of the piece, and for the last one of an odd number. */
  const each = (body: (single: boolean) => void) => {
    w.get(start).set(p);
    const top = w.open('loop');
    body(false);
    w.get(p).i32(16).op('i32.add').tee(p).i32(8).op('i32.add').get(end).op('i32.lt_u').brIf(top).close();
    w.get(p).get(end).op('i32.lt_u').open('if');
    body(true);
    w.close();
  };
  const firstLane = () => w.words(-1, -1, 0, 0).op('v128.and');
  const addTo = (address: number, push: () => void) => {
    w.i32(0).i32(0).memory('f64.load', address);
    push();
    w.op('f64.add').memory('f64.store', address);
  };
  const bothLanes = (vector: number) =>
    w.get(vector).lane('f64x2.extract_lane', 0).get(vector).lane('f64x2.extract_lane', 1).op('f64.add');

  adder.eachPiece(() => {
    w.get(start).get(m).i32(3).op('i32.shl', 'i32.add').set(end);
    for (const r of results) w.v128(0).set(means[r]);
    each(single => {
      for (const r of results) {
        w.get(means[r]).get(p).memory('v128.load', rowOf(r));
        if (single) firstLane();
        w.op('f64x2.add').set(means[r]);
      }
    });
    for (const r of results) {
      bothLanes(means[r]);
      reciprocal(() => w.get(m));
      w.op('f64.mul', 'f64x2.splat').set(means[r]);
    }
    adder.setShare(share, factor);
    for (const product of products) w.v128(0).set(product);
    each(single => {
      if (adapt) w.v128(0).set(square);
      for (const r of results) {
        w.get(p).memory('v128.load', rowOf(r)).tee(deltas[r]);
        if (adapt)
          w.get(deltas[r])
            .op('f64x2.mul')
            .i32(0)
            .memory('v128.load64_splat', lead(r))
            .op('f64x2.mul')
            .get(square)
            .op('f64x2.add')
            .set(square)
            .get(deltas[r]);
        w.get(means[r]).op('f64x2.sub');
        if (single) firstLane();
        w.set(deltas[r]);
        for (let s = 0; s <= r; s++) {
          const product = products[packedIndex(r, s)];
          w.get(deltas[r]).get(deltas[s]).op('f64x2.mul').get(product).op('f64x2.add').set(product);
        }
      }
      if (!adapt) return;
      w.get(square).get(factor).op('f64x2.splat', 'f64x2.mul', 'f64x2.nearest');
      if (single) firstLane();
      w.tee(square).get(squares).op('f64x2.add').set(squares);
      w.get(p).get(square).get(counted).op('f64x2.splat', 'f64x2.mul');
      if (single) w.memory('v128.store64_lane', k.increments, 0);
      else w.memory('v128.store', k.increments);
    });
    // Σ/(m − 1)·share: the share of the cube's covariance; that times share/m: of the covariance of the sum
    reciprocal(() => w.get(m).i32(1).op('i32.sub'));
    w.get(share).op('f64.mul').set(scale);
    w.get(scale).get(share).op('f64.mul');
    reciprocal(() => w.get(m));
    w.op('f64.mul').set(part);
    for (const r of results)
      addTo(k.sums + 8 * r, () => w.get(share).get(means[r]).lane('f64x2.extract_lane', 0).op('f64.mul'));
    products.forEach((product, i) => {
      addTo(k.sums + 8 * (k.results + i), () => bothLanes(product).get(part).op('f64.mul'));
    });
    for (const r of results)
      addTo(k.sums + 8 * (k.results + products.length + r), () => {
        bothLanes(products[packedIndex(r, r)]).get(part).op('f64.mul');
        w.set(spread).get(spread).get(spread).op('f64.mul');
      });
    if (cubes) {
      w.f64(0).set(norm).f64(0).set(spread);
      for (const r of results) {
        const leading = () => w.i32(0).memory('f64.load', lead(r)).op('f64.mul');
        w.get(means[r]).lane('f64x2.extract_lane', 0);
        w.get(means[r]).lane('f64x2.extract_lane', 0).op('f64.mul');
        leading().get(norm).op('f64.add').set(norm);
        bothLanes(products[packedIndex(r, r)]);
        leading().get(spread).op('f64.add').set(spread);
      }
      adder.addToCube(
        () => w.get(spread).get(scale).op('f64.mul'),
        () => w.get(norm).op('f64.sqrt').get(share).op('f64.mul'),
      );
    }
  });
  if (adapt) addTo(k.squares, () => bothLanes(squares));
  adder.addHistogram();
  return w;
}
