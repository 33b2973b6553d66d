/** Cubature rules: the polynomials they integrate, those their null rules do not see, and the points they have. */

import { describe, expect, test } from 'vitest';
import { OptionError } from '../../src/options/option-error.ts';
import { ruleFor } from '../../src/tasks/every-rule.ts';
import {
  nullCombinations,
  type Orbit,
  pointsOf,
  RULES,
  type Rule,
  type RuleName,
} from '../../src/tasks/rules.ts';

const upTo = (n: number) => Array.from({ length: n - 1 }, (_, i) => i + 2);
const SERVES: Record<RuleName, number[]> = {
  degree13: [2],
  degree11: [3],
  degree9: upTo(20),
  degree7: upTo(20),
  'genz-malik': upTo(20),
  'gauss-kronrod': [1],
};
/** Degrees of the rule and of its null rules, strongest first. */
const DEGREES: Record<RuleName, [number, number[]]> = {
  degree13: [13, [11, 11, 9, 7]],
  degree11: [11, [9, 9, 7, 5]],
  degree9: [9, [7, 7, 5, 3]],
  degree7: [7, [5, 5, 3, 1]],
  'genz-malik': [7, [5]],
  'gauss-kronrod': [23, [13, 11, 9, 7]],
};
const cases = RULES.flatMap(name => SERVES[name].map(dims => ({ name, dims })));
const small = cases.filter(({ dims }) => dims <= 8);

const sum = (xs: number[]) => xs.reduce((a, b) => a + b, 0);
const product = (xs: number[]) => xs.reduce((a, b) => a * b, 1);
const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));

/** The monomials of even powers and total degree 2m, but for the order of axes: halves of their powers. */
function partitions(m: number, parts: number, most = m): number[][] {
  if (m === 0) return [[]];
  if (parts === 0) return [];
  return Array.from({ length: Math.min(m, most) }, (_, i) => i + 1).flatMap(p =>
    partitions(m - p, parts - 1, p).map(rest => [p, ...rest]),
  );
}

/** Σ x₁^2p₁ x₂^2p₂ … over an orbit: a value for each axis that has a power, the others anywhere else. */
function moment(generator: readonly number[], dims: number, halves: number[]): number {
  const place = (values: readonly number[], k: number): number => {
    const axes = dims - k;
    if (k === halves.length) {
      if (values.length > axes) return 0;
      const equal = [...new Set(values)].map(v => factorial(values.filter(u => u === v).length));
      return factorial(axes) / factorial(axes - values.length) / product(equal);
    }
    return sum(
      [...new Set(values)].map(
        v => v ** (2 * halves[k]) * place(values.toSpliced(values.indexOf(v), 1), k + 1),
      ),
    );
  };
  return 2 ** generator.length * place(generator, 0);
}

/** What the rule (−1) or a null rule makes of a monomial, over the monomial's mean; in a null rule with absolute weights 1. */
function applied(rule: Rule, which: number, halves: number[]): number {
  const weight = (o: Orbit) => (which < 0 ? o.weight : o.nulls[which]);
  const total = sum(rule.orbits.map(o => weight(o) * moment(o.generator, rule.dims, halves)));
  const size = which < 0 ? 1 : sum(rule.orbits.map(o => o.points * Math.abs(weight(o))));
  return (total / size) * product(halves.map(p => 2 * p + 1));
}
const monomials = (degree: number, dims: number) =>
  Array.from({ length: Math.floor(degree / 2) + 1 }, (_, m) => partitions(m, dims)).flat();

describe.each(cases)('$name in $dims dimensions', ({ name, dims }) => {
  const rule = ruleFor(dims, name);
  const [degree, nullDegrees] = DEGREES[name];
  test(`integrates all monomials of degree ${degree} to 5e-14 of their value, and not all of ${degree + 1}`, () => {
    expect(rule).toMatchObject({ name, dims, degree });
    for (const m of monomials(degree, dims)) expect(Math.abs(applied(rule, -1, m) - 1)).toBeLessThan(5e-14);
    const off = partitions((degree + 1) / 2, dims).map(m => Math.abs(applied(rule, -1, m) - 1));
    expect(Math.max(...off)).toBeGreaterThan(name === 'gauss-kronrod' ? 7e-8 : 1e-4);
  });
  test(`null rules give 0 to 2e-15 up to degrees ${nullDegrees.join(', ')}, and no further`, () => {
    for (const o of rule.orbits) expect(o.nulls).toHaveLength(nullDegrees.length);
    nullDegrees.forEach((d, r) => {
      for (const m of monomials(d, dims)) expect(Math.abs(applied(rule, r, m))).toBeLessThan(2e-15);
      const seen = partitions((d + 1) / 2, dims).map(m => Math.abs(applied(rule, r, m)));
      expect(Math.max(...seen)).toBeGreaterThan(5e-4);
    });
  });
  test('weights add up to 1 to 5e-14, orbits to the number of points, the centre comes first', () => {
    expect(Math.abs(sum(rule.orbits.map(o => o.points * o.weight)) - 1)).toBeLessThan(5e-14);
    expect(sum(rule.orbits.map(o => o.points))).toBe(rule.points);
    expect(rule.orbits[0]).toMatchObject({ generator: [], points: 1 });
    for (const o of rule.orbits) expect(o.points).toBeGreaterThan(0);
  });
  test('the differences are of two orbits on one axis', () => {
    const [a, b] = rule.differences.map(i => rule.orbits[i].generator);
    expect([a.length, b.length]).toEqual([1, 1]);
    expect(a).not.toEqual(b);
  });
  test('generators descend and lie inside the cube', () => {
    for (const { generator } of rule.orbits) {
      expect(generator).toEqual(generator.toSorted((x, y) => y - x));
      for (const v of generator) expect(v > 0 && v < 1).toBe(true);
    }
  });
});

describe('the number of points', () => {
  test.each([
    [1, 'gauss-kronrod', 15],
    [2, 'degree13', 65],
    [3, 'degree11', 127],
    [2, 'degree9', 33],
    [3, 'degree9', 77],
    [5, 'degree9', 273],
    [6, 'degree9', 453],
    [8, 'degree9', 1105],
    [3, 'degree7', 39],
    [3, 'genz-malik', 33],
  ] as const)('dims %i: %s has %i', (dims, name, points) => expect(ruleFor(dims, name).points).toBe(points));
  test('degree9 has 1 + 8n + 6n(n − 1) + 4n(n − 1)(n − 2)/3 + 2^n', () => {
    for (const n of SERVES.degree9)
      expect(ruleFor(n, 'degree9').points).toBe(
        1 + 8 * n + 6 * n * (n - 1) + (4 * n * (n - 1) * (n - 2)) / 3 + 2 ** n,
      );
  });
  test('degree7 has 1 + 6n + 2n(n − 1) + 2^n', () => {
    for (const n of SERVES.degree7)
      expect(ruleFor(n, 'degree7').points).toBe(1 + 6 * n + 2 * n * (n - 1) + 2 ** n);
  });
  test('genz-malik has 2^n + 2n² + 2n + 1', () => {
    for (const n of SERVES['genz-malik'])
      expect(ruleFor(n, 'genz-malik').points).toBe(2 ** n + 2 * n * n + 2 * n + 1);
  });
});

/** Weights in the rule and the four null rules, from the polynomials in n that Cuba 4.2 has (Rule.c), in 40 digits. */
// biome-ignore format: one orbit a line
const PUBLISHED = {
  degree9: [
      [0.11550501620287497, 0.6093572838613289, 0.6635983823834666, -26.589340862544997, -0.9394728655053323],
      [-0.1689280094353218, -0.09699097159929182, 0.1116800740954353, 2.847571889096121, 0.3513247943655675],
      [-0.01127261122826127, -0.08181666558401698, 0.20119262760972476, 3.401925367890357, 0.01127261122826127],
      [0.057693384490973484, 0.034999626602143584, -0.057693384490973484, -1.3868627719278281, -0.057693384490973484],
      [0, 0, -0.23866687325750088, 0, 0],
      [-0.002176364981784285, -0.0072102028143402564, 0.0072102028143402564, 0.09014083489265794, 0.002176364981784285],
      [0.02254314464717892, 0.013675773263272822, -0.013675773263272822, -0.32544759695960124, -0.02254314464717892],
      [0.0017708782258391339, 0.0010743012775049343, -0.0010743012775049343, 0.0017708782258391339, -0.0017708782258391339],
      [0.007859378592285873, -0.0019648446480714683, 0.0019648446480714683, 0.007859378592285873, -0.007859378592285873],
  ],
  degree7: [
      [-0.8889595305141396, -0.5187844362613939, 0.8004276653028236, -5.021610516250803, 1.8889595305141396],
      [0.12359398032043234, 0.07497814870203369, -0.12359398032043234, 0.5548914705142356, -0.12359398032043234],
      [-0.009048091851049172, -0.03778077608327692, 0.02785055575931159, -0.015555386598139933, 0.009048091851049172],
      [0, 0, 0.03038172903822101, 0, 0],
      [0.009708933337374194, 0.005889913453879031, -0.005889913453879031, -0.004854466668687097, -0.009708933337374194],
      [0.011098228510166881, -0.0027745571275417202, 0.0027745571275417202, -0.0055491142550834404, -0.011098228510166881],
  ],
};

describe('published weights', () => {
  const weights = (rule: Rule) => rule.orbits.map(o => [o.weight, ...o.nulls]);
  const agree = (ours: number[], theirs: number[]) => {
    expect(ours).toHaveLength(theirs.length);
    ours.forEach((w, i) =>
      expect(Math.abs(w - theirs[i])).toBeLessThan(1e-14 * Math.max(1, Math.abs(theirs[i]))),
    );
  };
  test.each(['degree9', 'degree7'] as const)('%s in 5 dimensions has those of DCUHRE, to 1e-14', name => {
    agree(weights(ruleFor(5, name)).flat(), PUBLISHED[name].flat());
  });
  test('the centre in 12 dimensions has those of DCUHRE, to 1e-14', () => {
    // biome-ignore format: a table
    agree(weights(ruleFor(12, 'degree9'))[0], [5.446487677863749, 4.1565694692813295, -1.1014758702938205, -158.660742032103, -8.824010516189647]);
    // biome-ignore format: a table
    agree(weights(ruleFor(12, 'degree7'))[0], [-1.405201435299594, -0.3798773460895372, 1.0558210957889684, -13.116015957969097, 2.405201435299594]);
  });
  test('genz-malik has those of the paper for degrees 7 and 5, for 2 to 20 dimensions, to 1e-14', () => {
    for (const n of SERVES['genz-malik']) {
      const seven = [
        (12824 - 9120 * n + 400 * n * n) / 19683,
        980 / 6561,
        (1820 - 400 * n) / 19683,
        200 / 19683,
      ];
      const five = [(729 - 950 * n + 50 * n * n) / 729, 245 / 486, (265 - 100 * n) / 1458, 25 / 729];
      const { orbits } = ruleFor(n, 'genz-malik');
      agree(
        orbits.map(o => o.weight),
        [...seven, 6859 / 19683 / 2 ** n],
      );
      agree(
        orbits.map(o => o.weight - o.nulls[0]),
        [...five, 0],
      );
      expect(orbits.slice(1, 4).map(o => o.generator)).toEqual([
        [Math.sqrt(9 / 70)],
        [Math.sqrt(9 / 10)],
        [Math.sqrt(9 / 10), Math.sqrt(9 / 10)],
      ]);
      expect(orbits[4].generator).toEqual(new Array(n).fill(Math.sqrt(9 / 19)));
    }
  });
  test('coefficients of the error are those of DCUHRE', () => {
    const of = (n: number, name: RuleName) => ruleFor(n, name).error;
    expect([of(2, 'degree13'), of(3, 'degree11')]).toEqual([
      [10, 1, 5],
      [4, 0.5, 3],
    ]);
    for (const n of SERVES.degree9)
      expect([of(n, 'degree9'), of(n, 'degree7'), of(n, 'genz-malik')]).toEqual([[5, 1, 5], [5, 1, 5], null]);
  });
});

describe('gauss-kronrod', () => {
  const { orbits } = ruleFor(1);
  const dot = (a: number[], b: number[]) => sum(orbits.map((o, i) => o.points * a[i] * b[i]));
  const nulls = [0, 1, 2, 3].map(r => orbits.map(o => o.nulls[r]));
  const weights = orbits.map(o => o.weight);
  test('null rules are orthogonal and as long as the rule, to 1e-15', () => {
    for (const [i, u] of nulls.entries())
      for (const [j, v] of nulls.entries())
        expect(Math.abs(dot(u, v) - (i === j ? dot(weights, weights) : 0))).toBeLessThan(1e-15);
  });
  test('the first null rule is K15 − G7 but for a factor, to 1e-14', () => {
    // Gauss' 7 points are every second of Kronrod's; weights from Abramowitz and Stegun, table 25.4, halved
    const gauss = [0.417959183673469, 0, 0.381830050505119, 0, 0.279705391489277, 0, 0.12948496616887, 0];
    const difference = weights.map((w, i) => w - gauss[i] / 2);
    const factor = dot(difference, nulls[0]) / dot(nulls[0], nulls[0]);
    difference.forEach((d, i) => expect(Math.abs(d - factor * nulls[0][i])).toBeLessThan(1e-14));
  });
});

describe.each(small)('points of $name in $dims dimensions', ({ name, dims }) => {
  const rule = ruleFor(dims, name);
  const all = rule.orbits.map(o => pointsOf(o, dims));
  const key = (x: number[]) => x.map(v => v + 0).join();
  test('every orbit has its number of points, all different, with the coordinates of its generator', () => {
    rule.orbits.forEach((o, i) => {
      expect(all[i]).toHaveLength(o.points);
      expect(new Set(all[i].map(key)).size).toBe(o.points);
      for (const x of all[i]) {
        expect(x).toHaveLength(dims);
        expect(
          x
            .filter(v => v !== 0)
            .map(Math.abs)
            .sort((a, b) => b - a),
        ).toEqual(o.generator);
      }
    });
    expect(new Set(all.flat().map(key)).size).toBe(rule.points);
  });
  test('every orbit maps to itself when a coordinate changes sign and when two are exchanged', () => {
    for (const points of all) {
      const keys = new Set(points.map(key));
      for (let d = 0; d < dims; d++) {
        for (const x of points) {
          expect(keys.has(key(x.with(d, 0 - x[d])))).toBe(true);
          if (d > 0) expect(keys.has(key(x.with(d, x[d - 1]).with(d - 1, x[d])))).toBe(true);
        }
      }
    }
  });
  test('neighbours differ in 1 coordinate or 2', () => {
    for (const points of all)
      for (let i = 1; i < points.length; i++) {
        const changes = points[i].filter((v, d) => v !== points[i - 1][d]).length;
        expect(changes === 1 || changes === 2).toBe(true);
      }
  });
  test('points on one axis go axis by axis: those of d are 2d and 2d + 1', () => {
    rule.orbits.forEach((o, i) => {
      if (o.generator.length !== 1) return;
      for (let k = 0; k < 2 * dims; k++) expect(Math.abs(all[i][k][k >> 1])).toBe(o.generator[0]);
    });
  });
  test('odd monomials cancel to 1e-15, and even ones sum to what the orbits say', () => {
    const total = (halves: number[]) => {
      const one = (x: number[]) => product(halves.map((h, d) => x[d] ** (2 * h)));
      return sum(rule.orbits.map((o, i) => o.weight * sum(all[i].map(one))));
    };
    for (const powers of [[1], [3], [5], [2, 1], [1, 1], [3, 1], [2, 2, 1], [1, 1, 1], [3, 3, 1]])
      if (powers.length <= dims) expect(Math.abs(total(powers.map(p => p / 2)))).toBeLessThan(1e-15);
    for (const m of monomials(rule.degree + 1, dims).slice(0, 12)) {
      const theirs = applied(rule, -1, m) / product(m.map(p => 2 * p + 1));
      expect(Math.abs(total(m) - theirs)).toBeLessThan(1e-14);
    }
  });
});

test('the 4096 corners of 12 dimensions are all different, and neighbours differ in 1 coordinate', () => {
  const points = pointsOf(ruleFor(12).orbits.at(-1)!, 12);
  expect(new Set(points.map(x => x.join())).size).toBe(4096);
  for (let i = 1; i < 4096; i++) expect(points[i].filter((v, d) => v !== points[i - 1][d])).toHaveLength(1);
});

/** Sums of the rule and of the null rules over all points, one by one. */
function evaluate(rule: Rule, f: (x: number[]) => number): { value: number; nulls: number[] } {
  let value = 0;
  const nulls = rule.orbits[0].nulls.map(() => 0);
  for (const o of rule.orbits)
    for (const x of pointsOf(o, rule.dims)) {
      const y = f(x);
      value += o.weight * y;
      o.nulls.forEach((w, r) => {
        nulls[r] += w * y;
      });
    }
  return { value, nulls };
}
/** The most that the combinations of each pair of null rules give. */
const greatest = (rule: Rule, sums: number[]) =>
  nullCombinations(rule).map(({ scale, norm }, r) =>
    Math.max(...scale.map((s, i) => Math.abs(sums[r + 1] + s * sums[r]) * norm[i])),
  );

const estimate = (rule: Rule, sums: number[]) => {
  if (!rule.error) return Math.abs(sums[0]);
  const [e1, e2, e3] = greatest(rule, sums);
  const [a, b, c] = rule.error;
  return a * e1 <= e2 && a * e2 <= e3 ? b * e1 : c * Math.max(e1, e2, e3);
};

describe('exp(c·x), c from size to (0.9 + dims/10)·size with alternating signs', () => {
  const run = (dims: number, name: RuleName, size: number) => {
    const rule = ruleFor(dims, name);
    const c = Array.from({ length: dims }, (_, i) => size * (1 + i / 10) * (-1) ** i);
    const { value, nulls } = evaluate(rule, x => Math.exp(sum(x.map((v, i) => v * c[i]))));
    const truth = product(c.map(a => Math.sinh(a) / a));
    return { rule, nulls, off: Math.abs(value - truth), truth, error: estimate(rule, nulls) };
  };
  test.each([
    [1, 'gauss-kronrod', 2, 1e-15],
    [2, 'degree13', 1, 1e-12],
    [3, 'degree11', 1, 1e-8],
    [2, 'degree9', 0.5, 1e-9],
    [3, 'degree9', 0.5, 1e-7],
    [5, 'degree9', 0.5, 1e-6],
    [2, 'degree7', 0.5, 1e-7],
    [3, 'degree7', 0.5, 2e-6],
    [5, 'degree7', 0.5, 1e-5],
    [5, 'genz-malik', 0.5, 2e-6],
  ] as const)('dims %i, %s, size %d: off by less than %d of the integral', (dims, name, size, bound) => {
    const { off, truth } = run(dims, name, size);
    expect(off / truth).toBeLessThan(bound);
  });
  test.each([
    [1, 'gauss-kronrod'],
    [2, 'degree13'],
    [3, 'degree11'],
    [4, 'degree9'],
    [6, 'degree9'],
    [5, 'degree7'],
    [5, 'genz-malik'],
  ] as const)('dims %i, %s, sizes 0.5, 1, 2: off by less than the error', (dims, name) => {
    for (const size of [0.5, 1, 2]) {
      const { off, error } = run(dims, name, size);
      expect(off).toBeLessThan(error);
    }
  });
  test('a trap: degree9 in 5 dimensions is off by 5 errors at 0.5, since its two strongest null rules hardly see it', () => {
    // E₁, E₂, E₃ of Cuba's formulas in Python, with sums over orbits by another way (products of cosh)
    const { rule, nulls, off, error } = run(5, 'degree9', 0.5);
    const theirs = [1.0989095214695803e-7, 4.905481942558385e-5, 0.007487950318279793];
    greatest(rule, nulls).forEach((e, i) => expect(Math.abs(e / theirs[i] - 1)).toBeLessThan(1e-7));
    expect(error).toBeCloseTo(1.0989e-7, 11);
    expect(off).toBeCloseTo(5.7198e-7, 11);
  });
});

describe.each(cases.filter(({ dims }) => dims <= 6 || dims === 15))(
  'combined null rules of $name in $dims dimensions',
  ({ name, dims }) => {
    const rule = ruleFor(dims, name);
    const { orbits } = rule;
    const pairs = nullCombinations(rule);
    const weightsOf = (r: number, s: number) => orbits.map(o => o.nulls[r + 1] + s * o.nulls[r]);
    const size = (weights: number[]) => sum(orbits.map((o, i) => o.points * Math.abs(weights[i])));
    test('one entry a pair of null rules; absolute weights of each candidate add up to 1, to 1e-14', () => {
      expect(pairs).toHaveLength(orbits[0].nulls.length - 1);
      pairs.forEach(({ scale, norm }, r) => {
        expect(norm).toHaveLength(scale.length);
        scale.forEach((s, i) => expect(Math.abs(norm[i] * size(weightsOf(r, s)) - 1)).toBeLessThan(1e-14));
      });
    });
    test('every orbit has a candidate without it, to 1e-12; where rule r is 0, the scale is 100', () => {
      pairs.forEach(({ scale, norm }, r) =>
        orbits.forEach((o, i) => {
          if (o.nulls[r] === 0) expect(scale).toContain(100);
          else
            expect(Math.min(...scale.map((s, k) => norm[k] * Math.abs(weightsOf(r, s)[i])))).toBeLessThan(
              1e-12,
            );
        }),
      );
    });
    test('no candidate is there twice: scales differ by more than 1e-4', () => {
      for (const { scale } of pairs) {
        const sorted = scale.toSorted((a, b) => a - b);
        for (let i = 1; i < sorted.length; i++)
          expect(sorted[i] - sorted[i - 1]).toBeGreaterThan(1e-4 * Math.abs(sorted[i]));
      }
    });
    test('of all combinations none gives more than the candidates, but for 3 % where a scale is 100', () => {
      const turns = Array.from({ length: 200 }, (_, i) => [
        Math.cos((Math.PI * (i + 0.5)) / 200),
        Math.sin((Math.PI * (i + 0.5)) / 200),
      ]);
      pairs.forEach(({ scale, norm }, r) => {
        const slack = scale.includes(100) ? 1.03 : 1 + 1e-12;
        const all = turns.map(([a, b]) => ({
          a,
          b,
          size: size(orbits.map(o => a * o.nulls[r + 1] + b * o.nulls[r])),
        }));
        for (const [upper, lower] of turns) {
          const most = Math.max(...scale.map((s, i) => Math.abs(upper + s * lower) * norm[i]));
          const any = Math.max(...all.map(t => Math.abs(t.a * upper + t.b * lower) / t.size));
          expect(any).toBeLessThanOrEqual(most * slack);
          expect(any).toBeGreaterThan(0.5 * most);
        }
      });
    });
  },
);

describe('ruleFor', () => {
  test('chooses gauss-kronrod for 1, degree13 for 2, degree11 for 3 and degree9 for 4 to 20 dimensions', () => {
    const names = Array.from({ length: 20 }, (_, i) => ruleFor(i + 1).name);
    expect(names).toEqual(['gauss-kronrod', 'degree13', 'degree11', ...new Array(17).fill('degree9')]);
  });
  test('makes each rule once', () => {
    for (const { name, dims } of small) expect(ruleFor(dims, name)).toBe(ruleFor(dims, name));
    expect(ruleFor(5)).toBe(ruleFor(5, 'degree9'));
    expect(ruleFor(5)).not.toBe(ruleFor(6));
  });
  test.each([0, -1, 2.5, Number.NaN, 21, 1000])('dims %d: the error names the method for more', dims => {
    for (const name of [undefined, 'degree9'] as const)
      expect(() => ruleFor(dims, name)).toThrow(
        new OptionError(
          'dims',
          dims,
          "use method 'vegas+'",
          `cubature rules serve 1 to 20 dimensions, not ${dims}, since they have 2^n points`,
        ),
      );
  });
  test.each([
    [1, 'degree9', "'gauss-kronrod'"],
    [2, 'degree11', "'degree13', 'degree9', 'degree7', 'genz-malik'"],
    [3, 'degree13', "'degree11', 'degree9', 'degree7', 'genz-malik'"],
    [5, 'degree13', "'degree9', 'degree7', 'genz-malik'"],
    [20, 'gauss-kronrod', "'degree9', 'degree7', 'genz-malik'"],
    [4, 'toString', "'degree9', 'degree7', 'genz-malik'"],
  ])('dims %i, rule %s: the error names those possible, %s', (dims, name, possible) => {
    expect(() => ruleFor(dims, name as RuleName)).toThrow(
      new OptionError(
        'cubature.rule',
        name,
        `use ${possible}, or leave it out`,
        `\`cubature.rule\` is '${name}', which does not serve ${dims} dimensions`,
      ),
    );
  });
  test('all that are not in the list of what a rule serves are refused', () => {
    for (const name of RULES)
      for (let n = 1; n <= 20; n++)
        if (!SERVES[name].includes(n)) expect(() => ruleFor(n, name)).toThrow(OptionError);
  });
});
