/** Help, version, completion, devices, explain and bench. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { COMMANDS, OPTIONS, optionsOf } from '../../src/cli/options.ts';
import { wasmText } from '../../src/cli/show/wasm.ts';
import { compile } from '../../src/index.ts';
import { toWasm } from '../../src/integrand/targets/wasm.ts';
import { catalogue } from '../integrands/catalogue.ts';
import { typed } from './typed.ts';

describe('help', () => {
  test.each(COMMANDS)('%s: usage, examples, and every option of it', async command => {
    const argv = command === 'integrate' ? ['--help'] : [command, '--help'];
    const { code, out, err } = await typed(argv);
    expect(code).toBe(0);
    expect(err).toBe('');
    expect(out).toMatch(/^Usage\n {2}quadrille /m);
    expect(out).toMatch(/^Examples\n {2}.*quadrille /m);
    for (const { name } of optionsOf(command)) expect(out).toContain(name.split('.').at(-1));
    for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(120);
    expect((await typed(command === 'integrate' ? ['help'] : ['help', command])).out).toBe(out);
  });
  test('the main page documents the JSON, the exit codes and the commands', async () => {
    const { out } = await typed(['-h']);
    for (const word of ['evaluations, chi2, dof, q', 'Exit codes', '0 converged', ...COMMANDS.slice(1)])
      expect(out).toContain(word);
  });
  test('nothing typed: help on stderr, and 1', async () => {
    const { code, out, err } = await typed([]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('Usage');
  });
  test('--version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect((await typed(['--version'])).out).toBe(`quadrille ${version}\n`);
    expect((await typed(['scan', '-V'])).out).toBe(`quadrille ${version}\n`);
  });
});

/** Whether a shell runs commands here: Windows has a bash that only says that there is no Linux. */
const isHere = (shell: string) =>
  spawnSync(shell, ['-c', 'echo here'], { encoding: 'utf8' }).stdout === 'here\n';

describe('completion', () => {
  test.each(['bash', 'zsh', 'fish'])('%s: a script that the shell reads, with every option', async shell => {
    const { code, out } = await typed(['completion', shell]);
    expect(code).toBe(0);
    for (const { name } of OPTIONS) expect(out).toContain(shell === 'fish' ? `-l '${name}'` : `--${name}`);
    if (!isHere(shell)) return console.log(`${shell} is not here: its script was not read by it`);
    expect(String(spawnSync(shell, ['-n'], { input: out }).stderr)).toBe('');
  });
  test.skipIf(!isHere('bash'))('bash completes commands, options and their values', async () => {
    const { out } = await typed(['completion', 'bash']);
    const complete = (...words: string[]) => {
      const script = `${out}\nCOMP_WORDS=(${words.map(w => `'${w}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _quadrille; echo "\${COMPREPLY[@]}"`;
      return String(spawnSync('bash', ['-c', script]).stdout).trim();
    };
    expect(complete('quadrille', 'sc')).toBe('scan');
    expect(complete('quadrille', 'x', '--rel')).toBe('--rel-tol');
    expect(complete('quadrille', 'x', '--method', 'v')).toBe('vegas+');
    expect(complete('quadrille', 'devices', '--')).toBe('--json --help --version');
    expect(complete('quadrille', 'completion', 'f')).toBe('fish');
    // bash cuts words at =, unless its user told it not to
    expect(complete('quadrille', 'x*y', 'x,y', '=')).toBe('ball sphere simplex');
    expect(complete('quadrille', 'x*y', 'x,y', '=', 's')).toBe('sphere simplex');
    expect(complete('quadrille', 'x*y', 'x,y=b')).toBe('x,y=ball');
    expect(complete('quadrille', 'x*y', 'x', '=', 'b')).not.toContain('ball'); // a single variable has a range
  });
  test('other shells are refused', async () => {
    expect((await typed(['completion', 'fihs'])).err).toContain('Did you mean fish?');
    expect((await typed(['completion', 'powershell'])).err).toContain('There are bash, zsh and fish.');
    expect((await typed(['completion'])).code).toBe(1);
  });
});

describe('devices', () => {
  test('cpu with its cores, and js', async () => {
    const { code, out } = await typed(['devices']);
    expect(code).toBe(0);
    expect(out).toMatch(/^cpu +\d+ cores?/m);
    expect(out).toMatch(/^js +/m);
  });
  test('as JSON', async () => {
    const found = JSON.parse((await typed(['devices', '--json'])).out) as { name: string }[];
    expect(found.map(d => d.name)).toEqual(expect.arrayContaining(['cpu', 'js']));
  });
});

describe('explain', () => {
  test('the function and its program', async () => {
    const { code, out } = await typed(['explain', 'exp(-a*(x^2 + y^2))', '--param', 'a=2']);
    expect(code).toBe(0);
    expect(out).toMatchInlineSnapshot(`
      ";; the integrand
      ([x, y], p) => Math.exp(-p.a * (x ** 2 + y ** 2))

      ;; its program
      v0 = param a
      v1 = coord 0
      v2 = coord 1
      v3 = neg v0
      v4 = mul v1 v1
      v5 = mul v2 v2
      v6 = add v4 v5
      v7 = mul v3 v6
      v8 = call exp v7
      result v8
      "
    `);
  });
  test('the map of an infinite range is part of it', async () => {
    expect((await typed(['explain', 'x', 'x=0..inf'])).out).toContain('div');
  });
  test('branches and loops', async () => {
    const { out } = await typed(['explain', 'x < 0.5 ? sin(x) : erf(x)']);
    expect(out).toMatch(
      /v\d+ = if v\d+\n {2}v\d+ = call sin v\d+\n {2}yield v\d+\nelse\n {2}v\d+ = call erf/,
    );
  });
  test('JavaScript, CUDA and WebAssembly', async () => {
    const target = async (name: string) => (await typed(['explain', 'sqrt(x*y)', '--target', name])).out;
    expect(await target('js')).toContain('Math.sqrt(');
    expect(await target('cuda')).toContain('__device__ __forceinline__ double integrand(');
    expect(await target('wgsl')).toContain('fn integrand(x: ptr<function, array<f32, 2>>) -> f32 {');
    expect(await target('wasm')).toMatch(/;; WebAssembly, \d+ bytes[\s\S]*f64x2\.mul\n +f64x2\.sqrt/);
  });
  test('every instruction of every integrand of the papers can be shown', () => {
    for (const { name, f, dims, params } of catalogue) {
      const { bytes } = toWasm(compile(f, { dims, params: params ?? {} }).program);
      const text = wasmText(bytes);
      expect(text.match(/^\(func/gm)!.length, name).toBeGreaterThan(0);
      const opened = text.match(/^ *(block|loop|if)\b/gm)?.length ?? 0;
      expect(text.match(/^ *end\b/gm)?.length ?? 0, name).toBe(opened);
    }
  });
  test('mistakes point into the expression', async () => {
    const { code, err } = await typed(['explain', 'sin(x']);
    expect(code).toBe(1);
    expect(err).toContain('   ^');
  });
});

describe('bench', () => {
  test('a table and a plot', async () => {
    const { code, out } = await typed(['bench'], { outTTY: true, env: { NO_COLOR: '1' } });
    expect([0, 2]).toContain(code); // 2 where ten seconds are too few for one of them
    const lines = out.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^Node \d+.*cpu: \d+ cores?/);
    expect(lines[2].split(/ {2,}/)).toEqual([
      'integrand',
      'value',
      'true error',
      'evaluations',
      'time',
      'a second',
      'method',
    ]);
    expect(lines.slice(3, 10).every(l => /\(\d+\.\d errors\)/.test(l))).toBe(true);
    expect(lines.slice(-7).every(l => /█+ \d\.\de\d+$/.test(l))).toBe(true);
    const off = [...out.matchAll(/\((\d+\.\d) errors\)/g)].map(m => Number(m[1]));
    expect(Math.max(...off)).toBeLessThan(5);
  });
});
