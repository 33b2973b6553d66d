/** What is printed: lines for pipes, blocks for terminals, JSON; and the exit codes. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { typed } from './typed.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
const COLOUR = /\x1b\[\d+m/;
const gauss = ['exp(-(x^2 + y^2))', 'x=-inf..inf', 'y=0..1'];
const vegas = ['x^2 + y^2 < 1', 'x,y=0..1', '--method', 'vegas+'];

describe('piped', () => {
  test('only the result line', async () => {
    const { code, out, err } = await typed([...gauss, '--rel-tol', '1e-8']);
    expect(code).toBe(0);
    expect(err).toBe('');
    expect(out).toMatch(
      /^1\.32371131\d*\(\d+\) {2}converged {2}pagani \(auto\) on cpu, \S+ evaluations, \S+ m?s\n$/,
    );
  });
  test('a deterministic result without random points says that nobody checked it', async () => {
    const { out } = await typed([...gauss, '--method', 'cuhre', '--cubature.witnesses', '0']);
    expect(out).toMatch(/\(\d+\) {2}converged {2}not checked by random points {2}cuhre on cpu, /);
  });
  test('Monte Carlo adds chi2/dof', async () => {
    const { out } = await typed(vegas);
    expect(out).toMatch(/^0\.785\d*\(\d+\) {2}converged {2}chi2\/dof \d\.\d\d {2}vegas\+ on cpu, /);
  });
  test('a run out of budget exits with 2 and says so', async () => {
    const { code, out } = await typed([...vegas, '--rel-tol', '1e-9', '--max-evaluations', '20000']);
    expect(code).toBe(2);
    expect(out).toMatch(/ {2}budget {2}/);
  });
  test('a run out of time exits with 2', async () => {
    const { code, out } = await typed([...vegas, '--rel-tol', '1e-9', '--max-time', '150ms']);
    expect(code).toBe(2);
    expect(out).toMatch(/ {2}time {2}/);
  });
  test('a result without an estimate says why', async () => {
    for (const [integrand, why] of [
      ['1/(1+x)', /^warning: .*its integral may not exist/m],
      ['sin(x)/x', /^warning: .*oscillates and hardly falls/m],
    ] as const) {
      const { out, err } = await typed([integrand, 'x=0..inf']);
      expect(out).toContain('no estimate yet');
      expect(err).toMatch(why);
    }
  });

  test('warnings go to stderr, and are gone with --quiet', async () => {
    const args = [
      '1/(x-0.5)',
      'x=0..1',
      '--on-non-finite',
      'zero',
      '--method',
      'cuhre',
      '--max-evaluations',
      '5000',
    ];
    const { out, err } = await typed(args);
    expect(err).toMatch(/^warning: .*not finite and counted as 0/m);
    expect(out.split('\n')).toHaveLength(2);
    expect((await typed([...args, '--quiet'])).err).toBe('');
  });
  test('a value that is not finite is an error that names the variables', async () => {
    const { code, out, err } = await typed(['log(x - y - 2)', 'x,y=0..1']);
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(err).toMatch(/^error: the integrand is NaN at x = [\d.e-]+, y = [\d.e-]+; .*--on-non-finite zero/);
  });
  test.each(['webgpu', 'cuda', 'nats://127.0.0.1:1'])(
    'what --device %s lacks is told without a stack trace',
    async device => {
      const { code, err } = await typed(['x', 'x=0..1', '--device', device]);
      if (code === 0) return expect(device).not.toMatch(/^nats/); // this machine has such a card
      expect(err).toMatch(/^error: [^\n]+\n$/);
      expect(err).not.toContain('Error:');
    },
  );
  test('seed and device are passed on', async () => {
    const value = async (...more: string[]) => (await typed([...vegas, ...more])).out.split(' ')[0];
    expect(await value('--seed', '2')).not.toBe(await value());
    expect(await value('--seed', '2')).toBe(await value('--seed', '2', '--device', 'cpu:1'));
    expect((await typed([...vegas, '--device', 'js'])).out).toContain(' on js');
  });
});

describe('--json', () => {
  test('one object with the documented members, in their order', async () => {
    const { code, out, err } = await typed([...gauss, '--json', '--param', 'unused=2']);
    expect(code).toBe(0);
    expect(err).toBe('');
    expect(out.endsWith('}\n')).toBe(true);
    const r = JSON.parse(out);
    expect(Object.keys(r)).toEqual(
      'integrand variables domain params value error status converged method choice device evaluations chi2 dof q regions witnesses nonFinite seed elapsed warnings iterations'.split(
        ' ',
      ),
    );
    expect(r).toMatchObject({
      integrand: 'exp(-(x^2 + y^2))',
      variables: ['x', 'y'],
      domain: [
        ['-Infinity', 'Infinity'],
        [0, 1],
      ],
      params: { unused: 2 },
      status: 'converged',
      converged: true,
      method: 'pagani',
      chi2: null,
      dof: null,
      q: null,
      seed: '1',
      warnings: [],
    });
    expect(Math.abs(r.value - 1.3237113096)).toBeLessThan(1e-3);
    expect(Object.keys(r.iterations[0])).toEqual(['value', 'error', 'evaluations', 'adapting']);
    expect(r.iterations.at(-1).evaluations).toBeLessThanOrEqual(r.evaluations);
  });
  test('Monte Carlo has chi2, dof and q, and iterations that end at the value', async () => {
    const r = JSON.parse((await typed([...vegas, '--json', '--seed', '3'])).out);
    expect(r).toMatchObject({ choice: null, regions: null, seed: '3' });
    for (const member of ['chi2', 'dof', 'q']) expect(r[member]).toBeTypeOf('number');
    expect(r.iterations.at(-1).value).toBeCloseTo(r.value, 12);
    expect(r.iterations.at(-1).error).toBeCloseTo(r.error, 12);
  });
  test('in a terminal as well, and nothing else on stdout', async () => {
    const { out } = await typed([...gauss, '--json'], { outTTY: true, errTTY: true });
    expect(() => JSON.parse(out)).not.toThrow();
  });
  test('an empty domain gives 0', async () => {
    expect(JSON.parse((await typed(['x', 'x=1..1', '--json'])).out)).toMatchObject({ value: 0, error: 0 });
  });
});

describe('in a terminal', () => {
  const tty = { outTTY: true, errTTY: true };
  const long = [...vegas, '--rel-tol', '1e-9', '--max-time', '900ms'];

  test('the result with what explains it, and a plot', async () => {
    const { out } = await typed([...vegas, '--rel-tol', '1e-4'], { outTTY: true, env: { NO_COLOR: '1' } });
    expect(out).toContain('x^2 + y^2 < 1  x 0..1  y 0..1');
    expect(out).toMatch(/^ {2}0\.7\d+\(\d+\) {3}✓ converged$/m);
    for (const name of ['error', 'method', 'device', 'evaluations', 'chi2/dof', 'seed'])
      expect(out).toMatch(new RegExp(`^  ${name.padEnd(11)}   \\S`, 'm'));
    expect(out).toMatch(/ tol [│┤].*┄/);
    expect(out).toMatch(/●/);
    expect(out).toMatch(/evaluations +\de\d+$/m);
    for (const l of out.split('\n')) expect(l.length, l).toBeLessThanOrEqual(100);
  });
  test('why a run stopped', async () => {
    const { out } = await typed(long, { outTTY: true, env: { NO_COLOR: '1' } });
    expect(out).toContain('▲ not converged: its time is over');
  });
  test('colours, unless NO_COLOR is set or the terminal is dumb', async () => {
    expect((await typed(vegas, tty)).out).toMatch(COLOUR);
    expect((await typed(vegas, { ...tty, env: { NO_COLOR: '' } })).out).toMatch(COLOUR);
    expect((await typed(vegas, { ...tty, env: { NO_COLOR: '1' } })).out).not.toMatch(COLOUR);
    expect((await typed(vegas, { ...tty, env: { TERM: 'dumb' } })).out).not.toMatch(COLOUR);
    expect((await typed(['x'], tty)).err).toMatch(COLOUR);
    expect((await typed(['x'], { ...tty, env: { NO_COLOR: '1' } })).err).not.toMatch(COLOUR);
  });
  test('a dumb terminal gets ASCII and no live line', async () => {
    const { out, err } = await typed(long, { ...tty, env: { TERM: 'dumb' } });
    expect(err).toBe('');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is meant
    expect(out).toMatch(/^[\x00-\x7f]*$/);
  });
  test('the live line shows iteration, estimate, chi2/dof, speed and time left, and is taken away', async () => {
    const { err } = await typed(
      ['x^2 + y^2 < 1', 'x,y=0..1', '--method', 'vegas+', '--rel-tol', '5e-6', '--max-time', '5s'],
      { ...tty, columns: 110, env: { NO_COLOR: '1' } },
    );
    // biome-ignore lint/suspicious/noControlCharactersInRegex: lines are written over each other
    const lines = err.split(/\r\x1b\[2K/);
    expect(lines.length).toBeGreaterThan(4);
    expect(lines.at(-1)).toBe('');
    expect(err).toMatch(
      /iteration \d+ {2}0\.78\d+\(\d+\) {2}chi2\/dof \d+\.\d\d {2}\d\.\de\d+\/s {2}about \d/,
    );
    for (const l of lines) expect(l.length).toBeLessThan(110);
  });
  test('a narrow terminal gets what fits', async () => {
    const { err } = await typed(long, { ...tty, columns: 44, env: { NO_COLOR: '1' } });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: lines are written over each other
    for (const l of err.split(/\r\x1b\[2K/)) expect(l.length, l).toBeLessThan(44);
  });
  test('a run has no live line before 200 ms', async () => {
    const { err } = await typed(['x', 'x=0..1'], tty);
    // on a busy machine a quick run may take longer
    for (const [, time] of err.matchAll(/ (\d+) ms/g)) expect(Number(time)).toBeGreaterThanOrEqual(200);
  });
  test('stdout in a pipe and stderr in a terminal: live there, one line here', async () => {
    const { out, err } = await typed(long, { errTTY: true });
    expect(out.trimEnd().split('\n')).toHaveLength(1);
    expect(err).toMatch(/iteration/);
  });
  test('--quiet gives one line, and no live line', async () => {
    const { out, err } = await typed([...long, '--quiet'], tty);
    expect(out.trimEnd().split('\n')).toHaveLength(1);
    expect(err).toBe('');
  });
});

describe('--svg', () => {
  test('writes a drawing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svg-'));
    const file = join(folder, 'convergence.svg');
    expect((await typed([...vegas, '--svg', file])).code).toBe(0);
    expect(await readFile(file, 'utf8')).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
    await rm(folder, { recursive: true });
  });
  test('says why it cannot', async () => {
    const { code, err } = await typed([...vegas, '--svg', '/nowhere/at/all.svg']);
    expect(code).toBe(1);
    expect(err).toMatch(/drawing could not be written: .*no such file/);
  });
});
