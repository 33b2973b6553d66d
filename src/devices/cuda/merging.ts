/** An iteration that several cards ran parts of, put together as if one card had run it: the same bits. */
import { ADDERS, type Layout, piecesOfGroup, SUMS, type Totals } from './sampling.ts';

/** Groups from one on. */
export interface Part {
  first: number;
  groups: number;
}

/** What a part came to. */
export interface PartSums {
  totals: Totals;
  /** SUMS numbers a group. */
  sums: Float64Array;
  means: Float64Array | null;
  variances: Float64Array | null;
}

export class Merging {
  readonly means: Float64Array | null;
  readonly variances: Float64Array | null;
  readonly #perGroup: number;
  readonly #sums: Float64Array;
  readonly #totals = new Map<Part, Totals>();

  constructor(layout: Layout) {
    const { groups, plan, wanted } = layout;
    this.#perGroup = piecesOfGroup(layout);
    this.#sums = new Float64Array(SUMS * groups);
    this.means = wanted.means ? new Float64Array(plan.items) : null;
    this.variances = wanted.variances ? new Float64Array(plan.items) : null;
  }

  /** A part; one that is run again, since its card was lost, takes its own place. */
  put(part: Part, { totals, sums, means, variances }: PartSums): void {
    this.#totals.set(part, totals);
    this.#sums.set(sums, SUMS * part.first);
    if (means) this.means?.set(means, part.first * this.#perGroup);
    if (variances) this.variances?.set(variances, part.first * this.#perGroup);
  }

  get totals(): Totals {
    const parts = [...this.#totals.values()];
    const [sum, variance, squares, concentration] = [0, 1, 2, 3].map(k => addGroups(this.#sums, k));
    return {
      sum,
      variance,
      squares,
      concentration,
      evaluations: parts[0].evaluations,
      wrong: parts.reduce((n, t) => n + t.wrong, 0),
      first: Math.min(...parts.map(t => t.first)),
    };
  }
}

/** Number k of every group, added up in the order of sample.cu: by the threads of a block, and over these as a tree. */
function addGroups(sums: Float64Array, k: number): number {
  const own = new Float64Array(ADDERS);
  for (let g = 0; SUMS * g < sums.length; g++) own[g % ADDERS] += sums[SUMS * g + k];
  let total = 0;
  for (let warp = 0; warp < ADDERS; warp += 32) {
    for (let step = 16; step >= 1; step /= 2)
      for (let lane = warp; lane < warp + step; lane++) own[lane] += own[lane + step];
    total += own[warp];
  }
  return total;
}

/** Counters of all cards; they wrap around where those of one card would. */
export function addCounters(lists: Iterable<BigUint64Array>): BigUint64Array | null {
  let sum: BigUint64Array | null = null;
  for (const list of lists) {
    if (!sum) sum = list.slice();
    else for (let i = 0; i < list.length; i++) sum[i] += list[i];
  }
  return sum;
}
