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
 * more for it, since a peak becomes 2^n bumps around its centre, one for each side of each axis: `pagani` alone takes 6e6 for the
 * first one and 5.6e6 for the wide one, which takes 3.0e5 without the map. That is so for every map that is dense around the peak, and
 * not for t⁵ alone: with linear cells at c ± w·ρ^-k, ρ from 4 to 32, it took 1.5e6 to 1.7e7 (_trial_). What would help `pagani` are regions
 * that are nested around the point before the run, on an axis that is not stretched; `auto` has `vegas+` beside it and does not need them. Between two peaks the
 * axis is cut in the middle.
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
