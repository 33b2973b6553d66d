/**
 * Random parameters of integrands, from a seed. Most draws are not uniform: edges lie where a rule that halves regions is
 * tempted to overlook them, and sizes are uniform in their logarithm.
 */
import { Random } from '../compiler/random.ts';

export interface DrawOptions {
  /** All axes get the same parameters, for `mcubes1d`. */
  symmetric?: boolean;
  /** Features fill at least 2 % of the domain and f² is integrable, so that 1e5 plain samples can check the truth. */
  tame?: boolean;
}

/** The outermost point of the rule of degree 9 is at 0.956 of the half-width: the last 2.2 % of a cell are out of its sight. */
const UNSEEN_PART = 0.022;

/** The smallest part of the domain that a feature fills: a method that makes 1e5 evaluations has had some of them there. */
export const LEAST_FRACTION = 1e-4;

export class Draw extends Random {
  readonly symmetric: boolean;
  readonly tame: boolean;

  constructor(seed: number, { symmetric = false, tame = false }: DrawOptions = {}) {
    super(seed);
    this.symmetric = symmetric;
    this.tame = tame;
  }

  between(from: number, to: number): number {
    return from + this.unit() * (to - from);
  }

  /** A positive number whose logarithm is uniform. */
  size(from: number, to: number): number {
    return from * (to / from) ** this.unit();
  }

  /** +1, or in one of four draws −1. */
  sign(): number {
    return this.chance(0.25) ? -1 : 1;
  }

  /** One number per axis; the same one for all axes when the integrand has to be symmetric. */
  perAxis(dims: number, one: (axis: number) => number): Float64Array {
    if (this.symmetric) return new Float64Array(dims).fill(one(0));
    return Float64Array.from({ length: dims }, (_, axis) => one(axis));
  }

  /** `dims` numbers whose product is `product`. */
  factors(dims: number, product: number): Float64Array {
    const powers = this.perAxis(dims, () => this.between(0.4, 1));
    const sum = powers.reduce((s, p) => s + p);
    return powers.map(p => product ** (p / sum));
  }

  /** The part of the domain that a feature fills. */
  fraction(): number {
    return this.tame ? this.between(0.02, 0.3) : this.size(LEAST_FRACTION, 0.3);
  }

  /** A place in (0, 1) for an edge: anywhere, or in, at or beside a cell that halving makes. */
  edge(): number {
    const cells = 2 ** this.below(5);
    const cell = this.below(cells);
    const place = this.weighted<() => number>([
      [4, () => this.unit()],
      [2, () => 0.5 + (this.chance(0.5) ? 1 : -1) * this.size(1e-6, 0.1)],
      [1, () => (cell + 0.5) / cells],
      [1, () => (cell + 0.5 + (this.chance(0.5) ? 1 : -1) * this.size(1e-6, 0.01)) / cells],
      [1, () => (cell + UNSEEN_PART * this.unit()) / cells],
      [1, () => (cell + 1 - UNSEEN_PART * this.unit()) / cells],
    ])();
    return Math.min(1 - 1e-6, Math.max(1e-6, place));
  }

  /** An interval of a given width in [0, 1], one of whose ends is an edge if there is room. */
  interval(width: number): [from: number, to: number] {
    const edge = this.edge();
    const from = this.chance(0.5) ? edge : edge - width;
    const inside = from >= 0 && from + width <= 1 ? from : this.unit() * (1 - width);
    return [inside, inside + width];
  }

  /** p of a tail x^−p with a finite integral; in half of the draws so close to 1 that the tail beyond 2^53 matters. */
  tailPower(): number {
    if (this.tame) return this.between(2.5, 4);
    return this.chance(0.5) ? 1 + this.size(0.02, 0.3) : this.between(1.3, 4);
  }

  /** a of a singularity x^−a with a finite integral; in one of four draws close to 1. */
  endPower(): number {
    if (this.tame) return this.between(0.1, 0.45);
    return this.chance(0.25) ? 1 - this.size(0.03, 0.3) : this.between(0.05, 0.8);
  }
}
