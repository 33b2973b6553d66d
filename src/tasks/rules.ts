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

import { OptionError } from '../options/option-error.ts';

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

/** A generator, its weight in the rule and in the null rules. */
type Row = readonly [generator: readonly number[], weights: readonly number[]];

// biome-ignore format: one orbit per line
const DEGREE13: readonly Row[] = [
  [[], [0.00844923090033615, 0.3213775489050763, 0.3372900883288987, -0.8264123822525677, 0.6539094339575232]],
  [[0.2517129343453109], [0.023771474018994404, -0.1767341636743844, -0.1644903060344491, 0.306583861409436, -0.2041614154424632]],
  [[0.7013933644534266], [0.02940016170142405, 0.07347600537466073, 0.07707849911634623, 0.002389292538329435, -0.174698151579499]],
  [[0.9590960631619962], [0.006644436465817374, -0.03638022004364754, -0.03804478358506311, -0.1343024157997222, 0.03937939671417803]],
  [[0.9956010478552128], [0.0042536044255016, 0.021252979220987123, 0.02223559940380806, 0.08833366840533902, 0.006974520545933992]],
  [[0.5], [0, 0.1460984204026913, 0.1480693879765931, 0, 0]],
  [[0.1594544658297559, 0.1594544658297559], [0.0040664827465935255, 0.017476132861520992, 4.467143702185815e-6, 0.0009786283074168292, 0.0066677021717782585]],
  [[0.3808991135940188, 0.3808991135940188], [0.03362231646315497, 0.1444954045641582, 0.150894476707413, -0.1319227889147519, 0.05512960621544304]],
  [[0.6582769255267192, 0.6582769255267192], [0.033200804136503725, 0.0001307687976001325, 3.6472001075162155e-5, 0.00799001220015063, 0.05443846381278608]],
  [[0.8761473165029315, 0.8761473165029315], [0.014093686924979677, 0.0005380992313941161, 0.000577719899901388, 0.0033917470797606257, 0.02310903863953934]],
  [[0.998243184053198, 0.998243184053198], [0.000977069770327625, 0.0001042259576889814, 0.0001041757313688177, 0.0022949157182832643, 0.01506937747477189]],
  [[0.9790222658168461, 0.6492284325645389], [0.007531996943580376, -0.001401152865045733, -0.001452822267047819, -0.01358584986119197, -0.060570216489018905]],
  [[0.8727421201131239, 0.3582614645881228], [0.02577183086722915, 0.008041788181514763, 0.008338339968783704, 0.04025866859057809, 0.04225737654686337]],
  [[0.5666666666666667, 0.2077777777777778], [0.015625, -0.1420416552759383, -0.147279632923196, 0.003760268580063992, 0.02561989142123099]],
];

// biome-ignore format: one orbit per line
const DEGREE11: readonly Row[] = [
  [[], [0.0009903847688882167, 1.715006248224684, 1.936014978949526, 0.517082819560576, 2.05440450381852]],
  [[0.19], [0.0084964717409851, -0.3755893815889209, -0.3673449403754268, 0.01445269144914044, 0.013777599884901202]],
  [[0.5], [0.00013587331735072814, 0.1488632145140549, 0.02929778657898176, -0.3601489663995932, -0.576806291790441]],
  [[0.75], [0.022982920777660364, -0.2497046640620823, -0.1151883520260315, 0.3628307003418485, 0.03726835047700328]],
  [[0.8], [0.004202649722286289, 0.1792501419135204, 0.05086658220872218, 0.007148802650872729, 0.0068148789397772195]],
  [[0.995], [0.0012671889041675774, 0.0034461267589738897, 0.04453911087786469, -0.09222852896022966, 0.057231697338518496]],
  [[0.99873449983514, 0.99873449983514], [0.0002109560854981544, -0.005140483185555825, -0.022878282571259, 0.01719339732471725, -0.044930187438112855]],
  [[0.7793703685672423, 0.7793703685672423], [0.016830857056410086, 0.006536017839876424, 0.02908926216345833, -0.102141653746035, 0.027292365738663484]],
  [[0.9999698993088767, 0.9999698993088767, 0.9999698993088767], [0.00021876823557504823, -0.00065134549392297, -0.002898884350669207, -0.007504397861080493, 0.000354747395055699]],
  [[0.7902637224771788, 0.7902637224771788, 0.7902637224771788], [0.009690420479796819, -0.006304672433547204, -0.028059634133074954, 0.01648362537726711, 0.01571366799739551]],
  [[0.4403396687650737, 0.4403396687650737, 0.4403396687650737], [0.030773311284628138, 0.01266959399788263, 0.05638741361145884, 0.05234610158469334, 0.049900992192785674]],
  [[0.9549373822794593, 0.4378478459006862, 0.4378478459006862], [0.0084974310856038, -0.005454241018647931, -0.02427469611942451, 0.014454323316130661, 0.0137791555266677]],
  [[0.9661093133630748, 0.9661093133630748, 0.4577105877763134], [0.0017749535291258914, 0.004826995274768427, 0.021483070341828822, 0.003019236275367777, 0.0028782064230998723]],
];

/**
 * A rule for any number of axes. With D f = f(a) − 2f(0) + f(−a) along an axis, a row of `terms` is the weight of the
 * product of the D of its generator, summed over every choice of axes; the row `corners` is the weight of the mean over
 * the points (±a, …, ±a); the centre gets the weight that makes the rule exact for a constant. A monomial in some axes is
 * changed only by terms on just these axes, so these numbers are the same for all n, while the weights of the points are
 * polynomials in n.
 */
interface Family {
  terms: readonly Row[];
  corners: Row;
}

const [A, B, C, D] = [0.955907315804539, 0.4060571747382397, 0.8952547092523563, 0.6860757975617563];

// biome-ignore format: one term per line
const DEGREE9: Family = {
  terms: [
    [[A], [0.0365073053079745, -0.019483177347712863, 0.03417227984385635, 1.0076188699807138, 0.14588947962227122]],
    [[B], [0.1690725459491701, 0.027589520522165588, 0.09178644150354216, 0.7983445922135471, -0.1690725459491701]],
    [[C], [0.057693384490973484, 0.034999626602143584, -0.057693384490973484, -1.3868627719278281, -0.057693384490973484]],
    [[0.25], [0, 0, -0.23866687325750088, 0, 0]],
    [[A, A], [0.008448904373250517, -0.0007643951493106505, 0.0007643951493106505, 0.10076610424769274, -0.008448904373250517]],
    [[A, B], [0.02254314464717892, 0.013675773263272822, -0.013675773263272822, -0.32544759695960124, -0.02254314464717892]],
    [[A, A, A], [0.0017708782258391339, 0.0010743012775049343, -0.0010743012775049343, 0.0017708782258391339, -0.0017708782258391339]],
  ],
  corners: [[D], [0.25150011495314795, -0.06287502873828699, 0.06287502873828699, 0.25150011495314795, -0.25150011495314795]],
};

// biome-ignore format: one term per line
const DEGREE7: Family = {
  terms: [
    [[B], [0.12359398032043234, 0.07497814870203369, -0.12359398032043234, 0.5548914705142356, -0.12359398032043234]],
    [[A], [0.06862337484794438, 0.009338531547755324, -0.019268751871720658, -0.05439111994763671, -0.06862337484794438]],
    [[0.75], [0, 0, 0.03038172903822101, 0, 0]],
    [[A, A], [0.009708933337374194, 0.005889913453879031, -0.005889913453879031, -0.004854466668687097, -0.009708933337374194]],
  ],
  corners: [[D], [0.3551433123253402, -0.08878582808133505, 0.08878582808133505, -0.1775716561626701, -0.3551433123253402]],
};

const [G, H] = [Math.sqrt(9 / 70), Math.sqrt(9 / 10)];

/** The null rule is the rule of degree 7 minus the one of degree 5, which has no corners. */
// biome-ignore format: one term per line
const GENZ_MALIK: Family = {
  terms: [
    [[G], [980 / 6561, 980 / 6561 - 245 / 486]],
    [[H], [1420 / 19683, 1420 / 19683 - 55 / 486]],
    [[H, H], [200 / 19683, 200 / 19683 - 25 / 729]],
  ],
  corners: [[Math.sqrt(9 / 19)], [6859 / 19683, 6859 / 19683]],
};

/** The 8 of Kronrod's 15 nodes that are not negative, with QUADPACK's weights halved. */
const NODES = [
  0, 0.20778495500789848, 0.4058451513773972, 0.5860872354676911, 0.7415311855993945, 0.8648644233597691,
  0.9491079123427585, 0.9914553711208126,
];
const WEIGHTS = [
  0.10474107054236391, 0.10221647003764944, 0.09517528903239271, 0.08450236331963396, 0.07032662985776296,
  0.052395005161125094, 0.03154604631498928, 0.011467661005264612,
];

interface Entry extends Pick<Rule, 'degree' | 'error'> {
  /** The smallest and the largest number of dimensions. */
  serves: readonly [number, number];
  rows: (dims: number) => readonly Row[];
}

/** The largest number of dimensions: rules have more than 2ⁿ points, here a million. */
const MAX_DIMS = 20;

const ENTRIES: Record<RuleName, Entry> = {
  degree13: { serves: [2, 2], degree: 13, error: [10, 1, 5], rows: () => DEGREE13 },
  degree11: { serves: [3, 3], degree: 11, error: [4, 0.5, 3], rows: () => DEGREE11 },
  degree9: { serves: [2, MAX_DIMS], degree: 9, error: [5, 1, 5], rows: n => weightsOf(DEGREE9, n) },
  degree7: { serves: [2, MAX_DIMS], degree: 7, error: [5, 1, 5], rows: n => weightsOf(DEGREE7, n) },
  'genz-malik': { serves: [2, MAX_DIMS], degree: 7, error: null, rows: n => weightsOf(GENZ_MALIK, n) },
  'gauss-kronrod': { serves: [1, 1], degree: 23, error: [5, 1, 5], rows: gaussKronrod },
};

const rules = new Map<string, Rule>();

/** The rule of that name; without a name, the one of the highest degree for that many axes. */
export function ruleFor(dims: number, name: RuleName = defaultFor(dims)): Rule {
  const key = `${name} ${dims}`;
  const rule = rules.get(key) ?? makeRule(dims, name);
  rules.set(key, rule);
  return rule;
}

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
  const orbits = rows(dims)
    .map(([generator, [weight, ...nulls]]): Orbit => {
      return { generator, points: 2 ** generator.length * arrangements(generator, dims), weight, nulls };
    })
    .filter(o => o.points > 0); // three coordinates do not fit in two dimensions
  const points = orbits.reduce((n, o) => n + o.points, 0);
  return { name, dims, degree, points, orbits, differences: [1, 2], error };
}

/** The orbits of a family in n dimensions, with its products of differences multiplied out. */
function weightsOf({ terms, corners: [[corner], share] }: Family, dims: number): Row[] {
  const all: Row[] = [[[], share.map((s, r) => (r === 0 ? 1 : 0) - s)], ...terms];
  const rows = all.map(([generator]): Row => {
    const weights = share.map(() => 0);
    for (const [whole, counts] of all) {
      // points of this orbit come from terms that contain its coordinates; the remaining factors of such a term
      // contribute −2 f(0) each, on any choice of the other axes
      const rest = without(whole, generator);
      if (!rest) continue;
      const times = (-2) ** rest.length * arrangements(rest, dims - generator.length);
      counts.forEach((c, r) => {
        weights[r] += times * c;
      });
    }
    return [generator, weights];
  });
  return [...rows, [new Array<number>(dims).fill(corner), share.map(s => s / 2 ** dims)]];
}

/**
 * Null rules on Kronrod's nodes: their weights are polynomials of degrees 14, 12, 10 and 8 in the node, orthogonal over
 * the nodes to all polynomials of lower degree. The first is K15 − G7 up to a factor. All have the Euclidean norm of the
 * rule, which makes them equally strong (Berntsen and Espelid, "Error estimation in automatic quadrature routines",
 * ACM TOMS 17, 1991).
 */
function gaussKronrod(): Row[] {
  const dot = (u: number[], v: number[]) => u.reduce((s, x, i) => s + (i === 0 ? 1 : 2) * x * v[i], 0);
  const square = dot(WEIGHTS, WEIGHTS);
  const basis: number[][] = [];
  let v = NODES.map(() => 1);
  for (const _ of NODES) {
    // Gram–Schmidt is done twice, since the first time leaves rounding errors of the large parts that it subtracts
    for (const u of [...basis, ...basis]) {
      const part = dot(u, v) / square;
      v = v.map((y, i) => y - part * u[i]);
    }
    const length = Math.sqrt(square / dot(v, v));
    basis.push(v.map(y => y * length));
    v = basis.at(-1)!.map((y, i) => y * NODES[i] * NODES[i]);
  }
  const nulls = basis.slice(4).reverse();
  return NODES.map((x, i) => [x === 0 ? [] : [x], [WEIGHTS[i], ...nulls.map(u => u[i])]]);
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

/** The number of ways to put values on different axes; equal values have to be neighbours in the list. */
function arrangements(values: readonly number[], axes: number): number {
  return values.reduce((ways, v, i) => (ways * (axes - i)) / (i - values.indexOf(v) + 1), 1);
}

/** `values` with each of `some` removed once; undefined when one of them is missing. */
function without(values: readonly number[], some: readonly number[]): number[] | undefined {
  const rest = [...values];
  for (const v of some) {
    const i = rest.indexOf(v);
    if (i < 0) return undefined;
    rest.splice(i, 1);
  }
  return rest;
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
