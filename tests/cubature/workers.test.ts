/** The same bits for any number of workers, for work shared with others, and again. */
import { afterAll, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import type { Device } from '../../src/devices/device.ts';
import { integrate } from '../../src/index.ts';
import type { Result } from '../../src/result.ts';
import { suite } from '../integrands/suite.ts';

const methods = ['cuhre', 'two-phase', 'pagani'] as const;
const cases = ['f1_5', 'f2_3', 'f5_5', 'f7_8'].flatMap(name => methods.map(m => [m, name] as const));

/** Devices that stay open, so that their workers are up. */
const open = [1, 2, 3].map(n => new CpuDevice(n));
/** Work goes to workers already from 4096 evaluations on, to one up to 65,536. */
const shared: Device = {
  name: 'shared',
  kind: open[2].kind,
  epsilon: open[2].epsilon,
  open: integrand => open[2].open(integrand, { shared: true }),
  close: async () => {},
};
afterAll(() => Promise.all(open.map(d => d.close())));

function expectSame(a: Result, b: Result) {
  expect(a.value).toBe(b.value);
  expect(a.error).toBe(b.error);
  expect(a.evaluations).toBe(b.evaluations);
  expect(a.regions).toBe(b.regions);
  expect(a.status).toBe(b.status);
  expect(a.iterations).toEqual(b.iterations);
}

describe('bit-identical', () => {
  test.each(cases)(
    '%s, %s: on 1, 2 and 3 workers, new and in use, alone and shared',
    async (method, name) => {
      const { f, dims } = suite.find(e => e.name === name)!;
      const run = (device: string | Device) =>
        integrate(f as never, { dims, method, relTol: 4e-5, maxEvaluations: 1.5e6, device });
      const first = await run(open[0]);
      for (const device of [...open, ...open, shared, 'cpu:2', 'cpu:3', 'cpu'])
        expectSame(await run(device), first);
    },
  );
  test.each(methods)('%s: again, and after another integrand on the same device', async method => {
    const { f } = suite.find(e => e.name === 'f5_5')!;
    const run = () => integrate(f as never, { dims: 5, method, relTol: 1e-3, device: open[1] });
    const first = await run();
    await integrate(([x, y]) => Math.sqrt(x * y), { dims: 2, method, relTol: 1e-6, device: open[1] });
    expectSame(await run(), first);
  });
  test('several runs at once on one device do not get into each other', async () => {
    const { f } = suite.find(e => e.name === 'f5_5')!;
    const run = (relTol: number) =>
      integrate(f as never, { dims: 5, method: 'pagani', relTol, device: open[2] });
    const tolerances = [1e-3, 5e-4, 2e-4, 1e-4];
    const together = await Promise.all(tolerances.map(run));
    for (const [i, relTol] of tolerances.entries()) expectSame(together[i], await run(relTol));
  });
  test('in memory that is soon full as well', async () => {
    const { f } = suite.find(e => e.name === 'f5_5')!;
    const run = (device: Device) =>
      integrate(f as never, {
        dims: 5,
        method: 'pagani',
        relTol: 1e-6,
        device,
        cubature: { maxMemory: 2 ** 20 },
      });
    expectSame(await run(open[2]), await run(open[0]));
  });
});
