/** The pool of regions on a card beyond what one block selects from and what its lists hold at first. */
import { expect, test } from 'vitest';
import { type Integrand, integrate } from '../../src/index.ts';
import { absent } from './emulated.ts';

/** Half a million oscillations: as many regions as the budget allows. */
const f: Integrand = ([x]) => 1 + Math.sin(3e6 * x * x);

const run = (device: string) =>
  integrate(f, { dims: 1, method: 'pagani', device, relTol: 1e-9, maxEvaluations: 2.1e6 });

test.skipIf(absent)(
  'lists of 70,000 regions: selected by many blocks, grown once, the value of the CPU',
  async () => {
    const [one, cpu] = [await run('cuda'), await run('cpu')];
    expect(one.regions).toBeGreaterThan(66_000);
    expect([one.status, cpu.status]).toEqual(['budget', 'budget']);
    expect(Math.abs(one.evaluations / cpu.evaluations - 1)).toBeLessThan(0.05);
    expect(Math.abs(one.value - cpu.value)).toBeLessThanOrEqual(one.error + cpu.error);
  },
  120_000,
);

test.skipIf(absent)(
  'more regions than maxMemory holds: `memory`, and the smallest error on the way',
  async () => {
    const seen: { value: number; error: number }[] = [];
    const r = await integrate(f, {
      dims: 1,
      method: 'pagani',
      device: 'cuda',
      relTol: 1e-9,
      cubature: { maxMemory: 2 ** 20 },
      onProgress: p => void seen.push(p),
    });
    expect(r.status).toBe('memory');
    const standing = seen.filter(p => Math.abs(p.value - seen.at(-1)!.value) <= p.error);
    expect(r.error).toBe(Math.min(...standing.map(p => p.error)));
    expect(r.regions).toBeGreaterThan(4000);
    expect(r.regions).toBeLessThan(2 ** 20 / 90);
  },
);
