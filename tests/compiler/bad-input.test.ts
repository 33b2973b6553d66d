/** Every bad input is refused before any work starts, by a message that names the place, the cause and the remedy. */
import { describe, expect, test } from 'vitest';
import { compile, type Integrand } from '../../src/integrand/compile.ts';
import { IntegrandError } from '../../src/integrand/diagnostics.ts';
import { table } from '../../src/integrand/tables.ts';
import { functionOf } from './compare.ts';
import { halve } from './imported.ts';

/** What compiling throws; it has to throw. */
function thrown(run: () => unknown): Error {
  try {
    run();
  } catch (e) {
    return e as Error;
  }
  return expect.fail('nothing was thrown');
}

function refusal(f: unknown, params = {}): IntegrandError {
  const e = thrown(() => compile(f as Integrand, { dims: 2, params }));
  expect(e).toBeInstanceOf(IntegrandError);
  return e as IntegrandError;
}

/** The refusal of a function given as text, with the reason, the remedy, and the text that the place points at. */
function expectRefusal(text: string, reason: RegExp, remedy: RegExp, at: string, params = {}): void {
  const e = refusal(functionOf(text), params);
  expect(e.reason).toMatch(reason);
  expect(e.remedy).toMatch(remedy);
  const line = text.split('\n')[e.line! - 1];
  expect(line.slice(e.column! - 1)).toSatisfy(
    (rest: string) => rest.startsWith(at),
    `${rest(line, e)} starts with ${at}`,
  );
  expect(e.message).toBe([e.reason, ...frame(e), e.remedy].join('\n'));
}
const rest = (line: string, e: IntegrandError) => line.slice(e.column! - 1);
const frame = (e: IntegrandError) => e.message.split('\n').filter(l => /^[> ] +\d* *\|/.test(l));

describe('what is no plain function', () => {
  test.each([
    [undefined, 'of type undefined'],
    [null, 'null'],
    [3, 'of type number'],
    ['x => x', 'of type string'],
    [{}, 'of type object'],
  ])('%s', (f, what) => {
    const e = refusal(f);
    expect(e.reason).toBe(`The integrand is ${what}, not a function.`);
    expect(e.remedy).toContain('([x, y]) => x * y');
    expect(e.line).toBeUndefined();
  });
  test.each([
    ['native', Math.sin, "'sin'"],
    ['bound', ((x: number[]) => x[0]).bind(null), ''],
  ])('a %s function has no source', (_, f, name) => {
    const e = refusal(f);
    expect(e.reason).toMatch(/is a native or bound function: it has no source to compile/);
    expect(e.reason).toContain(name);
    expect(e.remedy).toMatch(/Wrap it in a plain function/);
  });
  test('an async function', () => {
    const e = refusal(async (x: number[]) => x[0]);
    expect(e.reason).toMatch(/async/);
    expect(e.remedy).toMatch(/plain function/);
    expect(e.line).toBe(1);
  });
  test('a generator function', () => {
    const e = refusal(function* (x: number[]) {
      yield x[0];
    });
    expect(e.reason).toMatch(/generator/);
    expect(e.remedy).toMatch(/`return`/);
  });
  test('a class', () => expect(refusal(class A {}).reason).toBe('The integrand is a class, not a function.'));
  test('an async or a generator method', () => {
    expect(refusal({ async f() {} }.f).reason).toMatch(/async/);
    expect(refusal({ *f() {} }.f).reason).toMatch(/generator/);
  });
  test('a function of four arguments', () => {
    expectRefusal('(x, p, m, q) => x[0]', /at most three arguments/, /\(x, p, m\)/, 'q');
  });
});

describe('what an integrand returns', () => {
  test.each([
    ['nothing', 'x => { x[0]; }', /returns nothing/],
    ['nothing, by an empty return', 'x => { return; }', /returns nothing/],
    ['nothing on some path', 'x => { if (x[0] > 0) return 1; }', /undefined on some path/],
    ['a string', 'x => "s"', /returns a string/],
    ['a boolean', 'x => x[0] > 0', /returns a boolean/],
    ['a boolean on some path', 'x => (x[0] > 0 ? 1 : x[1] > 0)', /of another kind on another path/],
    ['an array of a boolean', 'x => [x[0] > 0, 1]', /returns a boolean as \[0\]/],
    ['an object of nothing', 'x => ({ f: undefined })', /returns undefined as f\./],
    ['an array without numbers', 'x => []', /an array without numbers/],
    ['an object without numbers inside', 'x => ({ a: 1, z: {} })', /an object without numbers as z/],
    ['arrays three deep', 'x => [[[x[0]]]]', /an array as \[0\]\[0\], inside of 2 others/],
    ['more than 1,024 numbers', 'x => Array(1025).fill(x[0])', /returns 1025 numbers, and 1024 is the most/],
    [
      'names that differ',
      'x => { if (x[0] > 0) return { a: 1 }; return { b: 1 }; }',
      /\{ b \} here, and \{ a \} before/,
    ],
    [
      'lengths that differ',
      'x => { if (x[0] > 0) return [1]; return [1, 2]; }',
      /an array of 2 numbers here, and an array of 1 numbers before/,
    ],
    [
      'a number, then an array',
      'x => { if (x[0] > 0) return 1; return [1, 2]; }',
      /an array of 2 numbers here, and a number before/,
    ],
    [
      'members that differ',
      'x => { if (x[0] > 0) return { z: 1 }; return { z: [1] }; }',
      /\{ z: \[number\] \} here, and \{ z \} before/,
    ],
    ['different shapes', 'x => (x[0] > 0 ? [1, 2] : [1])', /of another kind on another path/],
    ['a function', 'x => Math.sin', /returns the function Math.sin/],
    ['null', 'x => null', /returns null/],
  ])('%s is refused', (_, text, reason) => {
    const e = refusal(functionOf(text));
    expect(e.reason).toMatch(reason);
    expect(e.remedy).toMatch(/Return (a number|numbers|the same)|Integrate them in several calls/);
    expect(e.line).toBe(1);
  });
});

describe('what the language does not have', () => {
  test.each<[string, RegExp, RegExp, string]>([
    ['x => x[2]', /reads coordinate 2, but a point has 2 \(0 to 1\)/, /`dims`/, 'x[2]'],
    ['x => x[-1]', /reads coordinate -1/, /`dims`/, 'x[-1]'],
    ['x => x[0.5]', /reads coordinate 0.5/, /`dims`/, 'x[0.5]'],
    ['([a, b, c]) => a + b + c', /reads coordinate 2/, /`dims`/, 'c'],
    [
      'x => { const f = n => (n > 0 ? f(n - 1) : 0); return f(x[0]); }',
      /`f` calls itself.*recursion/,
      /loop/,
      'f(n - 1)',
    ],
    ['function f(x) { return x[0] > 0 ? f([x[0] - 1, 0]) : 0; }', /calls itself/, /loop/, 'f([x[0] - 1, 0])'],
    [
      'x => {\n  const a = n => b(n);\n  const b = n => a(n);\n  return a(1);\n}',
      /calls itself/,
      /loop/,
      'a(n)',
    ],
    ['x => { try { return 1; } catch { return 2; } }', /cannot use `try`/, /`if`/, 'try'],
    ['x => { throw 1; }', /cannot use `throw`/, /NaN/, 'throw'],
    ['x => { switch (x[0]) { default: return 1; } }', /cannot use `switch`/, /`else if`/, 'switch'],
    ['x => new Array(3)[0]', /cannot use `new`/, /Array\(3\)\.fill\(0\)/, 'new Array'],
    ['x => /a/.test(1)', /a regular expression/, /numbers and booleans/, '/a/'],
    ['x => "a" + x[0]', /a string, where a number is needed/, /numbers and booleans/, '"a"'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of a program
    ['x => `a${x[0]}`.length', /cannot use a string with values/, /numbers and booleans/, '`a'],
    ['x => 1n', /a BigInt/, /numbers and booleans/, '1n'],
    ['x => this.a * x[0]', /cannot use `this`/, /`params`/, 'this'],
    [
      'x => { const o = { a: 1 }; o.b = 2; return o.b; }',
      /no member `b`: .* keeps the members it was made with/,
      /\{ …, b: 0 \}/,
      'o.b = 2',
    ],
    ['x => { x[0] = 1; return x[0]; }', /cannot change the point/, /const y = \[\.\.\.x\]/, 'x[0] = 1'],
    ['(x, p) => { p.a = 1; return x[0]; }', /cannot change params/, /Copy/, 'p.a = 1'],
    ['x => { total = x[0]; return total; }', /`total` is not declared inside/, /`let`/, 'total = '],
    ['x => { const a = 1; a += x[0]; return a; }', /`a` is a const/, /`let`/, 'a += '],
    ['x => scale * x[0]', /`scale` is not defined inside the integrand/, /params: \{ scale \}/, 'scale'],
    [
      'function f() { return arguments[0][0]; }',
      /`arguments` is not defined/,
      /Name the arguments/,
      'arguments',
    ],
    ['x => Math.random() * x[0]', /Math\.random/, /Add a coordinate/, 'Math.random'],
    ['x => Math.foo(x[0])', /no `foo` in Math/, /It has .*sqrt/, 'Math.foo'],
    ['x => Math.sinn(x[0])', /no `sinn` in Math/, /Did you mean `sin`\?/, 'Math.sinn'],
    ['x => Math.erf(x[0])', /no `erf` in Math/, /third argument: \(x, p, \{ erf \}\)/, 'Math.erf'],
    ['(x, p, m) => m.gamma(x[0])', /no `gamma` in the third argument/, /lgamma/, 'm.gamma'],
    ['x => x[0] | 0', /operator `\|`/, /Math\.trunc/, 'x[0] | 0'],
    ['x => x[0] ^ 2', /operator `\^`/, /\*\*/, 'x[0] ^ 2'],
    ['x => { while (true) {} }', /never ends/, /`break`/, 'while (true)'],
    ['x => { for (;;) x[0]; }', /never ends/, /`break`/, 'for (;;)'],
    ['x => { let i = 0; while (i < 3) { i -= 0; } return i; }', /never ends/, /`break`/, 'while (i < 3)'],
    [
      'x => x.filter(v => v > 0)[0]',
      /what `filter` kept, whose length is known at run time only/,
      /length, map, reduce with a first value/,
      'x.filter',
    ],
    [
      'x => { const a = [1, 2]; return a[2]; }',
      /Index 2 is outside this array of length 2/,
      /Check the index/,
      'a[2]',
    ],
    ['x => { const a = [1]; a[1] = 2; return a[0]; }', /Index 1 is outside this array/, /fixed size/, 'a[1]'],
    ['x => { let a; return a + x[0]; }', /undefined, where a number is needed/, /Give it a value/, 'a'],
    ['x => x + 1', /the point, where a number is needed/, /a\[0\]/, 'x'],
    ['x => Math.sin + x[0]', /the function Math\.sin, where a number is needed/, /Call it/, 'Math.sin'],
  ])('%s', (text, reason, remedy, at) => expectRefusal(text, reason, remedy, at));

  test('an imported function is named as its user knows it, inside a test runner too', () => {
    const e = refusal((x: number[]) => halve(x[0]));
    expect(e.reason).toMatch(/^`halve` is not defined inside the integrand/);
    expect(e.remedy).toMatch(/write it inside the function/);
  });
  test('a method that uses `this`', () => {
    const model = {
      scale: 2,
      f(x: number[]) {
        return this.scale * x[0];
      },
    };
    expect(refusal(model.f).reason).toBe('An integrand cannot use `this`.');
  });
});

describe('code frames', () => {
  test('show the lines around, and mark the place', () => {
    const text = 'x => {\n  let s = 0;\n  for (const v of x) s += v * v;\n  return Math.exp(-s / width);\n}';
    expect(refusal(functionOf(text)).message).toMatchInlineSnapshot(`
      "\`width\` is not defined inside the integrand, which is compiled from its own text alone.
        2 |   let s = 0;
        3 |   for (const v of x) s += v * v;
      > 4 |   return Math.exp(-s / width);
          |                        ^^^^^
        5 | }
      Pass it in \`params\`: (x, p) => … p.width …, with params: { width }; or write it inside the function; or let the plugin quadrille/plugin pass it."
    `);
  });
  test('show a part of a long line', () => {
    const text = `x => ${'x[0] * '.repeat(40)}y + ${'x[1] * '.repeat(40)}1`;
    expect(refusal(functionOf(text)).message).toMatchInlineSnapshot(`
      "\`y\` is not defined inside the integrand, which is compiled from its own text alone.
      > 1 | x[0] * x[0] * x[0] * x[0] * x[0] * x[0] * x[0] * y + x[1] * x[1] * x[1] * x[1] * x[1] * x[1] * x[1] 
          |                                                  ^
      Pass it in \`params\`: (x, p) => … p.y …, with params: { y }; or write it inside the function; or let the plugin quadrille/plugin pass it."
    `);
  });
  test('point at the call when one of our own functions is to blame', () => {
    expect(refusal(functionOf('x => x.map(v => v).slice(x[0])[0]')).message).toMatchInlineSnapshot(`
      "The length of an array must be known when the integrand is compiled.
      > 1 | x => x.map(v => v).slice(x[0])[0]
          |      ^^^^^^^^^^^^^^^^^^^^^^^^^
      Use a number, x.length, or the length of an array in params."
    `);
  });
  test('stay inside a helper that is to blame', () => {
    const text = 'x => {\n  const h = a => a[3];\n  return h(x) + h([1]);\n}';
    expect(refusal(functionOf(text)).message).toMatchInlineSnapshot(`
      "The integrand reads coordinate 3, but a point has 2 (0 to 1).
        1 | x => {
      > 2 |   const h = a => a[3];
          |                  ^^^^
        3 |   return h(x) + h([1]);
        4 | }
      Check \`dims\` or \`domain\`, or the index."
    `);
  });
});

describe('params', () => {
  const use: Integrand = (x, p) => p.a * x[0];
  const message = (params: unknown) =>
    thrown(() => compile(use, { dims: 1, params: params as never })).message;
  test('a missing one is named, with what to pass', () => {
    const e = refusal(use);
    expect(e.reason).toBe('There is no `a` in params.');
    expect(e.remedy).toBe('Pass it: params: { a: … }.');
    expect([e.line, e.column]).toEqual([1, 11]);
  });
  test('a misspelt one is told of its neighbour', () => {
    const e = thrown(() => compile(use, { dims: 1, params: { aa: 1 } as never }));
    expect(e.message).toContain('Did you mean `aa`? Pass it: params: { a: … }.');
  });
  test.each<[unknown, RegExp]>([
    [new (class {})(), /params\.a is an instance of a class; pass a number/],
    [
      null,
      /params\.a is null; pass a number, a boolean, a typed array, a table, a function, or an object of these/,
    ],
    [undefined, /params\.a is undefined; pass a number/],
    ['3', /params\.a is a string; pass a number/],
    [3n, /params\.a is a bigint; pass a number/],
    [[1, 2], /params\.a is a plain array; pass a typed array: Float64Array\.from\(a\)/],
    [{}, /params\.a is an empty object; leave it out/],
    [new Date(), /params\.a is an instance of Date; pass a number/],
    [new Map(), /params\.a is a Map; pass Object\.fromEntries\(a\)/],
    [new Float64Array(0), /params\.a is an empty array/],
    [new BigInt64Array(1), /params\.a is .*; pass a number/],
    [new DataView(new ArrayBuffer(8)), /params\.a is .*; pass a number/],
  ])('%s is refused', (a, expected) => expect(message({ a })).toMatch(expected));
  test.each([
    [null, /params is null/],
    [[1], /params is an array/],
    [3, /params is a number/],
  ])('that are %s are refused', (params, expected) => expect(message(params)).toMatch(expected));
});

describe('options', () => {
  const f: Integrand = x => x[0];
  test.each([0, -1, 1.5, NaN, Infinity, '2', undefined])('dims: %s', dims => {
    const e = thrown(() => compile(f, { dims: dims as number }));
    expect(e).toBeInstanceOf(RangeError);
    expect(e.message).toContain(`\`dims\` is ${dims}; pass the number of coordinates`);
  });
  test('none at all', () => {
    expect(thrown(() => compile(f, undefined as never)).message).toMatch(/`dims` is undefined/);
  });
  test('unknown ones are named, with those there are', () => {
    const e = thrown(() => compile(f, { dims: 1, dimensions: 2 } as never));
    expect(e.message).toMatch(/unknown option `dimensions`; the options are dims, params, target/);
  });
  test('an unknown target is named, with those there are', () => {
    const e = thrown(() => compile(f, { dims: 1, target: 'cuda' as never }));
    expect(e.message).toMatch(/unknown target 'cuda'; the targets are wasm, javascript/);
  });
  test.each(['wasm', 'javascript'] as const)(
    'coordinates that make no whole points are refused on %s',
    target => {
      const { evaluate } = compile(f, { dims: 2, target });
      expect(() => evaluate(new Float64Array(3))).toThrow(/3 coordinates do not make/);
      expect(() => evaluate(new Float64Array(4), new Float64Array(3))).toThrow(
        /4 coordinates do not make 3 points of 2/,
      );
    },
  );
});

describe('points', () => {
  test.each(['wasm', 'javascript'] as const)(
    'that are no Float64Array are refused on %s, in our own words',
    target => {
      const { evaluate } = compile(x => x[0], { dims: 1, target });
      for (const points of [undefined, null, 3, [0.1, 0.2], 'ab'] as never[])
        expect(thrown(() => evaluate(points)).message).toMatch(/^evaluate: .*Float64Array/);
    },
  );
});

describe('tables', () => {
  const bad = (run: () => unknown) => thrown(run).message;
  test.each<[string, () => unknown, RegExp]>([
    [
      'unsorted',
      () => table([[0, 2, 1]], [1, 2, 3]),
      /`axes\[0\]` does not increase at index 2 \(2, then 1\); sort/,
    ],
    ['with a point twice', () => table([[0, 1, 1]], [1, 2, 3]), /does not increase at index 2/],
    [
      'of unequal length',
      () => table([[0, 1, 2]], [1, 2]),
      /`values` has 2 numbers for 3 grid points; give 3/,
    ],
    [
      'of unequal rows',
      () =>
        table(
          [
            [0, 1],
            [0, 1],
          ],
          [[1, 2], [3]],
        ),
      /row 1 of `values` has 1 numbers for 2/,
    ],
    [
      'of too few rows',
      () =>
        table(
          [
            [0, 1],
            [0, 1],
          ],
          [[1, 2]],
        ),
      /`values` has 2 numbers for 2 × 2 grid points; give 4/,
    ],
    [
      'with NaN in the axis',
      () => table([[0, NaN]], [1, 2]),
      /`axes\[0\]`\[1\] is NaN; every entry must be a finite number/,
    ],
    ['with NaN in the values', () => table([[0, 1]], [1, NaN]), /`values`\[1\] is NaN/],
    ['with an infinity', () => table([[0, Infinity]], [1, 2]), /is Infinity/],
    ['with a string inside', () => table([[0, 1]], [1, '2' as never]), /`values`\[1\] is '2'/],
    [
      'with undefined inside',
      () => table([[0, 1]], [1, undefined, 2] as never),
      /`values`\[1\] is undefined/,
    ],
    ['of one point', () => table([[0]], [1]), /has 1 points; an axis needs at least 2/],
    [
      'whose axes are no arrays',
      () => table([0, 1] as never, [1, 2]),
      /`axes\[0\]` is 0; pass an array of numbers/,
    ],
    ['without axes', () => table([] as never, [1]), /pass one, two or three arrays of grid points/],
    [
      'with four axes',
      () =>
        table(
          [
            [0, 1],
            [0, 1],
            [0, 1],
            [0, 1],
          ] as never,
          [1],
        ),
      /pass one, two or three arrays/,
    ],
    [
      'with axes not in a list',
      () => table(new Float64Array(2) as never, [1, 2]),
      /pass one, two or three arrays/,
    ],
    ['without values', () => table([[0, 1]], undefined as never), /`values` is undefined; pass an array/],
    ['with null values', () => table([[0, 1]], null as never), /`values` is null; pass an array/],
    [
      'with rows that are no arrays',
      () =>
        table(
          [
            [0, 1],
            [0, 1],
          ],
          [[1, 2], null] as never,
        ),
      /row 1 of `values` is null|`values`\[1\] is null/,
    ],
    [
      'with an unknown outside',
      () => table([[0, 1]], [1, 2], { outside: 'wrap' as never }),
      /'wrap'; use 'clamp' or 'zero'/,
    ],
  ])('%s are refused', (_, run, expected) => expect(bad(run)).toMatch(expected));
  test('called with too few or too many coordinates are refused', () => {
    const params = { t: table([[0, 1]], [1, 2]) };
    expectRefusal(
      '(x, p) => p.t(x[0], x[1])',
      /params\.t has 1 ax.s and is called with 2/,
      /one coordinate an axis/,
      'p.t(',
      params,
    );
    expectRefusal('(x, p) => p.t()', /called with 0/, /one coordinate an axis/, 'p.t(', params);
  });
});
