/**
 * What the sampling kernel (kernel.ts) draws for a lattice (random/lattice.ts): words that grow by a step from sample to
 * sample, folded on request, and a cubic in each bin of the map (tasks/smooth-map.ts). All shifts have a multiple of `batch`
 * samples, so a batch is one piece, of one shift.
 */
import { FunctionWriter } from '../../wasm/assembler.ts';
import { findGroup, loadJacobian, storeJacobian } from './draw-kernel.ts';
import { CORNER, type KernelLayout, STATE } from './layout.ts';

/** Draws `axes` coordinates, those from 4·group on, of the n samples of a batch: the counterpart of groupFunction in draw-kernel.ts. */
export function latticeFunction(k: KernelLayout, axes: number): FunctionWriter {
  const w = new FunctionWriter(['i32', 'i32'], null);
  const [group, n] = [0, 1];
  const [rows, maps, shifts, folded, sample, p, a0, a1, end] = Array.from({ length: 9 }, () =>
    w.local('i32'),
  );
  const [t, low, high, width, slope, last, a, b, mask] = Array.from({ length: 9 }, () => w.local('v128'));
  const word = Array.from({ length: axes }, () => w.local('v128'));
  const ahead = Array.from({ length: axes }, () => w.local('v128'));
  const jac = [w.local('v128'), w.local('v128')];
  const state = (field: keyof typeof STATE) => w.i32(0).memory('i32.load', k.state + STATE[field]);
  findGroup(k, w, group, rows, maps);
  w.get(n).i32(3).op('i32.shl').set(end);
  state('folded').set(folded);
  w.i32(0).get(folded).op('i32.sub', 'i32x4.splat').set(mask);
  state('sampleLow').set(sample);
  // the shift of the batch: its only piece says to which one it belongs
  w.i32(0)
    .memory('i32.load', k.pieces + 4)
    .i32(k.dims * 4)
    .op('i32.mul')
    .get(group)
    .i32(16)
    .op('i32.mul', 'i32.add')
    .set(shifts);
  for (let j = 0; j < axes; j++) {
    const step = () =>
      w
        .get(group)
        .i32(16)
        .op('i32.mul')
        .memory('i32.load', k.steps + 4 * j);
    w.get(shifts).memory('i32.load', k.shifts + 4 * j);
    step().get(sample).op('i32.mul', 'i32.add', 'i32x4.splat');
    step().op('i32x4.splat').words(0, 1, 2, 3).op('i32x4.mul', 'i32x4.add').set(word[j]);
    step().i32(2).op('i32.shl', 'i32x4.splat').set(ahead[j]);
  }
  w.doWhileBelow(p, 32, end, () => {
    loadJacobian(k, w, p, jac);
    for (let j = 0; j < axes; j++) {
      const row = j * k.batch * 8;
      const map = j * (k.bins + 1) * 8;
      const bits = last; // free until slopes are read
      for (const h of [0, 1]) {
        // (word << 1) ^ (word >> 31) where words are folded, else the word
        w.get(word[j]).get(folded).op('i32x4.shl');
        w.get(word[j]).i32(31).op('i32x4.shr_s').get(mask).op('v128.and', 'v128.xor').set(bits);
        w.get(bits).words(0x41300000, 0x41300000, 0x41300000, 0x41300000);
        if (h === 0) w.shuffle32(0, 4, 1, 5);
        else w.shuffle32(2, 6, 3, 7);
        w.v128(CORNER).op('f64x2.sub');
        w.get(group)
          .i32(32)
          .op('i32.mul')
          .memory('v128.load64_splat', k.scales + 8 * j)
          .op('f64x2.mul')
          .tee(t);
        w.op('f64x2.floor').tee(low); // the bins
        w.v128(2 ** 49)
          .op('f64x2.add')
          .set(high); // its low words: 8·bin
        w.get(high).lane('i32x4.extract_lane', 0).get(maps).op('i32.add').set(a0);
        w.get(high).lane('i32x4.extract_lane', 2).get(maps).op('i32.add').set(a1);
        w.get(t).get(low).op('f64x2.sub').set(t); // now the part of the bin
        const pairs = (table: number, first: number, second: number) => {
          // numbers bin and bin + 1 of both points
          w.get(a0)
            .memory('v128.load', table + map)
            .tee(first)
            .get(a1)
            .memory('v128.load', table + map)
            .tee(second)
            .shuffle32(0, 1, 4, 5);
          w.get(first).get(second).shuffle32(2, 3, 6, 7).set(second);
          w.set(first);
        };
        pairs(k.edges, low, high);
        pairs(k.slopes, slope, last);
        w.get(high).get(low).op('f64x2.sub').set(width);
        w.get(slope).get(last).op('f64x2.add').get(width).get(width).op('f64x2.add', 'f64x2.sub').set(a);
        w.get(width).get(slope).op('f64x2.sub').get(a).op('f64x2.sub').set(b);
        // x = min(high, low + s·(slope + s·(b + s·a)))
        w.get(rows).get(p).op('i32.add');
        w.get(high).get(low).get(t).get(slope).get(t).get(b).get(t).get(a);
        w.op('f64x2.mul', 'f64x2.add', 'f64x2.mul', 'f64x2.add', 'f64x2.mul', 'f64x2.add', 'f64x2.min');
        w.memory('v128.store', k.points + row + 16 * h);
        // slope + s·(2b + s·3a)
        w.get(jac[h]).get(slope).get(t).get(b).get(b).op('f64x2.add').get(t).v128(3).get(a);
        w.op('f64x2.mul', 'f64x2.mul', 'f64x2.add', 'f64x2.mul', 'f64x2.add', 'f64x2.mul').set(jac[h]);
      }
      w.get(word[j]).get(ahead[j]).op('i32x4.add').set(word[j]);
    }
    storeJacobian(k, w, p, jac);
  });
  return w;
}
