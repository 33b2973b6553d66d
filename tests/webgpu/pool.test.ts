/** The pool of regions of WebGPU: the same steps as the pool of the host with lists of the same device. On SwiftShader. */
import { describe, expect, test } from 'vitest';
import { bundled } from './bundled.ts';
import { absent, runOnSwiftShader } from './swiftshader.ts';

/** What a pool has after a step. */
type State = Record<string, number> & { step: never };

describe.skipIf(absent)('the pool of regions on SwiftShader', () => {
  let found: Promise<Map<string, Record<string, never>>> | null = null;
  const run = async () => {
    const printed = await runOnSwiftShader(await bundled('pool-main'));
    const lines = printed.trim().split('\n');
    return new Map(lines.map(line => JSON.parse(line)).map(({ name, ...rest }) => [name, rest]));
  };
  const told = async (name: string) => {
    found ??= run();
    return (await found).get(name)!;
  };
  const LONG = 1_200_000;

  test.each(['peak', 'slab', 'face'])(
    '%s: every step has the sums of lists on the host, to 1e-5 of the value and 2 % of the error',
    async name => {
      const { lists, pool } = await told(name);
      expect((pool as State[]).map(s => s.step)).toEqual((lists as State[]).map(s => s.step));
      for (const [i, own] of (pool as State[]).entries()) {
        const other = lists[i] as State;
        for (const what of ['count', 'done', 'evaluated']) expect(own[what], own.step).toBe(other[what]);
        expect(Math.abs(own.value - other.value)).toBeLessThan(1e-5 * other.absolute);
        expect(Math.abs(own.absolute - other.absolute)).toBeLessThan(1e-5 * other.absolute);
        for (const what of ['error', 'finished'])
          expect(Math.abs(own[what] - other[what]), own.step).toBeLessThanOrEqual(0.02 * other[what]);
      }
    },
    LONG,
  );

  test('a look across borders finds what lists find: the peak beside a wide region', async () => {
    const { pool } = await told('peak');
    expect((pool as State[]).find(s => String(s.step) === 'look')!.evaluated).toBeGreaterThan(0);
  });

  test.each(['peak', 'slab', 'face'])(
    '%s: witnesses say what the host says of the same points, to 5 % of their spread',
    async name => {
      const { lists, pool } = await told(name);
      const of = (states: State[]) => states.filter(s => String(s.step) === 'witness');
      for (const [i, own] of of(pool).entries()) {
        const other = of(lists)[i];
        expect(own.witnesses).toBe(other.witnesses);
        expect(Math.abs(own.evaluations - other.evaluations)).toBeLessThan(20); // rungs of ladders
        expect(Math.abs(own.deviation - other.deviation)).toBeLessThanOrEqual(0.05 * other.spread);
        expect(Math.abs(own.spread - other.spread)).toBeLessThanOrEqual(0.05 * other.spread);
        expect(Math.abs(own.surprise - other.surprise)).toBeLessThanOrEqual(0.05 * other.spread);
      }
    },
    LONG,
  );

  test(
    'lists of 66,000 regions grow once; more regions than maxMemory holds end with `memory`',
    async () => {
      const [many, few] = [await told('many'), await told('few')];
      expect(many.regions).toBeGreaterThan(66_000);
      expect(Math.abs(many.value - few.value)).toBeLessThan(many.error + few.error);
      expect(few.status).toBe('memory');
      expect(few.regions).toBeLessThan(2 ** 20 / 80);
    },
    LONG,
  );

  test(
    'an integrand with a loop, a workgroup per region: the value of the CPU to 1e-6, after as many evaluations',
    async () => {
      const { off, evaluations } = await told('loop');
      expect(off).toBeLessThan(1e-6);
      expect(evaluations[0]).toBe(evaluations[1]);
    },
    LONG,
  );

  test.each(['smooth', 'strip'])(
    '%s: a state is at most 16 KB, and a run that goes on with it has the bits of one run, noise and all',
    async name => {
      const { whole, resumed, again, rough, back, evaluations, record } = await told(`resumed ${name}`);
      expect(resumed).toBe(whole);
      expect(again).toBe(whole);
      expect(back).toBe(rough);
      expect(evaluations[1]).toBeGreaterThan(evaluations[0]);
      expect((record as string).length).toBeLessThan(2 ** 14);
      expect((record as string).includes('surprised')).toBe(name === 'strip');
    },
    LONG,
  );

  test(
    'values that are not finite are told with a point where they are',
    async () => {
      expect((await told('holes')).message).toMatch(/the integrand is NaN at \[0\.5, 0\.5\]/);
    },
    LONG,
  );
});
