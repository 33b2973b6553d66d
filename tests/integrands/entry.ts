/**
 * One integrand of the catalogue: the function as a user would write it, where it is integrated, what the
 * integral is, and how closely a compiled version has to follow plain JavaScript.
 */

import type { SpecialFunctions } from '../../src/integrand/compile.ts';

export type Range = [from: number, to: number];

// biome-ignore lint/suspicious/noExplicitAny: a list of entries holds params of every type
export interface Entry<P = any> {
  /** The function and its dimensions, as `f4_8`. */
  name: string;
  /** Where it is defined. */
  paper: string;
  dims: number;
  /** One range an axis. Compiled programs see points only: this is where test points are drawn. */
  domain: Range[];
  params?: P;
  f: (x: number[], p: P, m: SpecialFunctions) => number;
  /** The integral over the domain; absent where no closed form is known. */
  truth?: number;
  /**
   * Largest |compiled − plain| / max(|plain|, scale). Both do the same arithmetic in the same order, but
   * their functions (exp, sin, …) may each differ in the last bit, and what follows may magnify that: exp(−s)
   * by s, for instance. 1e-14, which is 45 last bits, unless an entry says otherwise and why.
   */
  tolerance?: number;
  /** The size of the terms that cancel; values below it are compared absolutely. The smallest normal number. */
  scale?: number;
  /** Where a peak is, the same on every axis: half of the test points are drawn there. */
  focus?: Range;
}

/** Checks an entry's params against its function, and forgets their type. */
export const entry = <P>(e: Entry<P>): Entry => e;

/** The same range on every axis; the unit cube unless told. */
export const cube = (dims: number, from = 0, to = 1): Range[] =>
  Array.from({ length: dims }, () => [from, to]);
