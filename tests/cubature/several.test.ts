/** Deterministic methods with several results: known integrals, the worst result decides, goals, and how runs end. */
import { describe, expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';
import { RegionStore } from '../../src/tasks/pool/store.ts';

const methods = ['cuhre', 'two-phase', 'pagani'] as const;

/** exp(i·(3x + y)) over the unit square: (e^{3i} − 1)/(3i) · (e^{i} − 1)/i. */
const WAVE = { re: -0.265348856622898, im: 0.5797978293918973 };
/** A quarter of a disc of radius √0.7. */
const DISC = (Math.PI * 0.7) / 4;

const moments = ([x, y]: number[]) => {
  const w = Math.exp(-20 * ((x - 0.3) ** 2 + (y - 0.6) ** 2));
  return { norm: w, of: { mean: w * x, second: w * x * x } };
};
const discAndSmooth = ([x, y]: number[]) => ({
  smooth: Math.exp(x + y),
  disc: x * x + y * y < 0.7 ? 1 : 0,
});

describe.each(methods)('%s', method => {
  test('a complex exponential: both parts are within their errors, and these within 1e-8', async () => {
    const r = await integrate(([x, y]) => ({ re: Math.cos(3 * x + y), im: Math.sin(3 * x + y) }), {
      dims: 2,
      method,
      relTol: 1e-8,
    });
    expect(r.status).toBe('converged');
    for (const part of ['re', 'im'] as const) {
      expect(Math.abs(r.value[part] - WAVE[part])).toBeLessThan(r.error[part] + 1e-15);
      expect(r.error[part]).toBeLessThan(1e-8 * Math.abs(WAVE[part]));
    }
    expect(r.correlations).toBeUndefined();
    expect(r.chi2).toEqual({ re: 0, im: 0 });
  });

  test('moments of a peak: each is what it is alone, within both errors', async () => {
    const options = { dims: 2, method, relTol: 1e-5 };
    const r = await integrate(moments, options);
    expect(r.converged).toBe(true);
    const alone = [
      await integrate(([x, y]) => Math.exp(-20 * ((x - 0.3) ** 2 + (y - 0.6) ** 2)), options),
      await integrate(([x, y]) => Math.exp(-20 * ((x - 0.3) ** 2 + (y - 0.6) ** 2)) * x, options),
      await integrate(([x, y]) => Math.exp(-20 * ((x - 0.3) ** 2 + (y - 0.6) ** 2)) * x * x, options),
    ];
    const values = [r.value.norm, r.value.of.mean, r.value.of.second];
    const errors = [r.error.norm, r.error.of.mean, r.error.of.second];
    alone.forEach((own, i) => {
      expect(Math.abs(values[i] - own.value)).toBeLessThan(errors[i] + own.error);
      expect(errors[i]).toBeLessThanOrEqual(1e-5 * Math.abs(values[i]));
    });
  });

  test('something smooth beside the indicator of a disc: regions are halved for the disc, and both meet 1e-3', async () => {
    const r = await integrate(discAndSmooth, { dims: 2, method, relTol: 1e-3 });
    expect(r.converged).toBe(true);
    expect(Math.abs(r.value.disc - DISC)).toBeLessThan(1e-3 * DISC);
    expect(Math.abs(r.value.smooth - (Math.E - 1) ** 2)).toBeLessThan(1e-3);
    const disc = await integrate(([x, y]) => (x * x + y * y < 0.7 ? 1 : 0), {
      dims: 2,
      method,
      relTol: 1e-3,
    });
    expect(r.regions).toBeGreaterThan(disc.regions! / 1.5);
    expect(r.regions).toBeLessThan(disc.regions! * 1.5);
  });

  test('with the smooth one as the only goal the disc is carried along, with a larger error that is true', async () => {
    const r = await integrate(discAndSmooth, { dims: 2, method, relTol: 1e-6, goals: 'smooth' });
    expect(r.converged).toBe(true);
    const smooth = await integrate(([x, y]) => Math.exp(x + y), { dims: 2, method, relTol: 1e-6 });
    expect(r.regions).toBe(smooth.regions);
    expect(r.error.smooth).toBeLessThan(1e-6 * r.value.smooth);
    expect(r.error.disc).toBeGreaterThan(1e-3);
    expect(Math.abs(r.value.disc - DISC)).toBeLessThan(r.error.disc);
  });

  test('a slab that only the second result has, between the points of the rule: witnesses find it', async () => {
    const r = await integrate(([x, y]) => [1 + x * y, x > 0.31 && x < 0.34 ? 10 : 1], {
      dims: 2,
      method,
      relTol: 1e-3,
    });
    expect(r.converged).toBe(true);
    expect(Math.abs(r.value[1] - 1.27)).toBeLessThan(1e-3 * 1.27);
  });

  test('20 results in two passes: powers of x, each to 1e-9', async () => {
    const r = await integrate(
      ([x]: number[]) => {
        const powers = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        for (let i = 1; i < 20; i++) powers[i] = powers[i - 1] * x;
        return powers;
      },
      { dims: 1, method, relTol: 1e-9, cubature: { witnesses: 0 } },
    );
    expect(r.converged).toBe(true);
    r.value.forEach((v: number, i: number) => {
      expect(Math.abs(v - 1 / (i + 1))).toBeLessThan(1e-9 / (i + 1));
    });
  });

  test('a result that is 0 by symmetry meets no relative tolerance: rounding ends the run, with true errors', async () => {
    const odd = ([x, y]: number[]) => ({ even: Math.cos(x + y), odd: Math.sin(x + y) });
    const domain = [
      [-1, 1],
      [-1, 1],
    ] as const;
    const options = { domain, method, maxEvaluations: 1e6 };
    const r = await integrate(odd, options);
    expect(r.converged).toBe(false);
    expect(Math.abs(r.value.odd)).toBeLessThanOrEqual(r.error.odd);
    expect(Math.abs(r.value.even - 4 * Math.sin(1) ** 2)).toBeLessThanOrEqual(r.error.even + 1e-15);
    expect((await integrate(odd, { ...options, absTol: 1e-9 })).converged).toBe(true);
    expect((await integrate(odd, { ...options, goals: 'even' })).converged).toBe(true);
  });

  test('a result that is 0 everywhere is named', async () => {
    const r = await integrate(([x]) => ({ sum: 1 + x, none: 0 * x }), {
      dims: 1,
      method,
      maxEvaluations: 2e6,
    });
    expect(r.status).toBe('budget');
    expect(r.value).toEqual({ sum: expect.closeTo(1.5), none: 0 });
    expect(r.warnings.join()).toMatch(/values of none were 0/);
  });

  test('iterations have the values and errors of all results', async () => {
    const { iterations, value, error } = await integrate(moments, { dims: 2, method, relTol: 1e-5 });
    const last = iterations.at(-1)!;
    expect(last.values).toEqual([value.norm, value.of.mean, value.of.second]);
    expect(last.errors).toEqual([error.norm, error.of.mean, error.of.second]);
    expect([last.value, last.error]).toEqual([value.norm, error.norm]);
  });

  test('a list of one number is that number', async () => {
    const r = await integrate(([x, y]) => [Math.exp(x + y)], { dims: 2, method });
    const alone = await integrate(([x, y]) => Math.exp(x + y), { dims: 2, method });
    expect([r.value, r.error, r.evaluations]).toEqual([[alone.value], [alone.error], alone.evaluations]);
  });

  test('as JavaScript: the same regions as compiled, values to rounding', async () => {
    const f = ([x, y]: number[]) => ({ a: 1 / (1 + x * x + y), b: x < 0.3 ? y : 2 });
    const options = { dims: 2, method, relTol: 1e-3, cubature: { witnesses: 3000 } };
    const [js, cpu] = [
      await integrate(f, { ...options, device: 'js' }),
      await integrate(f, { ...options, device: 'cpu' }),
    ];
    expect([js.regions, js.status]).toEqual([cpu.regions, cpu.status]);
    expect(Math.abs(js.value.a - cpu.value.a)).toBeLessThan(1e-13);
    expect(Math.abs(js.value.b - cpu.value.b)).toBeLessThan(1e-13);
  });
});

test('pagani without the memory that it wants: regions are finished for both goals, and the errors are true', async () => {
  const options = { dims: 2, method: 'pagani', relTol: 2e-4, cubature: { maxMemory: 2 ** 20 } } as const;
  const r = await integrate(discAndSmooth, options);
  expect(r.status === 'memory' || r.warnings.join().includes('regions were finished')).toBe(true);
  expect(r.regions).toBeGreaterThan(2 ** 20 / 3 / 104); // more than fit at a time
  expect(Math.abs(r.value.disc - DISC)).toBeLessThan(r.error.disc);
  expect(Math.abs(r.value.smooth - (Math.E - 1) ** 2)).toBeLessThan(r.error.smooth + 1e-12);
});

describe('a store of several results', () => {
  /** Two regions whose two results bend along different axes. */
  const list = () => ({
    count: 2,
    centres: Float64Array.of(0.25, 0.75, 0.5, 0.5),
    levels: Uint8Array.of(1, 1, 0, 0),
    values: Float64Array.of(1, 2, 10, 20),
    errors: Float64Array.of(0.3, 0.1, 1, 2),
    axes: Uint8Array.of(0, 0, 1, 1),
  });

  test('regions need the largest error in units of its scale, and are halved along the axis of that result', () => {
    const store = new RegionStore(2, 2, 1); // has to grow
    for (const i of [0, 1]) store.add(list(), i);
    store.rank([0.1, 1]);
    expect([...store.needs.subarray(0, 2)]).toEqual([3, 2].map(n => expect.closeTo(n)));
    expect([store.axis(0), store.axis(1)]).toEqual([0, 1]);
    store.rank([Infinity, 1]);
    expect([...store.needs.subarray(0, 2)]).toEqual([1, 2]);
    expect([store.axis(0), store.axis(1)]).toEqual([1, 1]);
    expect(store.totals().map(t => [t.value, t.error])).toEqual([
      [3, expect.closeTo(0.4)],
      [30, 3],
    ]);
    store.remove([0]);
    expect([store.needs[0], store.columns[0].values[0], store.columns[1].values[0]]).toEqual([2, 2, 20]);
    expect(store.list(2)).toMatchObject({ values: Float64Array.of(2, 20), errors: Float64Array.of(0.1, 2) });
  });
});
