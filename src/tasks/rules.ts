/**
 * Fully symmetric cubature rules on [−1, 1]ⁿ with null rules: Berntsen, Espelid and Genz, "An adaptive algorithm for
 * the approximate calculation of multiple integrals" and "Algorithm 698: DCUHRE", ACM TOMS 17 (1991); Genz and Malik,
 * "An imbedded family of fully symmetric numerical integration rules", SIAM J. Numer. Anal. 20 (1983).
 *
 * A rule has one weight per orbit. An orbit is a set of points that permutations and sign changes of coordinates map to
 * each other, so odd powers integrate to 0 whatever the weights are. A null rule is another set of weights for the same
 * points, which gives 0 for every polynomial up to some lower degree; for an integrand it gives a number of the size of
 * the terms of higher degree. Several null rules of falling degree tell whether these terms shrink, as they do where a
 * function is smooth. Two successive null rules span a plane of null rules. The one in this plane with the largest result
 * relative to the sum of its absolute weights has weight 0 on some orbit, so one candidate per orbit finds it.
 */

import { loading, OnDemand } from '../integrand/on-demand.ts';
import { OptionError } from '../options/option-error.ts';
import { arrangements, type Row, without } from './rules/rows.ts';

/** One orbit: all points that permutations and sign changes make of a generator. */
export interface Orbit {
  /** The coordinates other than 0, descending, in half-widths: each is inside (−1, 1). */
  generator: readonly number[];
  /** The number of its points. */
  points: number;
  /** The weight of each of its points in the rule; over all points, weights sum to 1. */
  weight: number;
  /** The weights of each of its points in the null rules, that of the highest degree first. */
  nulls: readonly number[];
}

export interface Rule {
  name: RuleName;
  dims: number;
  /** The rule integrates every polynomial up to this degree exactly. */
  degree: number;
  /** Evaluations per region. */
  points: number;
  /** The first is the centre. */
  orbits: readonly Orbit[];
  /** Numbers of two orbits with points on the axes; fourth differences of their values tell which axis to split. */
  differences: readonly [number, number];
  /**
   * How the error follows from the null rules. With E₁, E₂, E₃ the largest results of the combinations of each pair,
   * [a, b, c] means: b·E₁ if a·E₁ ≤ E₂ and a·E₂ ≤ E₃, otherwise c·max(E₁, E₂, E₃). null means: the absolute value of
   * the only null rule.
   */
  error: null | readonly [number, number, number];
}

export const RULES = ['degree13', 'degree11', 'degree9', 'degree7', 'genz-malik', 'gauss-kronrod'] as const;
export type RuleName = (typeof RULES)[number];

/** What makes the rows of a rule. Most integrals need that of one rule only. */
type Rows = OnDemand<(dims: number) => readonly Row[]>;

interface Entry extends Pick<Rule, 'degree' | 'error'> {
  /** The smallest and the largest number of dimensions. */
  serves: readonly [number, number];
  rows: Rows;
}

/** The largest number of dimensions: rules have more than 2ⁿ points, here a million. */
const MAX_DIMS = 20;

const families = () => import('./rules/families.ts');

const ENTRIES: Record<RuleName, Entry> = {
  degree13: {
    serves: [2, 2],
    degree: 13,
    error: [10, 1, 5],
    rows: new OnDemand(async () => (await import('./rules/degree13.ts')).degree13),
  },
  degree11: {
    serves: [3, 3],
    degree: 11,
    error: [4, 0.5, 3],
    rows: new OnDemand(async () => (await import('./rules/degree11.ts')).degree11),
  },
  degree9: {
    serves: [2, MAX_DIMS],
    degree: 9,
    error: [5, 1, 5],
    rows: new OnDemand(async () => (await families()).degree9),
  },
  degree7: {
    serves: [2, MAX_DIMS],
    degree: 7,
    error: [5, 1, 5],
    rows: new OnDemand(async () => (await families()).degree7),
  },
  'genz-malik': {
    serves: [2, MAX_DIMS],
    degree: 7,
    error: null,
    rows: new OnDemand(async () => (await families()).genzMalik),
  },
  'gauss-kronrod': {
    serves: [1, 1],
    degree: 23,
    error: [5, 1, 5],
    rows: new OnDemand(async () => (await import('./rules/gauss-kronrod.ts')).gaussKronrod),
  },
};

/** The rows of every rule, for callers that cannot wait (every-rule.ts). */
export function provideRows(rows: Record<RuleName, (dims: number) => readonly Row[]>): void {
  for (const name of RULES) ENTRIES[name].rows.provide(rows[name]);
}

const rules = new Map<string, Rule>();

/** The rule of that name; without a name, the one of the highest degree for that many axes. Throws `NotLoaded` before `loadRule`. */
export function ruleFor(dims: number, name: RuleName = defaultFor(dims)): Rule {
  const key = `${name} ${dims}`;
  const rule = rules.get(key) ?? makeRule(dims, name);
  rules.set(key, rule);
  return rule;
}

/** The same, loaded first. */
export const loadRule = (dims: number, name?: RuleName): Promise<Rule> => loading(() => ruleFor(dims, name));

function defaultFor(dims: number): RuleName {
  return dims === 1 ? 'gauss-kronrod' : dims === 2 ? 'degree13' : dims === 3 ? 'degree11' : 'degree9';
}

function makeRule(dims: number, name: RuleName): Rule {
  if (!(Number.isInteger(dims) && dims >= 1 && dims <= MAX_DIMS))
    throw new OptionError(
      'dims',
      dims,
      "use method 'vegas+'",
      `cubature rules serve 1 to ${MAX_DIMS} dimensions, not ${dims}, since they have 2^n points`,
    );
  const possible = RULES.filter(r => ENTRIES[r].serves[0] <= dims && dims <= ENTRIES[r].serves[1]);
  if (!possible.includes(name)) {
    const names = possible.map(r => `'${r}'`).join(', ');
    throw new OptionError(
      'cubature.rule',
      name,
      `use ${names}, or leave it out`,
      w => `${w.quoted('cubature.rule')} is '${name}', which does not serve ${dims} dimensions`,
    );
  }
  const { degree, error, rows } = ENTRIES[name];
  const orbits = rows
    .now(dims)
    .map(([generator, [weight, ...nulls]]): Orbit => {
      return { generator, points: 2 ** generator.length * arrangements(generator, dims), weight, nulls };
    })
    .filter(o => o.points > 0); // three coordinates do not fit in two dimensions
  const points = orbits.reduce((n, o) => n + o.points, 0);
  return { name, dims, degree, points, orbits, differences: [1, 2], error };
}

/**
 * All points of an orbit, each with n coordinates; successive points differ in one coordinate or two. In an orbit of
 * points on the axes, those on axis d have the numbers 2d and 2d + 1.
 */
export function pointsOf({ generator }: Orbit, dims: number): number[][] {
  const points: number[][] = [];
  const signs = generator.map(() => 1);
  const axes = generator.map((_, i) => i);
  const orders = ordersOf(generator);
  for (const chosen of choices(dims, generator.length)) {
    const comes = chosen.find(a => !axes.includes(a));
    if (comes !== undefined) axes[axes.findIndex(a => !chosen.includes(a))] = comes;
    for (const order of orders) {
      for (let i = 1; ; i++) {
        const x = new Array<number>(dims).fill(0);
        order.forEach((v, j) => {
          x[axes[j]] = signs[j] * v;
        });
        points.push(x);
        if (i === 2 ** signs.length) break;
        signs[31 - Math.clz32(i & -i)] *= -1; // Gray code: the lowest bit set in i
      }
    }
    orders.reverse(); // the next choice of axes begins with the order that this one ended with
  }
  return points;
}

/**
 * Combinations of null rules: for each pair r, r + 1 the candidates (sum[r + 1] + scale·sum[r])·norm, each of which has
 * weight 0 on one orbit. On an orbit where rule r itself has weight 0, a scale of 100 stands for infinity as in DCUHRE;
 * that finds at least 98 % of the largest result. Orbits whose scales agree to rounding make one candidate (equal scales
 * differ by at most 3e-14, different ones by at least 4e-4).
 */
export function nullCombinations({ orbits }: Rule): { scale: number[]; norm: number[] }[] {
  return orbits[0].nulls.slice(1).map((_, r) => {
    const scale: number[] = [];
    for (const { nulls } of orbits) {
      const s = nulls[r] === 0 ? 100 : 0 - nulls[r + 1] / nulls[r];
      if (!scale.some(t => Math.abs(t - s) <= 1e-10 * Math.abs(s))) scale.push(s);
    }
    const norm = scale.map(
      s => 1 / orbits.reduce((t, o) => t + o.points * Math.abs(o.nulls[r + 1] + s * o.nulls[r]), 0),
    );
    return { scale, norm };
  });
}

/**
 * The different orders of some values. Where one value differs from all the others, which are equal, each order is the one
 * before with two values exchanged.
 */
function ordersOf(values: readonly number[]): number[][] {
  if (values.length === 0) return [[]];
  return [...new Set(values)].flatMap(v => ordersOf(without(values, [v])!).map(rest => [v, ...rest]));
}

/** The ways to choose k of n axes; each differs from the one before in one axis (the revolving door algorithm). */
function choices(n: number, k: number): number[][] {
  if (k === 0) return [[]];
  if (k === n) return [Array.from({ length: n }, (_, i) => i)];
  const withLast = choices(n - 1, k - 1).map(c => [...c, n - 1]);
  return [...choices(n - 1, k), ...withLast.reverse()];
}
