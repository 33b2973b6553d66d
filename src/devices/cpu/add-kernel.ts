/**
 * How the sampling kernel (kernel.ts) weighs the values of a batch and adds them up, piece by piece; several-kernel.ts does the same
 * for an integrand with several results.
 *
 * The histogram adds integers, w² scaled and rounded, in float64: exact below 2⁵³, so the order of additions does
 * not matter.
 */
import { GOLDEN } from '../../tasks/counted.ts';
import { FunctionWriter } from '../../wasm/assembler.ts';
import { type KernelLayout, STATE } from './layout.ts';

/** values ← values · Jacobian; returns whether one of them is not finite. */
export function weighFunction(k: KernelLayout): FunctionWriter {
  const w = new FunctionWriter(['i32'], 'i32');
  const [p, end] = [w.local('i32'), w.local('i32')];
  const [value, wrong] = [w.local('v128'), w.local('v128')];
  w.get(0).i32(3).op('i32.shl').set(end);
  w.doWhileBelow(p, 16, end, () => {
    w.get(p).memory('v128.load', k.values).set(value);
    w.get(p).get(value).get(p).memory('v128.load', k.jacobian).op('f64x2.mul').memory('v128.store', k.values);
    w.get(value).v128(0).op('f64x2.mul').v128(0).op('f64x2.ne').get(wrong).op('v128.or').set(wrong);
  });
  w.get(wrong).op('v128.any_true');
  return w;
}

/** What adding the pieces of a batch has in common for one result and for several. */
export function pieceAdder(k: KernelLayout, w: FunctionWriter, adapt: boolean) {
  const [piece, pieces, p, start, end, m, cube, full, n] = Array.from({ length: 9 }, () => w.local('i32'));
  const [sample, some] = [w.local('i32'), w.local('i32')];
  const counted = w.local('f64');
  const load = (word: number) => w.i32(0).memory('i32.load', k.state + word);
  /** Whether the histogram counts the piece (tasks/counted.ts). */
  const setCounted = () => {
    w.get(sample);
    load(STATE.counted + 8)
      .op('i32.shr_u')
      .i32(GOLDEN | 0)
      .op('i32.mul');
    load(STATE.counted).op('i32.add');
    load(STATE.counted + 4)
      .op('i32.gt_u', 'i32.eqz')
      .tee(p)
      .op('f64.convert_i32_u')
      .set(counted);
    w.get(some).get(p).op('i32.or').set(some);
    w.get(sample).get(m).op('i32.add').set(sample);
  };
  return {
    ...{ p, start, end, m },
    /** 1 if the histogram counts the piece, else 0. */
    counted,
    /** Runs the body for each piece, with its number of samples in `m`; `start` is where its samples begin, in bytes. */
    eachPiece(body: () => void): void {
      if (adapt) load(STATE.first).set(sample);
      w.i32(0)
        .memory('i32.load', k.state + STATE.pieces)
        .i32(3)
        .op('i32.shl')
        .set(pieces);
      w.doWhileBelow(piece, 8, pieces, () => {
        w.get(piece).memory('i32.load', k.pieces).set(m);
        w.get(piece)
          .memory('i32.load', k.pieces + 4)
          .set(cube);
        w.get(cube).i32(2).op('i32.shl').memory('i32.load', k.full).set(full);
        if (adapt) setCounted();
        body();
        w.get(end).set(start);
      });
    },
    /** Pushes 1 over the whole number that is pushed. */
    reciprocal(push: () => void): void {
      push();
      w.i32(3).op('i32.shl').memory('f64.load', k.reciprocals);
    },
    /** Sets the piece's share of the cube's samples, and the factor of a sample's square in the histogram. */
    setShare(share: number, factor: number): void {
      w.f64(1)
        .get(full)
        .op('f64.convert_i32_u', 'f64.div')
        .tee(factor)
        .get(m)
        .op('f64.convert_i32_u', 'f64.mul')
        .set(share);
      if (!adapt) return;
      w.get(factor)
        .i32(0)
        .memory('f64.load', k.factors + 8)
        .op('f64.mul')
        .set(factor);
    },
    /** Adds what is pushed to the variance and the mean of the piece's cube. */
    addToCube(variance: () => void, mean: () => void): void {
      w.get(cube).i32(3).op('i32.shl').set(cube);
      for (const [row, push] of [
        [k.variances, variance],
        [k.means, mean],
      ] as const) {
        w.get(cube).get(cube).memory('f64.load', row);
        push();
        w.op('f64.add').memory('f64.store', row);
      }
    },
    /** Adds the increments of the batch to the bins of their samples, when the map adapts. */
    addHistogram(): void {
      if (!adapt) return;
      w.get(some).open('if');
      addHistogram(k, w, { p, n, bytes: start });
      w.close();
    },
  };
}

/** Adds the pieces of the batch to the sums, to the histogram when the map adapts, and to their cubes on request. */
export function addFunction(k: KernelLayout, adapt: boolean, cubes: boolean): FunctionWriter {
  const w = new FunctionWriter([], null);
  const adder = pieceAdder(k, w, adapt);
  const { p, start, end, m, counted } = adder;
  const [sum, mean, spread, share, delta, factor, value, part] = Array.from({ length: 8 }, () =>
    w.local('f64'),
  );
  const [integral, variance, concentration, squares] = Array.from({ length: 4 }, () => w.local('f64'));
  const sums = [integral, variance, concentration].map((local, i) => ({ local, at: k.sums + 8 * i }));
  if (adapt) sums.push({ local: squares, at: k.squares });
  for (const { local, at } of sums) w.i32(0).memory('f64.load', at).set(local);
  const each = (body: () => void) => {
    w.get(start).set(p);
    const top = w.open('loop');
    body();
    w.get(p).i32(8).op('i32.add').tee(p).get(end).op('i32.lt_u').brIf(top).close();
  };
  adder.eachPiece(() => {
    w.get(start).tee(p).get(m).i32(3).op('i32.shl', 'i32.add').set(end);
    w.f64(0).set(sum);
    each(() => w.get(sum).get(p).memory('f64.load', k.values).op('f64.add').set(sum));
    w.get(sum);
    adder.reciprocal(() => w.get(m));
    w.op('f64.mul').set(mean);
    adder.setShare(share, factor);
    w.f64(0).set(spread);
    each(() => {
      w.get(p).memory('f64.load', k.values).tee(value).get(mean).op('f64.sub').tee(delta);
      w.get(delta).op('f64.mul').get(spread).op('f64.add').set(spread);
      if (!adapt) return;
      w.get(value).get(value).op('f64.mul').get(factor).op('f64.mul', 'f64.nearest').set(value);
      w.get(squares).get(value).op('f64.add').set(squares);
      w.get(p).get(value).get(counted).op('f64.mul').memory('f64.store', k.increments);
    });
    w.get(share).get(mean).op('f64.mul').get(integral).op('f64.add').set(integral);
    w.get(spread);
    adder.reciprocal(() => w.get(m).i32(1).op('i32.sub'));
    w.op('f64.mul').get(share).op('f64.mul').set(spread); // now the share of the cube's variance
    w.get(spread).get(share).op('f64.mul');
    adder.reciprocal(() => w.get(m));
    w.op('f64.mul').tee(part).get(variance).op('f64.add').set(variance);
    w.get(part).get(part).op('f64.mul').get(concentration).op('f64.add').set(concentration);
    if (cubes)
      adder.addToCube(
        () => w.get(spread),
        () => w.get(share).get(mean).op('f64.mul'),
      );
  });
  for (const { local, at } of sums) w.i32(0).get(local).memory('f64.store', at);
  adder.addHistogram();
  return w;
}

/** Adds the increments of the batch, of as many bytes as the local `bytes` says, to the bins of their samples. */
function addHistogram(
  k: KernelLayout,
  w: FunctionWriter,
  { p, n, bytes }: Record<'p' | 'n' | 'bytes', number>,
): void {
  const [d, row, histogram, at] = Array.from({ length: 4 }, () => w.local('i32'));
  w.get(bytes).set(n);
  const axis = w.open('loop');
  w.get(d)
    .i32(k.batch * 8)
    .op('i32.mul')
    .set(row);
  w.get(d)
    .i32(k.bins * 8)
    .op('i32.mul')
    .set(histogram);
  w.doWhileBelow(p, 8, n, () => {
    w.get(row).get(p).op('i32.add').memory('i32.load', k.offsets).get(histogram).op('i32.add').tee(at);
    w.get(at)
      .memory('f64.load', k.histogram)
      .get(p)
      .memory('f64.load', k.increments)
      .op('f64.add')
      .memory('f64.store', k.histogram);
  });
  w.get(d).i32(1).op('i32.add').tee(d).i32(k.dims).op('i32.lt_u').brIf(axis).close();
}
