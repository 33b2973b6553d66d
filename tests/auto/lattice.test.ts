/** `auto` measures with lattices where a trial of them on the map of VEGAS+ shows that they need fewer evaluations. */
import { integrate } from 'quadrille';
import { describe, expect, test } from 'vitest';
import { catalogue } from '../integrands/catalogue.ts';

const entryOf = (name: string) => catalogue.find(e => e.name === name)!;
const run = (name: string, options: object) => {
  const { f, domain } = entryOf(name);
  return integrate(f as never, { domain, maxEvaluations: 5e7, ...options } as never);
};
/** Options of VEGAS+ are meant for its samples: with one that is as it is by default, nothing changes but that lattices are not tried. */
const withoutLattices = { vegas: { maxStrata: 2 ** 20 } };

describe('auto and lattices', () => {
  test.each([
    ['f2_6', 1e-4, 5],
    ['f5_8', 1e-4, 10],
    ['roos_arnold_10', 1e-4, 10],
  ])('%s to %d takes at least %d times fewer evaluations', async (name, relTol, times) => {
    const [r, before] = [await run(name, { relTol }), await run(name, { relTol, ...withoutLattices })];
    expect([r.method, r.status, before.method]).toEqual(['lattice', 'converged', 'vegas+']);
    expect(Math.abs(r.value - Number(entryOf(name).truth))).toBeLessThan(4 * r.error);
    expect(times * r.evaluations).toBeLessThan(before.evaluations);
  });

  test('a budget that vegas+ cannot do with: lattices are tried before pagani gets most of it', async () => {
    const r = await run('f2_6', { relTol: 1e-4, maxEvaluations: 2e6 });
    expect([r.method, r.status]).toEqual(['lattice', 'converged']);
    expect(Math.abs(r.value - Number(entryOf('f2_6').truth))).toBeLessThan(4 * r.error);
  });

  test('f3 in 8 dimensions, where lattices gain nothing: trials of them take at most 4 % of the evaluations', async () => {
    const [r, before] = [
      await run('f3_8', { relTol: 1e-3 }),
      await run('f3_8', { relTol: 1e-3, ...withoutLattices }),
    ];
    expect([r.method, r.status]).toEqual(['vegas+', 'converged']);
    expect(r.evaluations).toBeGreaterThan(before.evaluations);
    expect(r.evaluations).toBeLessThan(1.04 * before.evaluations);
  });

  test.each([
    ['f5_8', 1e-4, 'lattice'],
    ['f3_8', 1e-3, 'vegas+'],
  ])('%s to %d by %s: its state goes on, and has the same bits', async (name, relTol, method) => {
    const whole = await run(name, { relTol });
    const resumed = await run(name, { relTol, resume: whole.state });
    expect(whole.method).toBe(method);
    expect([resumed.method, resumed.value, resumed.error]).toEqual([method, whole.value, whole.error]);
  });
});
