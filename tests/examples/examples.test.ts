/**
 * Every example runs, prints what its head promises, and its values are within their errors of the truth. Truths come from
 * the catalogue of integrands or from elsewhere as said, not from what the example prints.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { applications } from '../integrands/applications.ts';
import { asianGeometric, discretePropagator } from '../integrands/closed-forms.ts';
import { cuvegas } from '../integrands/cuvegas.ts';
import { zmc } from '../integrands/zmc.ts';
import { type Measured, measured, run } from './printed.ts';

/** Errors that a sampled value may be off: one in 16,000 is more. Seeds are fixed, so a run that passes always does. */
const SAMPLED = 4;
/** What deterministic methods claim to be within, and the rounding of a printed error. */
const CLAIMED = 1.1;

const names = readdirSync('examples').filter(f => f.endsWith('.ts'));
const index = readFileSync('examples/README.md', 'utf8');
const truthOf = (name: string) =>
  [...cuvegas, ...applications, ...zmc].find(e => e.name === name)?.truth ?? Number.NaN;

/** The one line that begins with these words. */
function lineOf(lines: string[], start: string): string {
  const found = lines.filter(l => l.trim().startsWith(start));
  expect(found, `lines that begin with "${start}"`).toHaveLength(1);
  return found[0];
}

function expectTrue({ value, error }: Measured, truth: number, errors: number): void {
  expect(error).toBeGreaterThan(0);
  expect(Math.abs(value - truth) / error, `${value} ± ${error}, truly ${truth}`).toBeLessThan(errors);
}

/** The number of errors that is printed behind a value: that of the value itself, up to the rounding of both. */
function expectPull({ value, error }: Measured, printed: string, truth: number): void {
  const pull = (value - truth) / error;
  expect(Math.abs(Number(printed) - pull)).toBeLessThan(0.1 + 0.06 * Math.abs(pull));
}

describe('the folder', () => {
  test.each(names)('%s is in the index, with its command', name => {
    expect(index).toContain(`\`node scripts/run.mjs examples/${name}\``);
  });
  test.each(names)('%s is tested below', name => {
    const tests = readFileSync('tests/examples/examples.test.ts', 'utf8');
    expect(tests).toContain(`run('examples/${name}')`);
  });
  test.each(names)('%s says what to see, and imports what a user can import', name => {
    const text = readFileSync(`examples/${name}`, 'utf8');
    expect(text).toMatch(/^\/\*\*\n(?: \*.*\n)*? \* See: /);
    for (const [, from] of text.matchAll(/from '(.*)'/g)) expect(from).toMatch(/^(quadrille|node:.*)$/);
  });
  test('the index names no example that is not there', () => {
    const listed = [...index.matchAll(/`node scripts\/run\.mjs examples\/(\S+\.ts)`/g)].map(m => m[1]);
    expect(listed.filter(l => !l.startsWith('data/')).sort()).toEqual([...names].sort());
  });
});

test('first.ts: three integrals, and the iterations of one', async () => {
  const lines = await run('examples/first.ts');
  const truths = {
    'a narrow peak in 8 dimensions': 6.383802190004384e-10,
    'a Gaussian over the plane': Math.PI / 3.5,
    'a tabulated spectrum': 0.16665 * (Math.E - 1), // the trapezoidal rule on the table's knots
  };
  for (const [what, truth] of Object.entries(truths)) {
    const at = lines.indexOf(what);
    const [found] = measured(lines[at + 1]);
    expectTrue(found, truth, SAMPLED);
    expect(Number(lines[at + 2].match(/true value (\S+),/)?.[1]) / truth).toBeCloseTo(1, 12);
    expectPull(found, lines[at + 2].match(/off by (\S+) errors/)![1], truth);
  }
  expect(lines.join('\n')).toMatch(/itn +integral +average +chi2\/dof +Q\n1 /);
});

test('peak.ts: plain Monte Carlo misses and warns, VEGAS+ converges to the truth', async () => {
  const lines = await run('examples/peak.ts');
  const rows = lines
    .filter(l => /^(plain|vegas\+) /.test(l))
    .map(l => ({ method: l.split(' ')[0], found: measured(l)[0] }));
  expect(rows).toHaveLength(5);
  for (const { method, found } of rows) {
    const [off, status, warning] = found.rest;
    if (status === 'converged') expectTrue(found, 1, SAMPLED);
    else expect(warning).toMatch(/^\[\d\]$/);
    if (method === 'plain') expect(Number(off)).toBeLessThan(-100);
    if (Math.abs(Number(off)) < 1000) expectPull(found, off, 1);
  }
  expect(rows.at(-1)!.found.rest[1]).toBe('converged');
  expect(lineOf(lines, '[1]')).toContain('a peak may be missed');
});

test('ridge.ts: with the same evaluations, the error of VEGAS+ is at most half that of VEGAS', async () => {
  const lines = await run('examples/ridge.ts');
  const truth = 0.8441643134507915; // the mean over 100 products of erfs, by mpmath
  const rows = lines.filter(l => /^\d/.test(l)).map(measured);
  expect(rows).toHaveLength(3);
  for (const row of rows) {
    const [vegas, plus] = row;
    for (const found of row) {
      expectTrue(found, truth, SAMPLED);
      expectPull(found, found.rest[0], truth);
    }
    expect(vegas.error / plus.error).toBeGreaterThan(2);
    expect(Number(plus.rest[1])).toBeCloseTo(vegas.error / plus.error, 0);
  }
});

test('asian-option.ts: prices are true, and the difference has a tenth of the error', async () => {
  const lines = await run('examples/asian-option.ts');
  const market = { S0: 100, K: 100, r: 0.05, sigma: 0.2, T: 1 };
  const arithmetic = truthOf('asian_arithmetic_16');
  const truths = [asianGeometric(market, 16), arithmetic, arithmetic];
  const rows = lines.slice(1, 4).map(l => measured(l)[0]);
  rows.forEach((found, i) => {
    expectTrue(found, truths[i], SAMPLED);
    expect(Number(found.rest[0])).toBeCloseTo(truths[i], 5);
    expectPull(found, found.rest[1], truths[i]);
  });
  expect(rows[2].error).toBeLessThan(rows[1].error / 10);
});

test('path-integral.ts: what does not warn is the exact propagator on N steps', async () => {
  const lines = await run('examples/path-integral.ts');
  for (const N of [2, 4, 8, 16]) {
    const line = lineOf(lines, `${N} `);
    const exact = discretePropagator({ x0: 0.5, m: 1, T: 4 }, N);
    const [positions, free] = measured(line);
    if (positions.rest[0] !== '!') expectTrue(positions, exact, SAMPLED);
    expect(free.rest[0]).not.toBe('!');
    expectTrue(free, exact, SAMPLED);
    expectPull(free, free.rest[0], exact);
    expect(Number(free.rest[1])).toBeCloseTo(exact, 7);
  }
  const continuous = Math.exp(-0.25 * Math.tanh(2)) / Math.sqrt(2 * Math.PI * Math.sinh(4));
  expect(lines[0]).toContain(continuous.toFixed(8));
});

describe('cosmology.ts', () => {
  test('counts what quadrature of the tables gives', async () => {
    const lines = await run('examples/cosmology.ts');
    const truth = 21618.1981417677; // 12 Gauss points an axis in each cell of the tables, in Python
    const [two] = measured(lineOf(lines, 'two dimensions'));
    const [four] = measured(lineOf(lines, 'four dimensions'));
    expectTrue(two, truth, CLAIMED);
    expectTrue(four, truth, SAMPLED);
    expectPull(four, lines.join('\n').match(/off by (\S+) errors/)![1], truth);
  });

  test('its tables are what their command makes', async () => {
    const made = (await run('examples/data/clusters.ts')).join('\n');
    const stored = readFileSync('examples/data/clusters.csv', 'utf8');
    const numbers = (text: string) =>
      text
        .split(/[\s,]+/)
        .map(Number)
        .filter(Number.isFinite);
    expect(numbers(made).length).toBe(numbers(stored).length);
    // to the last printed digit, which another machine's Math may round the other way
    numbers(stored).forEach((v, i) =>
      expect(Math.abs(numbers(made)[i] - v)).toBeLessThan(1.5e-4 + 2e-7 * Math.abs(v)),
    );
  });

  // by mpmath, from the formulas that data/clusters.ts names
  test.each([
    ['0.02', 10583683.3, 13.2, -7.696092],
    ['0.02', 10583683.3, 14, -9.900215],
    ['0.80', 7.29376723e9, 14, -11.55841],
    ['0.80', 7.29376723e9, 15.8, -50.45445],
  ])('the table at redshift %s: volume %f, at mass %f %f', (z, volume, mass, logDensity) => {
    const stored = readFileSync('examples/data/clusters.csv', 'utf8')
      .split('\n')
      .map(l => l.split(','));
    const column = stored.find(r => r[0] === 'z')!.findIndex(m => Number(m) === mass);
    const row = stored.find(r => r[0] === z)!;
    expect(Number(row[1]) / volume).toBeCloseTo(1, 6);
    expect(Number(row[column])).toBeCloseTo(logDensity, 3);
  });
});

test('zmcintegral.ts: the tables of the paper, and ours beside them', async () => {
  const lines = await run('examples/zmcintegral.ts');
  const second = lines.findIndex(l => l.startsWith('a Gaussian'));
  const tables = [
    { rows: lines.slice(0, second), truth: truthOf('fA_6') },
    { rows: lines.slice(second), truth: truthOf('fB_9') },
  ];
  for (const { rows, truth } of tables) {
    expect(rows.filter(l => l.startsWith('paper:'))).toHaveLength(3);
    const ours = rows.filter(l => l.includes(' on cpu '));
    expect(ours).toHaveLength(2);
    for (const row of ours) {
      const [value, error, off] = row.split(' on cpu ')[1].trim().split(/\s+/).map(Number);
      const found = { value, error, rest: [] };
      expectTrue(found, truth, SAMPLED);
      expectPull(found, `${off}`, truth);
    }
  }
});

test('box-integrals.ts: ten digits, against closed forms', async () => {
  const lines = await run('examples/box-integrals.ts');
  // by mpmath, from the mean of |r| as an integral over one variable
  const truths = {
    'a corner of the square and a point': 0.7651957164642127,
    'a corner of the cube and a point': 0.960591956455053,
    'two points of the square': 0.5214054331647207,
    'two points of the cube ': 0.6617071822671762,
  };
  for (const [what, truth] of Object.entries(truths)) {
    const [found] = measured(lineOf(lines, what));
    expectTrue(found, truth, CLAIMED);
    expect(Math.abs(found.value - truth)).toBeLessThan(1e-11);
    expect(Number(found.rest[0])).toBeCloseTo(truth, 13);
  }
  expectTrue(measured(lineOf(lines, 'two points of the cube, six'))[0], 0.6617071822671762, SAMPLED);
});

test('scan.ts: every integral is the closed form to 1e-8, and every star is in the plot', async () => {
  const lines = await run('examples/scan.ts');
  for (const q of [2, 4, 6, 8, 10, 12, 14]) {
    const truth = (3 * (Math.sin(q) - q * Math.cos(q))) / q ** 3;
    const [found] = measured(lineOf(lines, `${q}.0 `));
    expectTrue(found, truth, CLAIMED);
    expect(found.error).toBeLessThanOrEqual(1e-8);
  }
  expect(lines.join('').match(/\*/g)).toHaveLength(71);
  expect(lines.filter(l => / \|.*\./.test(l))).toEqual([]); // no point of the closed form beside its star
  const last = lineOf(lines, '71 integrals, 71 converged');
  expect(Number(last.match(/off by (\S+)$/)![1])).toBeLessThan(1e-8);
});

test('devices.ts: every device of this machine has the same value', async () => {
  const lines = await run('examples/devices.ts');
  for (const device of ['cpu', 'js']) {
    const [found] = lines.filter(l => l.startsWith(`${device} `)).flatMap(measured);
    expectTrue(found, 1, SAMPLED);
    expectPull(found, found.rest[0], 1);
    expect(Math.abs(Number(found.rest[1]))).toBeLessThan(1e-12);
  }
  expect(lines.join('\n')).toMatch(/\ncuda(:\d+)? +\S/);
});
