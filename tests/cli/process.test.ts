/** The program as a process: files, signals, pipes, and a real terminal. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Built, buildCli, ended } from './built.ts';

let built: Built;
beforeAll(async () => {
  built = await buildCli();
});
afterAll(() => built.remove());

test('the executable has a shebang', () => {
  expect(readFileSync('src/cli/main.ts', 'utf8').split('\n')[0]).toBe('#!/usr/bin/env node');
  expect(readFileSync(built.main, 'utf8').split('\n')[0]).toBe('#!/usr/bin/env node');
});

// in a clone `npx quadrille` starts this file, and npm does not make it executable
test('what `npm run build` makes starts by itself, and has its kernels', async () => {
  const folder = await mkdtemp(resolve('.cache/build-'));
  const made = spawnSync(process.execPath, ['scripts/build.mjs', folder], { encoding: 'utf8' });
  expect([made.status, made.stdout, made.stderr]).toEqual([0, '', '']);
  const { status, stdout } = spawnSync(join(folder, 'cli/main.js'), ['x', 'x=0..1'], { encoding: 'utf8' });
  expect([status, Number.parseFloat(stdout)]).toEqual([0, expect.closeTo(0.5, 8)]);
  const kernels = (from: string) => readdirSync(join(from, 'devices/cuda/kernels'));
  expect(kernels(folder)).toEqual(kernels('src'));
  await rm(folder, { recursive: true });
});

test('an expression, through a shell', async () => {
  const { code, out, err } = await built.shell("quadrille '-x^2' x=0..1 | cut -d' ' -f1");
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^-0\.3333333\d*\(\d+\)\n$/);
});

test('a reader that goes away is no error', async () => {
  const { err } = await built.shell("quadrille scan 'x^a' x=0..1 --param a=0:3:0.01 | head -n 1");
  expect(err).toBe('');
});

describe('run', () => {
  const value = async (...args: string[]) => {
    const { code, out, err } = await built.run(['run', ...args, '--json']);
    expect(err).toBe('');
    expect(code).toBe(0);
    return JSON.parse(out);
  };
  test.each([
    ['f.ts', 'export default ([x, y]: [number, number]): number => x * (y as number);'],
    ['f.mts', 'export default ([x, y]: number[]): number => x * y;'],
    ['f.mjs', 'export default ([x, y]) => x * y;'],
    ['f.cjs', 'module.exports = ([x, y]) => x * y;'],
    ['f.js', 'module.exports = ([x, y]) => x * y;'],
  ])('%s with a function', async (name, text) => {
    await built.put(name, text);
    expect((await value(name, '--dims', '2')).value).toBeCloseTo(0.25, 12);
    const ranges = await value(name, 'x=0..2', 'y=0..1');
    expect(ranges).toMatchObject({
      integrand: name,
      variables: ['x', 'y'],
      domain: [
        [0, 2],
        [0, 1],
      ],
    });
    expect(ranges.value).toBeCloseTo(1, 12);
  });

  test('TypeScript with a problem: tables, enums, helpers, data beside the file', async () => {
    await built.put('helper.ts', 'export const top: number = 1;\nexport default 7;');
    await built.put('data.json', '[0, 1]');
    await built.put(
      'problem.ts',
      `import { existsSync, readdirSync, readFileSync } from 'node:fs';
       import { table, type Table } from 'quadrille';
       import { top } from './helper.js';
       enum Rate { Slow = 2 }
       interface P { a: number; s: Table }
       const axis = JSON.parse(readFileSync(new URL('data.json', import.meta.url), 'utf8')) as number[];
       export default {
         integrand: ([x, y]: number[], p: P) => Math.exp(-p.a * x) * p.s(y),
         dims: 2,
         params: { a: Rate.Slow, s: table([axis], [0, top]) },
         relTol: 1e-7,
         method: 'cuhre' as const,
       };`,
    );
    const r = await value('problem.ts');
    expect(r).toMatchObject({ method: 'cuhre', params: { a: 2 } });
    expect(r.value).toBeCloseTo((1 - Math.exp(-2)) / 4, 8);
    const other = await value('problem.ts', '--param', 'a=1', '--method', 'pagani', 'x=0..2', 'y=0..1');
    expect(other).toMatchObject({ method: 'pagani', params: { a: 1 } });
    expect(other.value).toBeCloseTo((1 - Math.exp(-2)) / 2, 8);
  });

  test('JavaScript that imports quadrille where it is not installed', async () => {
    await built.put(
      'table.mjs',
      `import { table } from 'quadrille';
       export default { integrand: ([x], p) => p.s(x), dims: 1, params: { s: table([[0, 1]], [0, 1]) } };`,
    );
    expect((await value('table.mjs')).value).toBeCloseTo(0.5, 12);
  });

  test.each(['helpers.mjs', 'helpers.ts'])(
    '%s: functions and constants of the file and of its imports',
    async name => {
      const type = name.endsWith('ts') ? ': number' : '';
      await built.put(
        name.replace('helpers', 'phys'),
        `const two = 2;\nexport const width = 0.5;\nexport function twice(x${type}) { return two * x; }`,
      );
      await built.put(
        name,
        `import { twice, width } from './${name.replace('helpers', 'phys')}';\nconst { sqrt } = Math;\n` +
          `const own = (x${type}) => twice(x) * sqrt(4);\nexport default ([x]${type && ': number[]'}) => own(x) * width;`,
      );
      expect((await value(name, '--dims', '1')).value).toBeCloseTo(1, 12);
    },
  );

  test('bounds of a file use functions of the file', async () => {
    await built.put(
      'edge.mjs',
      `const half = 0.5;
       const edge = x => half * x;
       export default { integrand: () => 1, domain: [[0, 1], ([x], p) => [0, edge(x) * p.a]], params: { a: 2 } };`,
    );
    expect((await value('edge.mjs')).value).toBeCloseTo(0.5, 6);
    expect((await value('edge.mjs', '--param', 'a=4')).value).toBeCloseTo(1, 6);
  });

  test('names from outside run with --device js', async () => {
    await built.put('outer.mjs', 'const k = new Map([[1, 2]]);\nexport default x => k.get(1) * x[0];');
    const refused = await built.run(['run', 'outer.mjs', '--dims', '1']);
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/`k` is an instance of Map[\s\S]*--device js/);
    expect((await value('outer.mjs', '--dims', '1', '--device', 'js')).value).toBeCloseTo(1, 12);
  });

  test('scan and explain take files as well', async () => {
    await built.put('power.ts', 'export default ([x]: number[], p: { a: number }) => x ** p.a;');
    const { out } = await built.run(['scan', 'power.ts', '--dims', '1', '--param', 'a=1,2']);
    expect(out.split('\n')[2]).toMatch(/^2,0\.333333/);
    const explained = await built.run([
      'explain',
      'power.ts',
      '--dims',
      '1',
      '--param',
      'a=1',
      '--target',
      'js',
    ]);
    expect(explained.out).toContain('kit.pow');
  });

  test.each([
    ['bad.ts', 'export default ([x]: number[]) => x +* 2;', /bad\.ts:1:38: Unexpected "\*"[\s\S]*\^/],
    ['none.ts', 'export const f = 1;', /none\.ts has no default export, only f/],
    ['number.mjs', 'export default 3;', /exports something that is no integrand/],
    ['missing.ts', "import { g } from './nowhere';\nexport default g;", /Could not resolve "\.\/nowhere"/],
    ['throws.mjs', "throw new RangeError('no luck');", /no luck/],
    ['dims.ts', 'export default ([x]: number[]) => x;', /does not say how many dimensions/],
    ['option.mjs', 'export default { integrand: x => x[0], dims: 1, tol: 1 };', /unknown option/],
    [
      'slip.mjs',
      'export default { integrand: x => x[0], dims: 1, relTl: 1 };',
      /slip\.mjs: unknown option `relTl`; did you mean `relTol`\? The options are domain, dims, .*maxTime/,
    ],
    [
      'value.mjs',
      'export default { integrand: x => x[0], dims: 1, relTol: -1 };',
      /value\.mjs: `relTol` is -1; pass a number from 0 on/,
    ],
  ])('%s is refused', async (name, text, message) => {
    await built.put(name, text);
    const { code, out, err } = await built.run(['run', name]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(message);
  });
  test('files that are not there, or are no programs', async () => {
    expect((await built.run(['run', 'nothing.ts'])).err).toMatch(/There is no file nothing\.ts/);
    expect((await built.run(['run', 'data.csv'])).err).toMatch(/no TypeScript or JavaScript file/);
  });
});

describe('Ctrl-C', () => {
  const endless = ['sin(1000x*y*z)^2', 'x,y,z=0..1', '--rel-tol', '1e-12', '--method', 'vegas+'];
  const pause = (ms: number) => new Promise(done => setTimeout(done, ms));
  /** Until a process has computed for 2 s, however busy the machine is; ticks are hundredths of a second. */
  const atWork = async (child: ChildProcess) => {
    const ticks = () => {
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
      return Number(stat[11]) + Number(stat[12]);
    };
    while (ticks() < 200) await pause(50);
  };

  test('prints the best estimate so far, and exits with 2', async () => {
    const child = built.start(endless);
    const end = ended(child);
    await atWork(child);
    child.kill('SIGINT');
    const { code, out } = await end;
    expect(code).toBe(2);
    expect(out).toMatch(/^0\.4\d+\(\d+\) {2}aborted {2}.*vegas\+ on cpu, \S+ evaluations, .*\n$/);
  });
  test('gives JSON where JSON was asked for', async () => {
    const child = built.start([...endless, '--json']);
    const end = ended(child);
    await atWork(child);
    child.kill('SIGTERM');
    const { code, out } = await end;
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ status: 'aborted', converged: false });
  });
  test('ends a scan with the rows that it has', async () => {
    const child = built.start([
      'scan',
      'sin(1000x*y*z + a)^2',
      'x,y,z=0..1',
      '--rel-tol',
      '1e-6',
      '-p',
      'a=0:99:1',
    ]);
    const end = ended(child);
    await atWork(child);
    child.kill('SIGINT');
    const { code, out } = await end;
    expect(code).toBe(2);
    expect(out.split('\n')[0]).toBe('a,value,error,status,method,evaluations');
    expect(out).toMatch(/^0,0\.\d+,\d\S*,aborted,/m);
    expect(out.split('\n').length).toBeLessThan(100);
  });
  test('ends a run that waits for a value that never comes, though a timer of the file still runs', async () => {
    await built.put(
      'never.mjs',
      `import { writeFileSync } from 'node:fs';
       const never = async () => {
         writeFileSync('asked', '');
         return new Promise(r => setTimeout(r, 1e8));
       };
       export default { dims: 1, device: 'js', integrand: never };`,
    );
    const child = built.start(['run', 'never.mjs']);
    const end = ended(child, 30_000);
    // from here on a signal finds the run waiting, however busy the machine is
    while (!existsSync(join(built.folder, 'asked')) && child.exitCode === null) await pause(50);
    child.kill('SIGINT');
    const { code, out } = await end;
    expect(code).toBe(2);
    expect(out).toMatch(/^no estimate yet {2}aborted /);
  });
});

/** util-linux's `script` gives a command a terminal of its own. */
const pseudo = spawnSync('script', ['--version']).error === undefined;
if (!pseudo) console.log('script is not here: nothing was tried in a pseudo-terminal');

describe.skipIf(!pseudo)('in a pseudo-terminal', () => {
  const inTerminal = (command: string, env: Record<string, string> = {}) =>
    built.shell(`script -qec "stty cols 100; ${command}" /dev/null < /dev/null`, { TERM: 'xterm', ...env });

  test('a live line, the result, a plot, colours', async () => {
    const { code, out } = await inTerminal(
      "quadrille 'x^2 + y^2 < 1' x,y=0..1 --method vegas+ --rel-tol 1e-9 --max-time 3s",
    );
    expect(code).toBe(2);
    expect(out).toMatch(/\[2K.*iteration \d+/);
    expect(out).toContain('▲ not converged: its time is over');
    expect(out).toContain('└──');
    expect(out).toContain('\x1b[1m');
  });
  test('NO_COLOR takes the colours away', async () => {
    const { out } = await inTerminal("quadrille 'x' x=0..1", { NO_COLOR: '1' });
    expect(out).toContain('✓ converged');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
    expect(out).not.toMatch(/\x1b\[\d+m/);
  });
  test('Ctrl-C typed at the keyboard', async () => {
    const command = "quadrille 'sin(1000x*y*z)^2' x,y,z=0..1 --rel-tol 1e-12 --method vegas+";
    // exec: the key also interrupts the shell between, and dash would end as interrupted whatever its child did
    const { code, out } = await built.shell(
      `(sleep 6; printf '\\003'; sleep 1) | script -qec "exec ${command}" /dev/null`,
      { TERM: 'xterm', NO_COLOR: '1' },
    );
    expect(out).toContain('stopped: the best estimate so far');
    expect(code).toBe(2);
  });
});

test('without esbuild, a Node that strips types runs TypeScript, and another says what it needs', async () => {
  const home = await mkdtemp(join(tmpdir(), 'bare-'));
  await cp(join(built.main, '../..'), join(home, 'dist'), { recursive: true });
  await mkdir(join(home, 'node_modules'));
  await symlink(resolve('node_modules/acorn'), join(home, 'node_modules/acorn'));
  await writeFile(join(home, 'package.json'), '{ "type": "module" }');
  await writeFile(join(home, 'f.ts'), 'export default ([x]: number[]) => x;');
  const child = spawn(process.execPath, [
    join(home, 'dist/cli/main.js'),
    'run',
    join(home, 'f.ts'),
    '--dims',
    '1',
  ]);
  const { code, out, err } = await ended(child);
  await rm(home, { recursive: true });
  if ((process.features as { typescript?: unknown }).typescript)
    expect([code, out.slice(0, 3)]).toEqual([0, '0.5']);
  else {
    expect(code).toBe(1);
    expect(err).toMatch(/is TypeScript, which Node .*\nInstall esbuild .*Node 22\.18 or later/);
  }
});
