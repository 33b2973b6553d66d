/** The same bits for any number of workers, for work shared with others, and again; other bits for another seed. */
import { afterAll, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import type { Device } from '../../src/devices/device.ts';
import { integrate, type Result } from '../../src/index.ts';
import { catalogue } from '../integrands/catalogue.ts';

const open = [1, 2, 3].map(n => new CpuDevice(n));
const shared: Device = {
  name: 'shared',
  kind: open[2].kind,
  epsilon: open[2].epsilon,
  open: integrand => open[2].open(integrand, { shared: true }),
  close: async () => {},
};
afterAll(() => Promise.all(open.map(d => d.close())));

const bitsOf = ({ value, error, evaluations, status, iterations, chi2, q, warnings }: Result) => ({
  value,
  error,
  evaluations,
  status,
  iterations,
  chi2,
  q,
  warnings,
});

describe('bit-identical', () => {
  test.each([
    ['f1_5', {}],
    ['f4_5', {}],
    ['f6_6', { depth: 2 }],
    ['f2_3', { blocks: 70, samples: 3, trials: 2 }], // 343,000 blocks: slabs
    ['linear_10', {}],
    ['f4_3', { depth: 1 }],
    ['gaussian_4', { blocks: 1, samples: 70_000 }], // a block larger than a chunk
    ['asian_geometric_16', {}, 3e5],
  ] as [string, object, number?][])(
    '%s, %o: on 1, 2 and 3 workers, new and in use, alone and shared',
    async (name, zmc, maxEvaluations = 2e6) => {
      const { f, domain, params = {} } = catalogue.find(e => e.name === name)!;
      const run = (device: string | Device, seed = 7) =>
        integrate(
          f as never,
          {
            domain,
            params,
            method: 'zmc',
            relTol: 1e-4,
            maxEvaluations,
            seed,
            device,
            zmc,
          } as never,
        );
      const first = await run(open[0]);
      for (const device of [...open, shared, 'cpu:2', 'cpu'])
        expect(bitsOf(await run(device))).toEqual(bitsOf(first));
      const other = await run(open[1], 8);
      expect(other.value).not.toBe(first.value);
    },
  );
  test('several runs at once on one device do not get into each other', async () => {
    const { f, dims } = catalogue.find(e => e.name === 'f4_5')!;
    const run = (seed: number) =>
      integrate(f as never, {
        dims,
        method: 'zmc',
        relTol: 1e-2,
        maxEvaluations: 2e6,
        seed,
        device: open[2],
      });
    const together = await Promise.all([1, 2, 3, 4].map(run));
    for (const [i, r] of together.entries()) expect(bitsOf(await run(i + 1))).toEqual(bitsOf(r));
  });
  test('without a seed the seed is 1; a seed beyond 2^53 counts to the last bit', async () => {
    const run = (seed?: bigint) =>
      integrate(([x, y]) => x * y, {
        dims: 2,
        method: 'zmc',
        relTol: 1e-2,
        ...(seed !== undefined && { seed }),
      });
    expect((await run()).value).toBe((await run(1n)).value);
    expect((await run(2n ** 60n)).value).not.toBe((await run(2n ** 60n + 1n)).value);
  });
});
