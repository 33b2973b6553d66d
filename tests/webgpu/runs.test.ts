/** Whole runs on WebGPU: is float32 admitted, do runs end, is a lost GPU opened again. On SwiftShader. */
import { describe, expect, test } from 'vitest';
import { integrate } from '../../src/integrate.ts';
import { CUT_BEHIND } from '../claims/behind-borders.ts';
import { bundled } from './bundled.ts';
import { absent, runOnSwiftShader } from './swiftshader.ts';

describe.skipIf(absent)('runs on SwiftShader', () => {
  let found: Promise<Map<string, Record<string, unknown>>> | null = null;
  // the process ends by itself, although nothing was closed
  const run = async () => {
    const printed = await runOnSwiftShader(await bundled('runs-main'));
    const lines = printed.trim().split('\n');
    return new Map(lines.map(line => JSON.parse(line)).map(({ name, ...rest }) => [name, rest]));
  };
  const told = async (name: string) => {
    found ??= run();
    return (await found).get(name) as Record<string, never>;
  };
  const LONG = 1_200_000;

  test.each(['vegas+', 'mcubes', 'lattice', 'pagani', 'two-phase', 'zmc', 'auto'])(
    '%s: where float32 leaves 1e-4, 1e-6 ends with `roundoff` after 1e6 of 1e9 evaluations at most, and the error covers it',
    async method => {
      const { off, error, status, evaluations, warnings } = await told(`noise of ${method}`);
      expect(off).toBeLessThan(2 * error);
      expect(error).toBeGreaterThan(1e-5);
      expect(error).toBeLessThan(1e-4);
      expect(status).toBe('roundoff');
      expect(evaluations).toBeLessThan(1e6);
      expect(warnings).toContainEqual(expect.stringMatching(/float32.*use device: 'cpu'/));
    },
    LONG,
  );

  test(
    'the same seed gives the value of the CPU to float32 rounding: 1e-6 of it',
    async () => {
      const { single, double, error } = await told('the same seed');
      expect(Math.abs(single - double)).toBeLessThan(1e-6 * double);
      expect(error).toBeGreaterThan(1e-3 * double); // which is far less than the error of both
    },
    LONG,
  );

  test.each([1.5, 1.7, 1.9].flatMap(p => [3e-4, 1e-4].map(relTol => [p, relTol])))(
    'pagani claims (x₁ + … + x₅)^−p truly: p %d, to %d',
    async (p, relTol) => {
      const { off, status } = await told(`a corner, p ${p}, to ${relTol}`);
      expect(status).toBe('converged');
      expect(off).toBeLessThanOrEqual(1);
    },
    LONG,
  );

  test.each(CUT_BEHIND)(
    'pagani claims to 1e-3 truly where the integrand ends %d behind a border',
    async behind => {
      const { off, status } = await told(`a step ${behind} behind a border`);
      expect(status).toBe('converged');
      expect(off).toBeLessThanOrEqual(1);
    },
    LONG,
  );

  test(
    'cuhre is refused, with what to use instead',
    async () => {
      expect((await told('cuhre')).message).toMatch(/cuhre.*float32.*pagani/);
    },
    LONG,
  );

  test(
    'a scan binds its params one after the other',
    async () => {
      const [half, two] = (await told('scan')).values as unknown as number[];
      expect(half).toBeCloseTo(0.5, 2);
      expect(two).toBeCloseTo(2, 2);
    },
    LONG,
  );

  test(
    'numbers that float32 does not have are told',
    async () => {
      const warnings = (await told('numbers beyond float32')).warnings as unknown as string[];
      expect(
        warnings.filter(w => /float32 does not have params\.(a = 1e-60|b = 1e\+39)/.test(w)),
      ).toHaveLength(2);
    },
    LONG,
  );

  test.each([1e20, 1e30, 1e-25])(
    'an integral of %s is seen before its unit is known',
    async size => {
      const { value, error, status } = await told(`an integral of ${size}`);
      expect(status).toBe('converged');
      expect(Math.abs(value - 1)).toBeLessThan(5 * error);
      expect(error).toBeLessThan(0.02);
    },
    LONG,
  );

  test(
    'lattice reaches 1e-4',
    async () => {
      const { off, error, status } = await told('lattice');
      expect(status).toBe('converged');
      expect(off).toBeLessThan(5 * error);
    },
    LONG,
  );

  test(
    'a signal ends a run; a GPU that is lost rejects the run with the reason, and the next run opens it again',
    async () => {
      expect((await told('aborted')).status).toBe('aborted');
      const { message, again } = await told('lost');
      expect(message).toMatch(/^WebGpuError: the GPU was lost/);
      expect(again).toBe('converged');
    },
    LONG,
  );
});

test('without a driver the message says what WebGPU needs', async () => {
  const run = integrate(([x]) => x, { dims: 1, device: 'webgpu' });
  await run.then(
    r => expect(r.device).toMatch(/^webgpu/), // this machine has one
    e => expect(e.message).toMatch(/Vulkan driver|npm install webgpu/),
  );
});
