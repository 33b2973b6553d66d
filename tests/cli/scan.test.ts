/** `quadrille scan`: rows in order, as CSV or JSON lines. */
import { describe, expect, test } from 'vitest';
import { typed } from './typed.ts';

const rows = (out: string) =>
  out
    .trimEnd()
    .split('\n')
    .map(l => l.split(','));

describe('scan', () => {
  test('CSV with a header, a row a value, in order', async () => {
    const { code, out, err } = await typed([
      'scan',
      'x^a',
      'x=0..1',
      '--param',
      'a=0:2:0.5',
      '--rel-tol',
      '1e-6',
    ]);
    expect(code).toBe(0);
    expect(err).toBe('');
    const [header, ...found] = rows(out);
    expect(header).toEqual(['a', 'value', 'error', 'status', 'method', 'evaluations']);
    expect(found.map(r => Number(r[0]))).toEqual([0, 0.5, 1, 1.5, 2]);
    for (const [a, value, error, status] of found) {
      expect(Number(value)).toBeCloseTo(1 / (Number(a) + 1), 5);
      expect(Number(error)).toBeLessThan(1e-5);
      expect(status).toBe('converged');
    }
  });
  test('several parameters make all combinations', async () => {
    const { out } = await typed(['scan', 'a*x + b', 'x=0..1', '--param', 'a=2,4', '--param', 'b=1,2,3']);
    expect(
      rows(out)
        .slice(1)
        .map(r => `${r[0]},${r[1]},${Number(r[2]).toFixed(6)}`),
    ).toEqual([
      '2,1,2.000000',
      '2,2,3.000000',
      '2,3,4.000000',
      '4,1,3.000000',
      '4,2,4.000000',
      '4,3,5.000000',
    ]);
  });
  test('JSON lines, with the members that are documented', async () => {
    const { out } = await typed(['scan', 'a*x', 'x=0..1', '--param', 'a=1,2', '--json']);
    const lines = out
      .trimEnd()
      .split('\n')
      .map(l => JSON.parse(l));
    expect(lines.map(l => l.params)).toEqual([{ a: 1 }, { a: 2 }]);
    expect(Object.keys(lines[0])).toEqual(
      'params value error status converged method choice device evaluations chi2 dof q regions witnesses nonFinite seed elapsed warnings'.split(
        ' ',
      ),
    );
  });
  test('rows that do not converge give 2, and those that fail 1, with the reason on stderr', async () => {
    const short = await typed([
      'scan',
      'x < a',
      'x=0..1',
      '-p',
      'a=0.3,0.4',
      '--method',
      'plain',
      '--rel-tol',
      '1e-9',
      '--max-evaluations',
      '5000',
    ]);
    expect(short.code).toBe(2);
    expect(rows(short.out)[1][3]).toBe('budget');
    const failing = await typed(['scan', 'log(x - a)', 'x=0..1', '-p', 'a=-1,2,-2']);
    expect(failing.code).toBe(1);
    expect(rows(failing.out).map(r => r[3])).toEqual(['status', 'converged', 'failed', 'converged']);
    expect(rows(failing.out)[2].slice(0, 3)).toEqual(['2', '', '']);
    expect(failing.err).toMatch(/^error: a=2: the integrand is NaN at x = [\d.]+; .*--on-non-finite zero/);
    expect((await typed(['scan', 'log(x - a)', 'x=0..1', '-p', 'a=2', '--quiet'])).err).toBe('');
  });
  test('values have the digits that the expression alone gives', async () => {
    const one = JSON.parse((await typed(['exp(-3x)', 'x=0..1', '--json'])).out);
    const { out } = await typed(['scan', 'exp(-a*x)', 'x=0..1', '-p', 'a=1,2,3', '--json']);
    expect(JSON.parse(out.split('\n')[2]).value).toBeCloseTo(one.value, 13);
  });
  test('in a terminal a line counts the integrals, and is gone when rows are printed', async () => {
    const { out, err } = await typed(
      ['scan', 'sin(a*x*y)^2', 'x,y=0..1', '-p', 'a=1:60:1', '--method', 'vegas+', '--rel-tol', '3e-4'],
      { outTTY: true, errTTY: true, env: { NO_COLOR: '1' } },
    );
    expect(rows(out)).toHaveLength(61);
    expect(err).toMatch(/\d+ of 60 integrals {2}about/);
    expect(err.endsWith('\r\x1b[2K')).toBe(true);
  });
  test('a mistake in the expression is told once', async () => {
    const { code, out, err } = await typed(['scan', 'x*b', 'x=0..1', '-p', 'a=1,2']);
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(err).toContain("'b' is neither a variable nor a parameter");
  });
});
