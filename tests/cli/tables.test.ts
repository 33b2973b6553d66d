/** `--table f=file.csv`: values on a grid, from a file, called as a function. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readTables } from '../../src/cli/table-file.ts';
import { mistake, pointed, typed } from './typed.ts';

const folder = mkdtempSync(join(tmpdir(), 'tables-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, ...lines: string[]): string {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

const squares = file('squares.csv', 'x,y', '0,0', '1,1', '2,4');
const plane = file(
  'plane.csv',
  '# z = 1 + 2x + y, in no order',
  '1;10;13',
  '0;10;11',
  '0;20;21',
  '1;20;23',
  '3;10;17',
  '3;20;27',
);
const decades = file('decades.txt', '1 0', '10 1', '1000 3');
const box = file(
  'box.csv',
  ...[0, 1, 2].flatMap(x => [0, 1].flatMap(y => [0, 2].map(z => `${x},${y},${z},${x * y + z}`))),
);
const one = (text: string) => Object.values(readTables([text]))[0];

describe('in an integral', () => {
  const value = async (...argv: string[]) => {
    const { code, out, err } = await typed([...argv, '--json', '--rel-tol', '1e-6']);
    expect(err).toBe('');
    expect(code).toBe(0);
    return JSON.parse(out);
  };
  test('a table of one axis: the trapezium rule is exact', async () => {
    const r = await value('3f(x)', 'x=0..2', '--table', `f=${squares}`);
    expect(r.value).toBeCloseTo(9, 4);
    expect(r.params).toEqual({});
  });
  test('two tables and a parameter', async () => {
    const r = await value(
      'a*g(x, y) + f(x)^0',
      'x=0..1',
      'y=10..20',
      '--table',
      `g=${plane}`,
      '--table',
      `f=${squares}`,
      '-p',
      'a=2',
    );
    expect(r.value).toBeCloseTo(2 * 170 + 10, 4);
  });
  test('of a file, and of a scan', async () => {
    const integrand = file('own.ts', 'export default ([x]: number[], p: any) => p.f(x)');
    expect((await value('run', integrand, 'x=0..2', '--table', `f=${squares}`)).value).toBeCloseTo(3, 4);
    const { out } = await typed(['scan', 'a*f(x)', 'x=0..2', '--param', 'a=1,2', '--table', `f=${squares}`]);
    expect(
      out
        .split('\n')
        .slice(1, 3)
        .map(l => Number(l.split(',')[1]).toFixed(2)),
    ).toEqual(['3.00', '6.00']);
  });
  test('explain shows it', async () => {
    const { code, out } = await typed(['explain', 'f(x)', '--table', `f=${squares}`, '--target', 'js']);
    expect(code).toBe(0);
    expect(out).toContain('f.values');
  });
});

describe('a file', () => {
  test('has its points in any order, commas, semicolons or blanks, comments, a header or none', () => {
    expect(one(`f=${squares}`)(1.5)).toBe(2.5);
    expect(one(`f=${plane}`)(2, 15)).toBe(20);
    expect(one(`f=${box}`)(1.5, 0.5, 1)).toBe(1.75);
    expect(one(`f=${decades}`)(505)).toBe(2);
  });
  test('words behind a colon say how values are interpolated', () => {
    expect(one(`f=${decades}:log`)(100)).toBeCloseTo(2, 14);
    expect(one(`f=${decades}:log1,zero`)(2000)).toBe(0);
    expect(one(`f=${squares}:cubic`).kind).toBe('cubic');
    expect(one(`f=${squares}:cubic,zero`).outside).toBe('zero');
    expect(
      one(`f=${file('three.csv', '1,1,5', '2,1,6', '1,2,7', '2,2,8')}:log2`).axes.map(a => a.log),
    ).toEqual([false, true]);
  });
});

describe('mistakes name the line and what to write', () => {
  const reason = (...lines: string[]) =>
    mistake(() => one(`f=${file('wrong.csv', ...lines)}`)).message.replace(folder, '');
  test.each([
    [['x,y', '1,2', '', '2,two'], "/wrong.csv:4: column 2 is 'two', which is no finite number."],
    [['1,2', '2,'], "/wrong.csv:2: column 2 is '', which is no finite number."],
    [['1,2', '2,3,4'], '/wrong.csv:2: this line has 3 columns, and line 1 has 2.'],
    [['5', '6'], '/wrong.csv:1: this line has 1 column.\nA line has one, two or three coordinates'],
    [['1,2,3,4,5'], '/wrong.csv:1: this line has 5 columns.'],
    [['# nothing', 'x,y'], '/wrong.csv has no numbers.'],
    [['0,0,1', '0,1,1', '1,0,1', '0,1,2'], '/wrong.csv:4: the point (0, 1) is on line 2 already.'],
    [['0,0,1', '0,1,1', '1,0,1'], 'has 3 points, and not all of the 2 × 2 of its grid: (1, 1) is missing.'],
    [['1,2'], '`axes[0]` has 1 points; an axis needs at least 2.'],
  ])('%j', (lines, message) => expect(reason(...lines)).toContain(message));

  test('a logarithm of what is not positive', () => {
    expect(mistake(() => one(`f=${squares}:log`)).message).toContain('begins with 0, which has no logarithm');
  });
  test('words, names, files', () => {
    expect(pointed(() => one(`f=${squares}:cubik`))).toBe('cubik');
    expect(mistake(() => one(`f=${squares}:cubik`)).remedy).toBe('Did you mean cubic?');
    expect(mistake(() => one(`f=${squares}:log2`)).reason).toBe(
      "The table has 1 axes, and 'log2' is about another.",
    );
    expect(mistake(() => one('f=absent.csv')).reason).toBe('There is no file absent.csv.');
    expect(mistake(() => one('squares.csv')).reason).toBe("'squares.csv' names no file.");
    expect(mistake(() => one(`sin=${squares}`)).message).toContain('sin');
    expect(mistake(() => readTables([`f=${squares}`, `f=${plane}`])).reason).toBe(
      'The table f is given twice.',
    );
  });
  test('in the expression', async () => {
    const err = async (text: string, ...more: string[]) =>
      (await typed([text, 'x=0..1', ...more, '--table', `f=${squares}`])).err;
    expect(await err('f(x, 2)')).toContain('f takes 1 argument, not 2.');
    expect(await err('f*x')).toContain('f is a function and has no argument here.');
    expect(await err('f(x)', '--param', 'f=2')).toContain('f is a table and a number.');
    expect(await err('g(x)')).toContain("'g' is no function.");
  });
});
