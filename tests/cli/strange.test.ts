/** What nobody types on purpose: words of JavaScript, very long sums, control characters, numbers out of range. */
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { typed } from './typed.ts';

const error = async (...argv: string[]) => {
  const { code, out, err } = await typed(argv);
  expect([code, out]).toEqual([1, '']);
  return err;
};
const value = async (...argv: string[]) => {
  const { code, out, err } = await typed([...argv, '--json']);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out).value as number;
};

describe('names that every object of JavaScript has', () => {
  const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf'];
  test.each(names)('%s is unknown, a variable, or a parameter, as any other name', async name => {
    expect(await error(name, 'x=0..1')).toContain(`'${name}' is neither a variable nor a parameter.`);
    expect(await error(`${name}(x)`, 'x=0..1')).toContain(`'${name}' is no function.`);
    expect(await value(`${name}*x`, `x,${name}=0..1`)).toBeCloseTo(0.25, 12);
    expect(await value(`${name}*x`, 'x=0..1', '-p', `${name}=3`)).toBeCloseTo(1.5, 12);
    expect(await error('x', 'x=0..1', '--method', name)).toContain(`--method is '${name}'`);
    expect(await error('x', 'x=0..1', `--${name}`)).toContain(`There is no option --${name}.`);
  });
  test('a scan over one', async () => {
    const { code, out } = await typed(['scan', 'constructor*x', 'x=0..1', '-p', 'constructor=2,4']);
    expect(code).toBe(0);
    expect(out).toMatch(/^constructor,value,.*\n2,(1|0\.9999)\S*\n4,(2|1\.9999)\S*\n$/);
  });
  test('__proto__ is refused as a name', async () => {
    const refused = '__proto__ has a meaning of its own in JavaScript.';
    expect(await error('x', 'x,__proto__=0..1')).toContain(refused);
    expect(await error('x', 'x=0..1', '-p', '__proto__=3')).toContain(refused);
    expect(await error('scan', 'x', 'x=0..1', '-p', '__proto__=3,4')).toContain(refused);
    expect(await error('__proto__', 'x=0..1')).toContain("'__proto__' is neither a variable");
  });
});

describe('5,000 terms', () => {
  const terms = (separator: string) => Array.from({ length: 5000 }, () => 'x').join(separator);
  test('a sum', async () => {
    expect(await value(terms('+'), 'x=0..1', '--method', 'cuhre')).toBeCloseTo(2500, 6);
  });
  test('a sum, as a function on device js', async () => {
    expect(await value(terms('+'), 'x=0..1', '--device', 'js', '--method', 'cuhre')).toBeCloseTo(2500, 6);
  });
  test('a sum in a scan', async () => {
    const sum = `a*(${terms('+')})`;
    const { code, out } = await typed(['scan', sum, 'x=0..1', '-p', 'a=2,4', '--method', 'cuhre']);
    expect(code).toBe(0);
    expect(Number(out.split('\n')[2].split(',')[1])).toBeCloseTo(10_000, 6);
  });
  test('brackets in brackets are refused', async () => {
    const deep = `${'('.repeat(5000)}x${')'.repeat(5000)}`;
    expect(await error(deep, 'x=0..1')).toMatch(/nested too deeply/);
    expect(await error(Array.from({ length: 5000 }, () => 'x').join('^'), 'x=0..1')).toMatch(/nested too/);
  });
});

describe('control characters', () => {
  const sequences = ['\x1b[2J', '\x1b]0;title\x07', '\x9b31m', '\r', '\x7f', '\u202e', '\u2028', '\ud800'];
  test.each(sequences)('%j never reaches the terminal', async sequence => {
    for (const argv of [
      [`x${sequence}`, 'x=0..1'],
      ['x', `x${sequence}=0..1`],
      ['x', 'x=0..1', `--${sequence}`],
      ['x', 'x=0..1', '--method', sequence],
      ['x', 'x=0..1', '--device', `a${sequence}`],
      ['x', 'x=0..1', '--svg', `/nonexistent/${sequence}`],
      ['x', 'x=0..1', '-p', `a${sequence}=1`],
      ['run', `/nonexistent/${sequence}.ts`],
      ['completion', sequence],
    ]) {
      const { code, err } = await typed(argv);
      if (code === 0) continue; // some of them are spaces, which an expression may have
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
      expect(err).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]|\p{Cs}/u);
      expect(err).toMatch(/\\x|\\u|\\r|\?|\ufffd|2 expressions/);
    }
  });
  test('carets stay below what they point at', async () => {
    expect(await error('x\x1b + \x1b', 'x=0..1')).toBe(
      "error: '\\x1b' means nothing in an expression.\n  x? + ?\n   ^\n",
    );
  });
  test('JSON is still JSON, and the same text', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'strange-'));
    const file = join(folder, 'a\x9b\u202e\x1b.mjs');
    await writeFile(file, 'export default ([x]) => x;');
    const { code, out } = await typed(['run', file, '--dims', '1', '--json']);
    await rm(folder, { recursive: true });
    expect(code).toBe(0);
    expect(out).toMatch(/^[\x20-\x7e]*\n$/);
    expect(JSON.parse(out).integrand).toBe(file);
  });
  test('a word of 100,000 letters is cut', async () => {
    expect((await error('x'.repeat(100_000), 'x=0..1')).length).toBeLessThan(2000);
  });
});

describe('values out of range', () => {
  test.each([
    [
      ['--device', 'cpu:20000'],
      /--device is 'cpu:20000'; this machine has \d+ cores?, and more than \d+ workers/,
    ],
    [['--device', 'js:20000'], /more than \d+ workers would only use up its memory; name fewer\./],
    [['--device', `cpu:${'9'.repeat(400)}`], /name fewer\./],
    [['--seed', '99999999999999999999'], /pass a whole number of at most 64 bits\./],
    [['--rel-tol', '1e999'], /too large for 64 bits/],
    [['--max-evaluations', '-5'], /pass a number above 0/],
    [['--max-time', '0.0.1s'], /Pass a time: 10s/],
  ])('%j', async (options, message) => {
    expect(await error('x', 'x=0..1', ...options)).toMatch(message);
  });
  test('the largest seed of 64 bits is taken', async () => {
    expect(await value('x', 'x=0..1', '--seed', String(2n ** 64n - 1n))).toBeCloseTo(0.5, 3);
  });
});

describe('files', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strange-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const put = async (name: string, text: string | Uint8Array) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  test.each(['.mjs', '.ts'])('a byte order mark and lines that end in CR LF, %s', async ending => {
    const text = '\ufeffexport default ([x]) => {\r\n  return x;\r\n};\r\n';
    expect(await value('run', await put(`bom${ending}`, text), '--dims', '1')).toBeCloseTo(0.5, 12);
  });
  test('a file that imports itself', async () => {
    const file = await put('self.mjs', "import './self.mjs';\nexport default ([x]) => x;");
    expect(await value('run', file, '--dims', '1')).toBeCloseTo(0.5, 12);
  });
  test.each<[string, string | Uint8Array, RegExp]>([
    ['empty.mjs', '', /has no default export/],
    ['empty.ts', '', /has no default export/],
    ['bytes.mjs', Uint8Array.from({ length: 999 }, (_, i) => 128 + ((i * 37) % 128)), /could not be loaded/],
    ['bytes.ts', Uint8Array.from({ length: 999 }, (_, i) => 128 + ((i * 37) % 128)), /bytes\.ts:\d+:\d+: /],
    [
      'throws.mjs',
      "\n\nthrow new Error('boom \\x1b[31m');",
      /throws\.mjs:3 could not be loaded: Error: boom \\x1b\[31m\n$/,
    ],
    ['throws.ts', "throw new Error('boom');", /throws\.ts could not be loaded: Error: boom\n$/],
    ['null.mjs', 'throw null;', /null\.mjs threw null while it was loaded\./],
    ['bare.mjs', 'throw Object.create(null);', /bare\.mjs threw an object while it was loaded\./],
    ['a.mjs', "import f from './b.mjs'; export default f;", /a\.mjs could not be loaded: .*b\.mjs/],
    [
      'proto.mjs',
      'export default { integrand: ([x]) => x, dims: 1, params: JSON.parse(\'{"__proto__":3}\') };',
      /has the name '__proto__'/,
    ],
    [
      'option.mjs',
      'export default { integrand: ([x]) => x, ...JSON.parse(\'{"dims":1,"__proto__":{}}\') };',
      /unknown option `__proto__`/,
    ],
    [
      'map.mjs',
      'export default { integrand: ([x]) => x, dims: 1, params: new Map([["a", 1]]) };',
      /params is a Map; pass an object: Object\.fromEntries/,
    ],
    [
      'inside.mjs',
      "export default { integrand: () => { throw new Error('inside'); }, dims: 1, device: 'js' };",
      /^error: Error: inside\n {2}at integrand \(.*inside\.mjs:1:\d+\)\n$/,
    ],
    [
      'getter.mjs',
      "export default { integrand: ([x]) => x, get dims() { throw new Error('no'); } };",
      /^error: Error: no\n {2}at .*getter\.mjs:1:\d+\)\n$/,
    ],
  ])('%s is refused in a line or two, without a stack trace', async (name, text, message) => {
    const err = await error('run', await put(name, text));
    expect(err).toMatch(message);
    expect(err.match(/^ +at /gm)?.length ?? 0).toBeLessThan(2);
  });
  test('a folder, a device and a link to itself are no files', async () => {
    await symlink('/dev/zero', join(folder, 'zero.mjs'));
    await symlink('loop.mjs', join(folder, 'loop.mjs'));
    expect(await error('run', join(folder, 'zero.mjs'))).toMatch(/zero\.mjs is no file\./);
    expect(await error('run', join(folder, 'loop.mjs'))).toMatch(/^error: ELOOP: too many symbolic links/);
    expect(await error('run', '')).toMatch(/'' is no TypeScript or JavaScript file/);
  });
});
