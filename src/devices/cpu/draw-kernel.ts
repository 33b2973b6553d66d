/**
 * How the sampling kernel (kernel.ts) draws the points of a batch.
 *
 * Coordinate: u = (w + ½)·2⁻³² from a Philox word w; t = (k + u)·bins/strata in stratum k; bin ⌊t⌋; x linear in
 * the bin. k + u is exact and the product rounds once, so every float64 device finds the same bin. The word becomes
 * a float by its bits: 2²⁰ + w·2⁻³² has exponent word 0x413 and w as its low bits, and one exact subtraction of
 * 2²⁰ − 2⁻³³ − k ("corner" below) leaves k + u.
 */
import { MULTIPLIERS, ROUNDS } from '../../random/philox.ts';
import { FunctionWriter } from '../../wasm/assembler.ts';
import { CORNER, type KernelLayout, STATE } from './layout.ts';

/** Chooses the pieces of the next batch and writes their corners; returns the number of samples. */
export function placeFunction(k: KernelLayout): FunctionWriter {
  const w = new FunctionWriter([], 'i32');
  const [n, pieces, cursor, cubes, left, m, d, row, end] = Array.from({ length: 9 }, () => w.local('i32'));
  const corner = w.local('v128');
  const load = (field: keyof typeof STATE, into: number) =>
    w
      .i32(0)
      .memory('i32.load', k.state + STATE[field])
      .set(into);
  const store = (field: keyof typeof STATE, push: () => void) => {
    w.i32(0);
    push();
    w.memory('i32.store', k.state + STATE[field]);
  };
  load('cursor', cursor);
  load('cubes', cubes);
  const done = w.open('block');
  const next = w.open('loop');
  w.get(cursor).get(cubes).op('i32.ge_u').brIf(done);
  // m: all that is left of the cube, or a full batch; never so many that a single sample is left
  w.get(cursor).i32(2).op('i32.shl').memory('i32.load', k.take);
  w.i32(0)
    .memory('i32.load', k.state + STATE.taken)
    .op('i32.sub')
    .tee(left)
    .set(m);
  w.get(left).i32(k.batch).op('i32.gt_u').open('if');
  w.i32(k.batch)
    .i32(k.batch - 2)
    .get(left)
    .i32(k.batch + 1)
    .op('i32.ne', 'select')
    .set(m);
  w.close();
  w.get(n).get(m).op('i32.add').i32(k.batch).op('i32.gt_u').brIf(done);
  // piece: samples, cube
  w.get(pieces).i32(3).op('i32.shl').get(m).memory('i32.store', k.pieces);
  w.get(pieces)
    .i32(3)
    .op('i32.shl')
    .get(cursor)
    .memory('i32.store', k.pieces + 4);
  w.get(pieces).i32(1).op('i32.add').set(pieces);
  w.i32(0)
    .memory('i32.load', k.state + STATE.stratified)
    .open('if');
  {
    const axis = w.open('loop');
    w.get(d).i32(3).op('i32.shl').memory('v128.load64_splat', k.corners).set(corner);
    w.get(d)
      .i32(k.batch)
      .op('i32.mul')
      .get(n)
      .op('i32.add')
      .i32(3)
      .op('i32.shl')
      .tee(row)
      .get(m)
      .i32(3)
      .op('i32.shl', 'i32.add')
      .set(end);
    // two numbers at a time; an odd last one alone, since the number behind it belongs to the next axis
    const fill = w.open('loop');
    w.get(row).get(corner).memory('v128.store', k.strata);
    w.get(row).i32(16).op('i32.add').tee(row).i32(8).op('i32.add').get(end).op('i32.lt_u').brIf(fill).close();
    w.get(row).get(end).op('i32.lt_u').open('if');
    w.get(row).get(corner).memory('v128.store64_lane', k.strata, 0).close();
    w.get(d).i32(1).op('i32.add').tee(d).i32(k.dims).op('i32.lt_u').brIf(axis).close();
    w.i32(0).set(d);
  }
  w.close();
  w.get(n).get(m).op('i32.add').set(n);
  w.get(left).get(m).op('i32.eq').open('if');
  {
    // the cube is done: the next one is a step along the first axis that does not wrap
    w.get(cursor).i32(1).op('i32.add').set(cursor);
    store('taken', () => w.i32(0));
    const stop = w.open('block');
    const axis = w.open('loop');
    const at = () => w.get(d).i32(3).op('i32.shl');
    at();
    at().memory('f64.load', k.corners).f64(1).op('f64.sub').memory('f64.store', k.corners);
    at().memory('f64.load', k.corners);
    at().memory('f64.load', k.limits).op('f64.ne').brIf(stop);
    at().f64(CORNER).memory('f64.store', k.corners);
    w.get(d).i32(1).op('i32.add').tee(d).i32(k.dims).op('i32.lt_u').brIf(axis);
    w.close().close();
    w.i32(0).set(d);
  }
  w.else();
  store('taken', () =>
    w
      .i32(0)
      .memory('i32.load', k.state + STATE.taken)
      .get(m)
      .op('i32.add'),
  );
  w.close();
  w.br(next);
  w.close().close();
  store('cursor', () => w.get(cursor));
  store('pieces', () => w.get(pieces));
  w.get(n);
  return w;
}

/** Sets where the points of a group of four axes begin, and its part of the map, both in bytes. */
export function findGroup(k: KernelLayout, w: FunctionWriter, group: number, rows: number, maps: number) {
  const times = (bytes: number) => w.get(group).i32(bytes).op('i32.mul');
  times(4 * k.batch * 8).set(rows);
  times(4 * (k.bins + 1) * 8).set(maps);
}

/** The Jacobians of four samples, in two locals; `p` is the place of the first one, in bytes. */
export function loadJacobian(k: KernelLayout, w: FunctionWriter, p: number, [a, b]: readonly number[]) {
  w.get(p).memory('v128.load', k.jacobian).set(a);
  const next = k.jacobian + 16;
  w.get(p).memory('v128.load', next).set(b);
}

export function storeJacobian(k: KernelLayout, w: FunctionWriter, p: number, [a, b]: readonly number[]) {
  w.get(p).get(a).memory('v128.store', k.jacobian);
  const next = k.jacobian + 16;
  w.get(p).get(b).memory('v128.store', next);
}

/** Draws `axes` coordinates, those from 4·group on, of n samples. */
export function groupFunction(k: KernelLayout, axes: number, adapt: boolean): FunctionWriter {
  const w = new FunctionWriter(['i32', 'i32'], null);
  const [group, n] = [0, 1];
  const [rows, maps, scales, p, a0, a1, end] = Array.from({ length: 7 }, () => w.local('i32'));
  const [base, counter, t, bin, low, high, width] = Array.from({ length: 7 }, () => w.local('v128'));
  const c = Array.from({ length: 4 }, () => w.local('v128'));
  const jac = [w.local('v128'), w.local('v128')];
  const [p0, p1, q0, q1] = Array.from({ length: 4 }, () => w.local('v128'));
  findGroup(k, w, group, rows, maps);
  w.get(group).i32(32).op('i32.mul').set(scales);
  w.get(n).i32(3).op('i32.shl').set(end);
  const state = (field: keyof typeof STATE) => w.i32(0).memory('i32.load', k.state + STATE[field]);
  state('sampleLow').op('i32x4.splat').tee(base).words(0, 1, 2, 3).op('i32x4.add').set(counter);
  w.doWhileBelow(p, 32, end, () => {
    // the counter; where the low word of the sample number wrapped, the high word, which is above the group, is one more
    w.get(counter).tee(c[0]).words(4, 4, 4, 4).op('i32x4.add').set(counter);
    state('sampleHigh').i32(8).op('i32.shl').get(group).op('i32.add', 'i32x4.splat');
    w.get(c[0]).get(base).op('i32x4.lt_u').words(256, 256, 256, 256).op('v128.and', 'i32x4.add').set(c[1]);
    state('iteration').op('i32x4.splat').set(c[2]);
    state('stream').op('i32x4.splat').set(c[3]);
    const [m0, m1] = MULTIPLIERS;
    for (let round = 0; round < ROUNDS; round++) {
      w.get(c[0]).words(m0, m0, m0, m0).op('i64x2.extmul_low_i32x4_u').set(p0);
      w.get(c[0]).words(m0, m0, m0, m0).op('i64x2.extmul_high_i32x4_u').set(p1);
      w.get(c[2]).words(m1, m1, m1, m1).op('i64x2.extmul_low_i32x4_u').set(q0);
      w.get(c[2]).words(m1, m1, m1, m1).op('i64x2.extmul_high_i32x4_u').set(q1);
      const key = (i: number) => w.i32(0).memory('v128.load', k.keys + (2 * round + i) * 16);
      w.get(q0).get(q1).shuffle32(1, 3, 5, 7).get(c[1]).op('v128.xor');
      key(0).op('v128.xor').set(c[0]);
      w.get(p0).get(p1).shuffle32(1, 3, 5, 7).get(c[3]).op('v128.xor');
      key(1).op('v128.xor').set(c[2]);
      w.get(q0).get(q1).shuffle32(0, 2, 4, 6).set(c[1]);
      w.get(p0).get(p1).shuffle32(0, 2, 4, 6).set(c[3]);
    }
    loadJacobian(k, w, p, jac);
    for (let j = 0; j < axes; j++) {
      const row = j * k.batch * 8;
      const map = k.edges + j * (k.bins + 1) * 8;
      for (const h of [0, 1]) {
        const at = () => w.get(rows).get(p).op('i32.add');
        w.get(c[j]).words(0x41300000, 0x41300000, 0x41300000, 0x41300000);
        if (h === 0) w.shuffle32(0, 4, 1, 5);
        else w.shuffle32(2, 6, 3, 7);
        at()
          .memory('v128.load', k.strata + row + 16 * h)
          .op('f64x2.sub');
        w.get(scales)
          .memory('v128.load64_splat', k.scales + 8 * j)
          .op('f64x2.mul')
          .tee(t);
        w.op('f64x2.floor')
          .tee(bin)
          .v128(2 ** 49)
          .op('f64x2.add')
          .set(low); // its low words: 8·bin
        w.get(low).lane('i32x4.extract_lane', 0).get(maps).op('i32.add').set(a0);
        w.get(low).lane('i32x4.extract_lane', 2).get(maps).op('i32.add').set(a1);
        if (adapt)
          at()
            .get(low)
            .memory('v128.store', k.offsets + row + 16 * h);
        // edges e(bin), e(bin + 1) of both points
        w.get(a0)
          .memory('v128.load', map)
          .tee(low)
          .get(a1)
          .memory('v128.load', map)
          .tee(high)
          .shuffle32(0, 1, 4, 5);
        w.get(low).get(high).shuffle32(2, 3, 6, 7).set(high);
        w.set(low).get(high).get(low).op('f64x2.sub').set(width);
        at()
          .get(low)
          .get(t)
          .get(bin)
          .op('f64x2.sub')
          .get(width)
          .op('f64x2.mul', 'f64x2.add')
          .memory('v128.store', k.points + row + 16 * h);
        w.get(jac[h]).get(width).op('f64x2.mul').set(jac[h]);
      }
    }
    storeJacobian(k, w, p, jac);
  });
  return w;
}

/** Draws the next batch; returns the number of samples, 0 at the end of the chunk. */
export function drawFunction(k: KernelLayout, place: number, four: number, last: number): FunctionWriter {
  const w = new FunctionWriter([], 'i32');
  const [n, p, end, g] = Array.from({ length: 4 }, () => w.local('i32'));
  const one = w.local('v128');
  w.call(place).tee(n).op('i32.eqz').open('if');
  w.i32(0).op('return').close();
  w.get(n).i32(3).op('i32.shl').set(end);
  w.i32(0).memory('v128.load64_splat', k.factors).set(one);
  w.doWhileBelow(p, 16, end, () => w.get(p).get(one).memory('v128.store', k.jacobian));
  const groups = Math.ceil(k.dims / 4);
  if (groups > 1) {
    const count = w.local('i32');
    w.i32(groups - 1).set(count);
    w.doWhileBelow(g, 1, count, () => w.get(g).get(n).call(four));
  }
  w.i32(groups - 1)
    .get(n)
    .call(last);
  // the next batch starts behind this one
  const low = w.local('i32');
  const address = (field: 'sampleLow' | 'sampleHigh' | 'first') => k.state + STATE[field];
  w.i32(0).i32(0).memory('i32.load', address('sampleLow')).memory('i32.store', address('first'));
  w.i32(0)
    .i32(0)
    .memory('i32.load', address('sampleLow'))
    .get(n)
    .op('i32.add')
    .tee(low)
    .memory('i32.store', address('sampleLow'));
  w.get(low).get(n).op('i32.lt_u').open('if');
  w.i32(0)
    .i32(0)
    .memory('i32.load', address('sampleHigh'))
    .i32(1)
    .op('i32.add')
    .memory('i32.store', address('sampleHigh'));
  w.close();
  w.get(n);
  return w;
}
