/** `cuhre`, the reference: it evaluates what Cuba's Cuhre evaluates, and comes to the same numbers. */
import { describe, expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';
import { suite } from '../integrands/suite.ts';
import { boxesOf, spyDevice } from './spy.ts';

const entry = (name: string) => suite.find(e => e.name === name)!;
const run = (name: string, relTol: number) =>
  integrate(entry(name).f as never, {
    dims: entry(name).dims,
    method: 'cuhre',
    relTol,
    cubature: { witnesses: 0 }, // Cuba's has none
  });

/** Cuba 4.2 through Debian's r-cran-cubature, cuhre with flags 4 (no smoothing): evaluations, value, error. */
// biome-ignore format: a table
const CUBA: [string, number, number, number, number][] = [
  ['f3_3', 1e-3, 1651, 0.010846563638367491, 0.0000098897775270001339],
  ['f3_3', 4e-5, 4699, 0.010846560903956857, 3.9845243525146361e-7],
  ['f3_3', 1.6e-6, 7493, 0.010846560894657884, 9.6522013041472245e-9],
  ['f3_3', 6.4e-8, 9525, 0.010846560852573421, 6.1046059270206749e-10],
  ['f4_3', 1e-3, 32893, 0.00035639032370173783, 3.3815035705812840e-7],
  ['f4_3', 1e-6, 124587, 0.00035637299214508737, 3.5609724864983366e-10],
  ['f2_3', 1e-3, 150749, 3588220.7040084051, 3579.3403683240635],
  ['f2_3', 1e-6, 630047, 3587322.1768152565, 3.5748751158239997],
  ['f1_5', 1e-3, 7371, 0.020243014334402301, 0.000019189838541266048],
  ['f1_5', 1e-6, 319683, 0.020242422399034905, 2.0215892738976804e-8],
  ['f3_5', 1e-3, 12285, 0.000026011046896300884, 2.3344127572995430e-8],
  ['f3_5', 1e-6, 438165, 0.000026025374474769806, 2.6006863376888003e-11],
  ['f4_5', 1e-3, 1307943, 0.0000017914339938655329, 1.7901216314571966e-9],
  ['f5_5', 1e-3, 344799, 0.00030921883281362383, 3.0778754513288641e-7],
  ['f5_5', 4e-5, 1556919, 0.00030935892669424871, 1.2371515498528956e-8],
  ['f6_6', 1e-3, 17479911, 154750335.55993396, 154730.08167329236],
];

describe('up to 6 dimensions: the evaluations of Cuba exactly, its value to 2e-11, its error to 1e-6', () => {
  test.each(CUBA)('%s at %d: %i evaluations', async (name, relTol, evaluations, value, error) => {
    const r = await run(name, relTol);
    expect([r.status, r.evaluations]).toEqual(['converged', evaluations]);
    expect(Math.abs(r.value / value - 1)).toBeLessThan(2e-11);
    expect(Math.abs(r.error / error - 1)).toBeLessThan(1e-6);
  });
});

/** The same source; its claims of f8 at 1e-3 and f7 at 4e-5 are not true. */
// biome-ignore format: a table
const CUBA_8: [string, number, number, number, boolean][] = [
  ['f7_8', 1e-3, 177905, 1494352.4988658768, true],
  ['f7_8', 4e-5, 1046435, 1495295.3576630414, false],
  ['f8_8', 1e-3, 3315, 8867.7060781283726, false],
  ['f8_8', 4e-5, 272935, 8879.7183822631032, true],
];

describe('8 dimensions: more evaluations than Cuba, and every claim is true', () => {
  test.each(CUBA_8)('%s at %d: more than %i', async (name, relTol, evaluations, value, theirs) => {
    const { truth } = entry(name);
    expect(Math.abs(value / truth! - 1) <= relTol).toBe(theirs);
    const r = await run(name, relTol);
    expect(r.status).toBe('converged');
    expect(r.evaluations).toBeGreaterThan(evaluations);
    expect(Math.abs(r.value / truth! - 1)).toBeLessThanOrEqual(relTol);
  });
});

describe('what it does', () => {
  test('evaluates the box, then two halves at a time that make up a region it had', async () => {
    const device = spyDevice();
    const f3 = entry('f3_3');
    // without witnesses nobody looks at regions before the claim either
    const options = { dims: 3, method: 'cuhre', relTol: 1.6e-6, cubature: { witnesses: 0 } } as const;
    const r = await integrate(f3.f as never, { ...options, device });
    expect(device.tasks.map(t => t.count)).toEqual([1, ...new Array<number>(29).fill(2)]);
    expect(r.regions).toBe(30);
    const here = new Set(boxesOf(device.tasks[0]).map(b => JSON.stringify(b)));
    for (const task of device.tasks.slice(1)) {
      const [left, right] = boxesOf(task);
      const axis = left.findIndex(([low], d) => low !== right[d][0]);
      expect(left[axis][1]).toBe(right[axis][0]);
      const whole = left.map((range, d) => (d === axis ? [range[0], right[d][1]] : range));
      expect(here.delete(JSON.stringify(whole))).toBe(true);
      here.add(JSON.stringify(left)).add(JSON.stringify(right));
    }
    expect(here.size).toBe(30);
    await device.close();
  });
  test.each([
    ['f3_3', 'degree11', 7493],
    ['f3_3', 'degree9', 7315],
    ['f3_3', 'degree7', 10101],
    ['f3_3', 'genz-malik', 10131],
  ] as const)('%s with rule %s at 1e-6: %i evaluations, and true', async (name, rule, evaluations) => {
    const { f, dims, truth } = entry(name);
    const r = await integrate(f as never, {
      dims,
      method: 'cuhre',
      relTol: 1e-6,
      cubature: { rule, witnesses: 0 },
    });
    expect([r.status, r.evaluations]).toEqual(['converged', evaluations]);
    expect(Math.abs(r.value / truth! - 1)).toBeLessThanOrEqual(1e-6);
  });
  test('has no use for split: it changes nothing', async () => {
    const { f } = entry('f3_3');
    const run = (split: number) =>
      integrate(f as never, { dims: 3, method: 'cuhre', relTol: 1.6e-6, cubature: { split } });
    const [one, two] = [await run(1), await run(2)];
    expect([two.value, two.error, two.evaluations]).toEqual([one.value, one.error, one.evaluations]);
  });
  test('its text: value(error), no chi2; its table: evaluations, and the regions', async () => {
    const r = await run('f3_3', 1.6e-6);
    expect(`${r}`).toMatch(
      /^0\.0108465609\(\d+\) {2}not checked by random points {2}cuhre on cpu, 7\.5e\+3 evaluations, \d+ ms$/,
    );
    expect(r.summary().split('\n')[0]).toBe('cuhre on cpu, 30 regions');
    expect(r.summary().split('\n')[1]).toMatch(/^itn +integral +evaluations$/);
    expect(r.summary().split('\n')).toHaveLength(2 + r.iterations.length);
  });
});
