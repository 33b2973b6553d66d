/** Files whose integrand returns several results. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { typed } from './typed.ts';

const folder = mkdtempSync(join(tmpdir(), 'quadrille-several-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'moments.mjs');
writeFileSync(
  file,
  'export default ([x], p) => ({ norm: Math.exp(-p.a * x), mean: { of: x * Math.exp(-p.a * x) } });\n',
);
const run = (...more: string[]) => typed(['run', file, '--dims', '1', '--method', 'vegas+', ...more]);

describe('several results', () => {
  test('have a line each, and one with the status', async () => {
    const { out, code } = await run('--param', 'a=1');
    expect(out).toMatch(
      /^norm {4}= 0\.63\d+\(\d+\) {2}chi2\/dof .*\nmean\.of = 0\.26\d+\(\d+\) .*\nconverged {2}vegas\+ on cpu/,
    );
    expect(code).toBe(0);
  });
  test('are in JSON with their shape and correlations', async () => {
    const { out } = await run('--param', 'a=1', '--json');
    const r = JSON.parse(out);
    expect(r.value.mean.of).toBeCloseTo(1 - 2 / Math.E, 2);
    expect(r.error.norm).toBeGreaterThan(0);
    expect(r.shape).toEqual({ norm: 'number', mean: { of: 'number' } });
    expect(r.correlations[0]).toHaveLength(3);
    expect(r.q.norm).toBeGreaterThan(0);
  });
  test('are columns of a scan', async () => {
    const { out } = await typed(['scan', file, '--dims', '1', '--method', 'vegas+', '--param', 'a=1,2']);
    const [head, first] = out.split('\n');
    expect(head).toBe('a,norm,norm error,mean.of,mean.of error,status,method,evaluations');
    expect(first.split(',')).toHaveLength(8);
  });
  test('are drawn by the first one', async () => {
    const drawing = join(folder, 'drawing.svg');
    await run('--param', 'a=1', '--svg', drawing);
    expect(readFileSync(drawing, 'utf8')).toMatch(/<title>.*0\.63/);
  });
});
