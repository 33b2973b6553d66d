/**
 * No false `converged` on WebGPU, judged as on the CPU (../claims/verdict.ts): what float32 adds is part of the error, so there is no
 * further room. On SwiftShader. Some of the trials of `bench/claims.ts --device webgpu`, with seeds of their own.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { kinds } from '../claims/kinds/index.ts';
import { bundled } from './bundled.ts';
import type { Told } from './claims-main.ts';
import { absent, runOnSwiftShader } from './swiftshader.ts';

const METHODS = ['auto', 'vegas+', 'mcubes', 'zmc', 'pagani', 'two-phase', 'lattice', 'plain'];

describe.skipIf(absent)('claims on SwiftShader', () => {
  let found: Promise<Told[]> | null = null;
  const run = async (): Promise<Told[]> => {
    const printed = await runOnSwiftShader(await bundled('claims-main'));
    return printed
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
  };
  const told = () => {
    found ??= run();
    return found;
  };
  const LONG = 1_200_000;
  const claimed = ({ claim }: Told) => claim !== 'none';

  test.each(kinds.map(k => k.name))(
    '%s: no claim is false',
    async kind => {
      const own = (await told()).filter(t => t.kind === kind);
      expect(own.length).toBeGreaterThan(0);
      expect(own.filter(t => t.claim === 'false').map(t => t.text)).toEqual([]);
    },
    LONG,
  );

  test.each(METHODS)(
    '%s makes at least 6 claims: a method that claims nothing lies about nothing',
    async method => {
      expect((await told()).filter(t => t.method === method && claimed(t)).length).toBeGreaterThanOrEqual(6);
    },
  );

  test('at least 110 claims, in 1 to 8 dimensions, with tolerances of 1e-2, 1e-3 and 1e-4', async () => {
    const claims = (await told()).filter(claimed);
    expect(claims.length).toBeGreaterThanOrEqual(110);
    expect(new Set((await told()).map(t => t.dims)).size).toBe(8);
    expect(new Set(claims.map(t => t.relTol)).size).toBe(3);
  });

  afterAll(async () => {
    if (!found) return;
    const table: Record<string, { runs: number; claims: number }> = {};
    for (const t of await found) {
      table[t.method] ??= { runs: 0, claims: 0 };
      table[t.method].runs++;
      if (claimed(t)) table[t.method].claims++;
    }
    console.table(table);
  });
});
