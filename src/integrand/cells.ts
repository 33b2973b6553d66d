/**
 * Cells: an axis that is cut at given places, as a change of variable that every method and every device profits from.
 *
 * The axis is sampled in u from 0 to 1. Its m cells, m a power of two, have equal parts of that, so that the cuts lie at
 * u = k/m: where regions are halved, and strata and bins begin. A break (a kink or a step of the integrand) is the border of two
 * cells, and inside of each of them z is linear in u. A peak is a border as well, towards which both cells become dense:
 *
 *     z = c + w·t^5,    dz/du = 5·m·w·t^4,     t from 0 at the peak to ±1 at the other end of the cell of width w.
 *
 * What lies within 2e-4 of the width of the axis has a fifth of u so, and within 2e-8 a thirtieth: whoever looks for a peak
 * there finds it, though its width is not known. A Gaussian of deviation 1e-4 in four dimensions takes `auto` 6.4e5 evaluations to
 * 1e-3, with t³ 1.2e6 and with t⁷ 7.9e5; one of deviation 0.05 takes 7.9e5, and 3.4e5 without the map (_trial_). Rules of cubature pay
 * more for it, since a peak becomes 2^n bumps around its centre, one for each side of each axis, for every map that is dense around the
 * peak. So from four dimensions on `pagani` has regions that are nested around the point instead (../tasks/pool/nested-start.ts), on axes
 * that are not stretched: 5e5 to 1.3e6 evaluations to 1e-3 for Gaussians of deviations 0.1 to 1e-5 in four dimensions, with the map 3e6 to
 * 1e7; in five 1.7e6 to 7e6, with the map more than 3e7. In two and three it is no gain: Lorentzians take twice as many (_trial_). `auto`
 * has one domain for both its methods, and the map. Between two peaks the axis is cut in the middle.
 */

/** A part of an axis, from `low` to `high`: z = anchor + width·t, or with t^5 where the anchor is a peak. */
export interface Cell {
  /** Where t is 0. */
  anchor: number;
  width: number;
  /** t = m·u − shift. */
  shift: number;
  /** Whether z is dense at the anchor. */
  peak: boolean;
  /** The first and the last number inside of the cell: no point lies on a break. */
  first: number;
  last: number;
}

/** The range of z that cells cover. */
export function rangeOfCells(cells: readonly Cell[]): [number, number] {
  const [first, last] = [cells[0], cells[cells.length - 1]];
  return [first.anchor - first.width * first.shift, last.anchor + last.width * (cells.length - last.shift)];
}

/** The part of u that is closer to an end of the axis than the distance `gap` in z. */
export function gapInCells(cells: readonly Cell[], inward: 1 | -1, gap: number): number {
  const { width, peak, shift } = inward > 0 ? cells[0] : cells[cells.length - 1];
  const part = gap / width;
  const anchored = inward > 0 ? shift === 0 : shift === cells.length; // whether t is 0 at this end
  return (peak ? (anchored ? part ** 0.2 : part / 5) : part) / cells.length;
}
