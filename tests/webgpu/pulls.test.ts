/**
 * Error bars on WebGPU are true, as on the CPU (../truth/pulls.test.ts): root mean squares of pulls between 0.85 and 1.2. On SwiftShader.
 * The root mean square of 200 normal pulls deviates from 1 by 0.05, that of 50 by 0.1; seeds are fixed. The
 * CPU has the same pulls with these seeds, to about 0.01.
 */
import { describe, expect, test } from 'vitest';
import { bundled } from './bundled.ts';
import { INTEGRANDS, METHODS, SEEDS } from './pulls.ts';
import { absent, runOnSwiftShader } from './swiftshader.ts';

interface Found {
  name: string;
  method: string;
  pulls: number[];
  claims: number;
}

const names = Object.keys(INTEGRANDS);

describe.skipIf(absent)('pulls on SwiftShader', () => {
  let found: Promise<Found[]> | null = null;
  const run = async (): Promise<Found[]> => {
    const printed = await runOnSwiftShader(await bundled('pulls-main'));
    return printed
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
  };
  const LONG = 1_200_000;

  test.each(Object.keys(METHODS))(
    `%s: ${SEEDS} seeds of each of ${names.length} integrands, 0.85 to 1.2 in all; 9 of 10 runs converge`,
    async method => {
      found ??= run();
      const own = (await found).filter(f => f.method === method);
      expect(own.map(f => f.name)).toEqual(names);
      const rms = (pulls: number[]) => Math.sqrt(pulls.reduce((s, p) => s + p * p, 0) / pulls.length);
      const all = own.flatMap(f => f.pulls);
      const mean = all.reduce((s, p) => s + p, 0) / all.length;
      console.log(
        method,
        Object.fromEntries(own.map(f => [f.name, rms(f.pulls).toFixed(2)])),
        rms(all).toFixed(3),
      );
      expect(Math.abs(mean)).toBeLessThan(0.25);
      expect(rms(all)).toBeGreaterThan(0.85);
      expect(rms(all)).toBeLessThan(1.2);
      // of a single integrand, within three deviations of a root mean square of 50
      for (const { name, pulls, claims } of own) {
        expect(Math.abs(rms(pulls) - 1), name).toBeLessThan(0.3);
        expect(claims, name).toBeGreaterThanOrEqual(0.9 * SEEDS);
      }
    },
    LONG,
  );
});
