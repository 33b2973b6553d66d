/**
 * The look along all axes. The two-level estimate (errors.ts) compares halves with the whole along the one axis that was cut.
 * Where the integrand is singular in a corner, each halving mends a little of the error along each axis, and what is wrong along
 * the others stays unseen: (x₁ + … + x₅)^−1.7 was claimed to 3e-4 after three regions where it was off by 1.4e-3, and its
 * relative error stays the same however small the region at the corner is.
 *
 * So before a claim the regions with the largest errors are halved along each axis in turn, and the halves evaluated. With
 * dₐ = |left + right − whole| along axis a, Σ dₐ is about the error of the whole: each dₐ is nearly all of the error along its axis
 * if the integrand is smooth. In a corner where the integral over a region of width h goes with h^s, Σ dₐ is n·(1 − 2^(−s/n)) of the error,
 * which is more than half of it from s = 0.8 on. A region with a smaller error gets Σ dₐ as its error, and the axis with the largest dₐ
 * to be halved along.
 *
 * A region is looked at once per result: leaves of the tree of halvings are never the same region again.
 */
import type { Ranges } from '../region.ts';
import { canHalve, emptyRegions, HALVED, type Regions } from './regions.ts';
import type { RegionStore } from './store.ts';

export class AllAxes {
  readonly #ranges: Ranges;
  /** For each result, the leaves of regions that were looked at. */
  readonly #looked = new Map<number, Set<number>>();

  constructor(ranges: Ranges) {
    this.#ranges = ranges;
  }

  /**
   * Looks at the regions with the largest errors of a result, with at most `affordable` evaluations of regions; returns whether
   * an error was raised.
   */
  async look(
    store: RegionStore,
    result: number,
    affordable: number,
    evaluate: (halves: Regions) => Promise<unknown>,
  ): Promise<boolean> {
    const dims = this.#ranges.length;
    const which = this.#worst(store, result, Math.floor(affordable / (2 * dims)));
    if (which.length === 0) return false;
    const halves = this.#halves(store, which);
    await evaluate(halves);
    const { values, errors, axes } = store.columns[result];
    let raised = false;
    which.forEach((region, k) => {
      let [sum, most] = [0, 0];
      for (let axis = 0; axis < dims; axis++) {
        const left = result * halves.count + 2 * (k * dims + axis);
        const d = Math.abs(halves.values[left] + halves.values[left + 1] - values[region]);
        sum += d;
        if (!(d > most) || sum <= errors[region]) continue;
        most = d;
        axes[region] = axis;
      }
      if (sum <= errors[region]) return;
      errors[region] = sum;
      raised = true;
    });
    if (raised) store.renew();
    return raised;
  }

  /** The regions with the largest errors that nobody has looked at, at most `most` of them. */
  #worst(store: RegionStore, result: number, most: number): Uint32Array {
    if (most < 1) return new Uint32Array(0);
    const looked = this.#looked.get(result) ?? new Set();
    this.#looked.set(result, looked);
    const { errors } = store.columns[result];
    const worst: number[] = []; // by falling errors, equal ones in the order of the store
    for (let i = 0; i < store.count; i++) {
      const error = errors[i];
      if (!(error > 0) || error <= errors[worst[most - 1]]) continue;
      if (looked.has(store.nodes[i]) || !this.#canHalve(store, i)) continue;
      let at = worst.length;
      while (at > 0 && errors[worst[at - 1]] < error) at--;
      worst.splice(at, 0, i);
      if (worst.length > most) worst.pop();
    }
    const which = Uint32Array.from(worst).sort();
    for (const i of which) looked.add(store.nodes[i]);
    return which;
  }

  /** Whether a region can be halved along every axis. */
  #canHalve(store: RegionStore, region: number): boolean {
    return this.#ranges.every((range, d) => canHalve(store.centre(region, d), store.level(region, d), range));
  }

  /** For each of these regions and each axis, both halves along it. */
  #halves(store: RegionStore, which: Uint32Array): Regions {
    const dims = this.#ranges.length;
    const list = emptyRegions(dims, 2 * dims * which.length);
    which.forEach((region, k) => {
      for (let d = 0; d < dims; d++) {
        const from = d * list.count + 2 * k * dims;
        const level = store.level(region, d);
        list.levels.fill(level, from, from + 2 * dims);
        list.centres.fill(store.centre(region, d), from, from + 2 * dims);
        const [low, high] = this.#ranges[d];
        const offset = ((high - low) / 2) * HALVED[level + 1];
        for (const [half, side] of [-1, 1].entries()) {
          list.levels[from + 2 * d + half] = level + 1;
          list.centres[from + 2 * d + half] += side * offset;
        }
      }
    });
    return list;
  }
}
