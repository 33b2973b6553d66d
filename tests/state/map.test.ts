/** Runs that begin with the map of another one. */
import { describe, expect, test } from 'vitest';
import {
  type IntegrateOptions,
  integrate,
  OptionError,
  type Result,
  type State,
  scan,
} from '../../src/index.ts';

const peak = ([x, y, z]: number[], p: { at: number }) =>
  Math.exp(-400 * ((x - p.at) ** 2 + (y - p.at) ** 2 + (z - p.at) ** 2));
const truth = (Math.PI / 400) ** 1.5; // the tails beyond the cube are less than 1e-15 of it
const optionsAt = (at: number) => ({ dims: 3, params: { at }, relTol: 1e-3, method: 'vegas+' }) as const;
const adapting = (r: Result) => r.iterations.filter(i => i.adapting).length;
const bits = ({ elapsed: _, ...r }: Result) => ({ ...r });
const stored = (state: State | undefined): State => JSON.parse(JSON.stringify(state));

describe('map', () => {
  test.each(['vegas+', 'mcubes', 'mcubes1d'] as const)(
    '%s: a neighbour learns in at most half of the iterations, and its value is right',
    async method => {
      const first = await integrate(peak, { ...optionsAt(0.5), method });
      const alone = await integrate(peak, { ...optionsAt(0.51), method });
      const near = await integrate(peak, { ...optionsAt(0.51), method, map: stored(first.state) });
      expect(near.status).toBe('converged');
      expect(adapting(near)).toBeLessThanOrEqual(adapting(alone) / 2);
      for (const r of [alone, near]) expect(Math.abs(r.value - truth) / r.error).toBeLessThan(4);
    },
  );
  test('a map that misleads is learned anew: the peak is elsewhere', async () => {
    const first = await integrate(peak, optionsAt(0.2));
    const far = await integrate(peak, { ...optionsAt(0.8), map: first.state! });
    expect(Math.abs(far.value - truth) / far.error).toBeLessThan(4);
    expect(far.status).toBe('converged');
  });
  test('pulls of 60 neighbours, each with the map of one run: mean within 0.5, spread 0.7 to 1.3', async () => {
    const { state } = await integrate(peak, optionsAt(0.5));
    const pulls: number[] = [];
    for (let seed = 1; seed <= 60; seed++) {
      const r = await integrate(peak, { ...optionsAt(0.505), relTol: 3e-3, seed, map: state! });
      pulls.push((r.value - truth) / r.error);
    }
    const mean = pulls.reduce((a, b) => a + b, 0) / pulls.length;
    const spread = Math.sqrt(pulls.reduce((s, p) => s + (p - mean) ** 2, 0) / pulls.length);
    expect(Math.abs(mean)).toBeLessThan(0.5);
    expect(spread).toBeGreaterThan(0.7);
    expect(spread).toBeLessThan(1.3);
  });
  test('of another domain: each axis is stretched', async () => {
    const first = await integrate(peak, optionsAt(0.5));
    const { dims: _, ...rest } = optionsAt(1);
    const domain = Array.from({ length: 3 }, () => [0, 2] as const);
    const wide = await integrate(peak, { ...rest, domain, map: first.state! });
    expect(Math.abs(wide.value - truth) / wide.error).toBeLessThan(4);
    expect(adapting(wide)).toBeLessThan(adapting(first));
  });
  test('a run that began with a map is resumed with the bits of one that was not interrupted', async () => {
    const { state } = await integrate(peak, optionsAt(0.5));
    const options = { ...optionsAt(0.52), map: state! };
    const whole = await integrate(peak, { ...options, relTol: 3e-4 });
    const { map: _, ...rest } = options;
    for (const maxEvaluations of [2e4, 1e9]) {
      const rough = await integrate(peak, { ...options, maxEvaluations });
      const resumed = await integrate(peak, { ...rest, relTol: 3e-4, resume: stored(rough.state) });
      expect(bits(resumed), `${maxEvaluations}`).toEqual(bits(whole));
    }
  });
  test.each<[string, Partial<IntegrateOptions>, RegExp]>([
    ['another number of dimensions', { dims: 4 }, /is a state of 3 dimensions, not 4/],
    [
      'a method without a map',
      { method: 'plain' },
      /of vegas\+, whose map plain cannot use; use method 'vegas\+'/,
    ],
    ['a deterministic method', { method: 'cuhre' }, /whose map cuhre cannot use/],
    ['one map for all axes', { method: 'mcubes1d' }, /whose map mcubes1d cannot use/],
  ])('refused: %s', async (_, change, message) => {
    const { state } = await integrate(peak, optionsAt(0.5));
    const run = integrate(peak, { ...optionsAt(0.5), ...change, map: state! } as IntegrateOptions);
    await expect(run).rejects.toThrow(OptionError);
    await expect(run).rejects.toThrow(message);
  });
});

describe('scan with reuseMaps', () => {
  const params = Array.from({ length: 20 }, (_, i) => ({ at: 0.4 + 0.01 * i }));
  const options = { dims: 3, params, relTol: 1e-3, method: 'vegas+' } as const;
  test('all but the first of eight parts learn less; values are right, and bits the same every time', async () => {
    const [alone, reused, again] = [
      await scan(peak, options),
      await scan(peak, { ...options, reuseMaps: true }),
      await scan(peak, { ...options, reuseMaps: true, device: 'cpu:2' }),
    ];
    const all = (list: Result[]) => list.reduce((n, r) => n + adapting(r), 0);
    expect(all(reused)).toBeLessThan(0.75 * all(alone));
    for (const r of reused) expect(Math.abs(r.value - truth) / r.error).toBeLessThan(4);
    expect(again.map(r => r.value)).toEqual(reused.map(r => r.value));
    expect(reused.every(r => r.state === undefined)).toBe(true);
  });
  test.each<[object, RegExp]>([
    [{ reuseMaps: 1 }, /^scan: `reuseMaps` is no boolean; pass true or false/],
    [
      { reuseMaps: true, method: 'auto' },
      /^scan: `reuseMaps` is true, and method 'auto' hands no map on; use/,
    ],
    [{ resume: {} }, /^scan: unknown option `resume`; a state is of one integral: pass it to `integrate`/],
  ])('%o is refused', async (change, message) => {
    await expect(scan(peak as never, { ...options, ...change } as never)).rejects.toThrow(message);
  });
});
