/** Cuts an axis into cells (cells.ts). */
import type { Cell } from './cells.ts';
import { innerRange, nextDown, nextUp } from './inner-range.ts';

/** Cells per axis, at most: choosing one costs a comparison each, for every point. */
export const MAX_CELLS = 64;

/** `isCut` tells whether the coordinate at z is that of a cut: rounded, it may be for numbers beside the cut as well. */
export function cellsOf(
  [low, high]: readonly [number, number],
  breaks: readonly number[],
  peaks: readonly number[],
  isCut: (z: number) => boolean,
): Cell[] {
  const sorted = distinct(peaks);
  const middles = sorted.slice(1).map((c, i) => c - (c - sorted[i]) / 2);
  const cuts = distinct([low, high, ...breaks, ...sorted, ...middles]);
  while (!Number.isInteger(Math.log2(cuts.length - 1)))
    cuts.push(middleOfWidest(cuts)) && cuts.sort(ascending);
  return cuts.slice(1).map((to, k): Cell => {
    const from = cuts[k];
    const [atLow, atHigh] = [sorted.includes(from), sorted.includes(to)];
    const [first, last] = [beside(from, to, nextUp, isCut), beside(to, from, nextDown, isCut)];
    return {
      anchor: atHigh ? to : from,
      width: to - from,
      shift: atHigh ? k + 1 : k,
      peak: atLow || atHigh,
      ...(first < last
        ? { first, last }
        : { first: innerRange([from, to])[0], last: innerRange([from, to])[1] }),
    };
  });
}

/** The number beside a cut whose coordinate is another; the steps double, since coordinates may be rounded. */
function beside(
  cut: number,
  other: number,
  next: (z: number) => number,
  isCut: (z: number) => boolean,
): number {
  let [step, z] = [next(cut) - cut, next(cut)];
  while (isCut(z) && Math.abs(z - cut) < Math.abs(other - cut) / 4) {
    step *= 2;
    z = cut + step;
  }
  return z;
}

function middleOfWidest(cuts: readonly number[]): number {
  const widths = cuts.slice(1).map((c, i) => c - cuts[i]);
  const widest = widths.indexOf(Math.max(...widths));
  return cuts[widest] + widths[widest] / 2;
}

const ascending = (a: number, b: number) => a - b;
const distinct = (list: readonly number[]): number[] => [...new Set(list)].sort(ascending);
