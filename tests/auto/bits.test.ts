/** `auto` decides nothing by the clock: the same bits for any number of workers, new or in use, alone or not, and again. */
import { afterAll, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { integrate, type Result } from '../../src/index.ts';
import { catalogue } from '../integrands/catalogue.ts';

const open = [1, 2, 3].map(n => new CpuDevice(n));
afterAll(() => Promise.all(open.map(d => d.close())));

const bitsOf = (r: Result) => {
  const { elapsed: _, device: __, ...same } = r;
  return same;
};

test.each([
  ['f6_6', 1e-2],
  ['f5_5', 1e-4],
  ['f4_8', 1e-3],
  ['f1_8', 1e-3],
  ['cosine_10', 1e-4],
  ['roos_arnold_10', 1e-4],
  ['path_integral_infinite_7', 1e-2],
  ['asian_geometric_16', 3e-3],
] as const)('%s at %d: on 1, 2 and 3 workers, and on those of a run of their own', async (name, relTol) => {
  const { f, domain, params = {} } = catalogue.find(e => e.name === name)!;
  const run = (device: CpuDevice | string, seed = 3) =>
    integrate(f as never, { domain, params, relTol, maxEvaluations: 2e6, seed, device } as never);
  const first = bitsOf(await run(open[0]));
  for (const device of [...open, 'cpu:2', 'cpu']) expect(bitsOf(await run(device))).toEqual(first);
});

test('four at once on one device: the bits of each alone', async () => {
  const names = ['f6_6', 'f5_5', 'cosine_10', 'f2_6'];
  const run = (name: string) => {
    const { f, dims } = catalogue.find(e => e.name === name)!;
    return integrate(f as never, { dims, relTol: 1e-3, maxEvaluations: 2e6, device: open[2] });
  };
  const together = await Promise.all(names.map(run));
  for (const [i, name] of names.entries()) expect(bitsOf(await run(name))).toEqual(bitsOf(together[i]));
});

test('a seed changes what vegas+ finds and nothing of what pagani does', async () => {
  const run = (name: string, seed: number, relTol: number) => {
    const { f, dims } = catalogue.find(e => e.name === name)!;
    return integrate(f as never, { dims, relTol, seed });
  };
  expect((await run('f6_6', 1, 1e-2)).value).not.toBe((await run('f6_6', 2, 1e-2)).value);
  expect((await run('f3_5', 1, 1e-3)).value).toBe((await run('f3_5', 2, 1e-3)).value);
});
