/** Functions and objects in params: compiled like helpers inside the integrand, with the same bits, or refused by name. */
import { describe, expect, test } from 'vitest';
import { compile, type Integrand } from '../../src/integrand/compile.ts';
import { IntegrandError } from '../../src/integrand/diagnostics.ts';
import { makeDomain } from '../../src/integrand/make-domain.ts';
import { cachedProgram } from '../../src/integrand/program-cache.ts';
import { table } from '../../src/integrand/tables.ts';
import { decodeProgram, encodeProgram } from '../../src/integrand/verify.ts';
import { integrate } from '../../src/integrate.ts';
import { scan } from '../../src/scan.ts';
import { functionOf } from './compare.ts';

const POINTS = Float64Array.from({ length: 40 }, (_, i) => (i + 0.5) / 40);
const values = (f: Integrand, params = {}) => compile(f, { dims: 1, params }).evaluate(POINTS);

function lorentz(x: number, gamma: number) {
  return gamma / Math.PI / (x * x + gamma * gamma);
}

function refusal(text: string, params: object): IntegrandError {
  try {
    compile(functionOf(text), { dims: 1, params: params as never });
  } catch (e) {
    expect(e).toBeInstanceOf(IntegrandError);
    return e as IntegrandError;
  }
  return expect.fail(`not refused: ${text}`);
}

describe('functions in params have the bits of the same helper inside the integrand', () => {
  const inside = values(([x]) => {
    const own = (u: number, gamma: number) => gamma / Math.PI / (u * u + gamma * gamma);
    return own(x, 0.3);
  });
  const shapes = {
    lorentz(x: number, gamma: number) {
      return gamma / Math.PI / (x * x + gamma * gamma);
    },
  };
  test.each<[string, Integrand, object]>([
    ['a declaration', ([x], p) => p.lorentz(x, 0.3), { lorentz }],
    ['an arrow', ([x], p) => p.f(x, 0.3), { f: (x: number, g: number) => g / Math.PI / (x * x + g * g) }],
    ['a method of an object', ([x], p) => p.shapes.lorentz(x, 0.3), { shapes }],
    ['one that is destructured', ([x], { shapes: { lorentz: f } }) => f(x, 0.3), { shapes }],
    ['a default argument', ([x], p) => p.f(x), { f: (x: number, g = 0.3) => g / Math.PI / (x * x + g * g) }],
    [
      'a function that takes a function',
      ([x], p) => p.at(p.lorentz, x),
      { lorentz, at: (f: Integrand, x: number) => f(x, 0.3, {} as never) },
    ],
    [
      'one that returns an object',
      ([x], p) => p.f(x).value,
      { f: (x: number) => ({ value: 0.3 / Math.PI / (x * x + 0.3 * 0.3) }) },
    ],
    [
      'one that returns an array',
      ([x], p) => p.f(x)[1],
      { f: (x: number) => [x, 0.3 / Math.PI / (x * x + 0.3 * 0.3)] },
    ],
    ['numbers in objects', ([x], p) => p.lorentz(x, p.of.it.gamma), { lorentz, of: { it: { gamma: 0.3 } } }],
    [
      'an object as an argument',
      ([x], p) => p.f(x, p.of),
      {
        of: { gamma: 0.3 },
        f: (x: number, o: { gamma: number }) => o.gamma / Math.PI / (x * x + o.gamma * o.gamma),
      },
    ],
  ])('%s', (_, f, params) => expect(values(f, params)).toEqual(inside));
});

test('typed arrays and tables inside objects are read, also from functions', () => {
  const line = table([[0, 1]], [1, 3]);
  const sum = (w: Float64Array, x: number) => w.reduce((s, v) => s + v * x, 0);
  const params = { data: { w: Float64Array.of(1, 2, 4), line }, sum };
  const found = values(([x], p) => p.sum(p.data.w, x) + p.data.line(x), params);
  expect(found).toEqual(POINTS.map(x => 1 * x + 2 * x + 4 * x + line(x)));
});

test('functions of Math in params are those of the language', () => {
  expect(values(([x], p) => p.f(x) + p.g.h(x, 2), { f: Math.exp, g: { h: Math.pow } })).toEqual(
    values(([x]) => Math.exp(x) + x ** 2),
  );
});

test('a loop and an array in memory inside a function of params, which make lowering start again', () => {
  const poly = (x: number, n: number) => {
    const c = [1, 2, 3, 4];
    let s = 0;
    for (let i = 0; i < n; i++) s = s * x + c[i];
    return s;
  };
  const found = values(([x], p) => p.poly(x, p.n), { poly, n: 4 });
  expect(found).toEqual(POINTS.map(x => poly(x, 4)));
});

test('a function that the integrand does not call is not compiled', () => {
  expect(
    values(([x], p) => p.a * x, { a: 1, other: Math.sin.bind(null), strange: () => new Date() }),
  ).toEqual(POINTS);
});

describe('refused by name, with the place inside', () => {
  test('a free name of a function in params', () => {
    const e = refusal('([x], p) => p.shapes.f(x)', {
      shapes: { f: functionOf('x => {\n  return x * width;\n}') },
    });
    expect(e.message).toMatchInlineSnapshot(`
      "\`width\` is not defined inside params.shapes.f, which is compiled from its own text alone.
        1 | x => {
      > 2 |   return x * width;
          |              ^^^^^
        3 | }
      Make it an argument of params.shapes.f, or write it inside; or let the plugin quadrille/plugin capture it, if params.shapes.f is a function of your project."
    `);
  });
  test('what the language does not have', () => {
    const e = refusal('([x], p) => p.f(x)', { f: functionOf('x => Number(new Date()) * x') });
    expect(e.message).toMatchInlineSnapshot(`
      "In params.f: An integrand cannot use \`new\`.
      > 1 | x => Number(new Date()) * x
          |             ^^^^^^^^^^
      Write a fixed-size array as [0, 0, 0] or Array(3).fill(0)."
    `);
  });
  test.each<[string, object, RegExp]>([
    ['a bound function', { f: lorentz.bind(null) }, /^params\.f is a native or bound function/],
    [
      'a function of JavaScript that the language lacks',
      { f: parseInt },
      /^params\.f is a native or bound function/,
    ],
    ['an async function', { f: async () => 1 }, /^params\.f is an async function/],
    ['a class', { f: class {} }, /^params\.f is a class/],
    ['a member that is missing', { o: { f: lorentz } }, /^There is no `f` in params\./],
    [
      'recursion',
      {
        f: function g(n: number): number {
          return n < 1 ? 1 : g(n - 1);
        },
      },
      /^In params\.f: `g` calls itself/,
    ],
  ])('%s', (_, params, expected) => expect(refusal('([x], p) => p.f(x)', params).reason).toMatch(expected));
  test('a missing member of an object says how to pass it', () => {
    expect(refusal('([x], p) => p.o.q.c * x', { o: { q: { d: 1 } } }).remedy).toBe(
      'Pass it: params: { o: { q: { c: … } } }.',
    );
  });
});

test('a program with params inside objects travels as bytes', () => {
  const params = { of: { w: Float64Array.of(1, 2), t: table([[0, 1]], [1, 3]), q: { gamma: 0.3 } } };
  const { program } = compile(([x], p) => p.of.t(x) * p.of.w[1] + p.of.q.gamma, { dims: 1, params });
  expect(program.params.map(d => d.name).sort()).toEqual(['of.q.gamma', 'of.t.0', 'of.t.values', 'of.w']);
  expect(decodeProgram(encodeProgram(program))).toEqual(program);
});

describe('a name from outside', () => {
  test('the remedy works when it is obeyed', () => {
    const e = refusal('([x]) => lorentz(x, 0.3)', {});
    expect(e.remedy).toContain('(x, p) => … p.lorentz …, with params: { lorentz }');
    expect(values(([x], p) => p.lorentz(x, 0.3), { lorentz })).toEqual(POINTS.map(x => lorentz(x, 0.3)));
  });
  test.each([
    ['exp(x)', /^Write Math\.exp;/],
    ['PI * x', /^Write Math\.PI;/],
    ['pi * x', /^Write Math\.PI;/],
    ['ln(x)', /^Write Math\.log;/],
    ['erf(x)', /^It is a member of the third argument: \(x, p, { erf }\) => …\./],
  ])('%s gets a hint', (body, remedy) => expect(refusal(`([x]) => ${body}`, {}).remedy).toMatch(remedy));
});

describe('programs', () => {
  const axes = makeDomain([[0, 1]]).axes;
  const f: Integrand = ([x], p) => p.g(x) * p.o.a;
  const program = (params: object) => cachedProgram(f, 1, params as never, axes);
  const double = () => (x: number) => 2 * x;
  test('are shared by sets that differ in numbers, and by functions of one text', () => {
    expect(program({ g: double(), o: { a: 1 } })).toBe(program({ g: double(), o: { a: 2 } }));
  });
  test('are not shared by functions of other texts or objects of other members', () => {
    const all = [
      program({ g: double(), o: { a: 1 } }),
      program({ g: (x: number) => 3 * x, o: { a: 1 } }),
      program({ g: double(), o: { a: 1, b: 1 } }),
      program({ g: double(), o: { a: true } }),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});

const CUBE = { dims: 1, relTol: 1e-6, method: 'pagani' } as const;
const truth = (gamma: number) => Math.atan(1 / gamma) / Math.PI;

test('a scan over numbers inside objects, with functions of two texts', async () => {
  const other = (x: number, gamma: number) => 2 * (gamma / Math.PI / (x * x + gamma * gamma));
  const sets = [0.5, 1, 2].flatMap(gamma => [
    { of: { gamma }, shape: lorentz },
    { of: { gamma }, shape: other },
  ]);
  const found = await scan(([x], p) => p.shape(x, p.of.gamma), { ...CUBE, params: sets });
  found.forEach((r, i) => expect(r.value).toBeCloseTo(truth(sets[i].of.gamma) * (1 + (i % 2)), 6));
});

describe("device: 'js'", () => {
  const f: Integrand = ([x], p) => p.shapes.lorentz(x, p.of.gamma);
  const of = { gamma: 0.5 };
  const run = (shape: unknown) =>
    integrate(f, { ...CUBE, device: 'js', params: { of, shapes: { lorentz: shape as never } } });
  const outer = 1;
  const { method } = {
    method(x: number, gamma: number) {
      return gamma / Math.PI / (x * x + gamma * gamma);
    },
  };
  test.each<[string, unknown]>([
    ['a function that is its text', functionOf(String(lorentz))],
    ['a method that is its text', method],
  ])('%s goes to workers', async (_, shape) => {
    const r = await run(shape);
    expect([r.device, r.value.toFixed(6)]).toEqual(['js', truth(0.5).toFixed(6)]);
    expect(r.state).toBeDefined();
  });
  test.each<[string, unknown]>([
    ['a closure', (x: number, gamma: number) => (outer * gamma) / Math.PI / (x * x + gamma * gamma)],
    ['a bound function', lorentz.bind(null)],
    ['a function whose Math is another', new Function('Math', `return ${lorentz}`)({ PI: -Math.PI })],
  ])('%s stays on this thread', async (name, shape) => {
    const r = await run(shape);
    const sign = name.endsWith('another') ? -1 : 1;
    expect([r.device, r.value.toFixed(6)]).toEqual(['js on this thread', (sign * truth(0.5)).toFixed(6)]);
  });
});

test('a state tells functions of other texts apart, and numbers inside objects', async () => {
  const options = { ...CUBE, relTol: 1e-3, method: 'vegas+', seed: 3 } as const;
  const f: Integrand = ([x], p) => p.shape(x, p.of.gamma);
  const params = { shape: lorentz, of: { gamma: 1 } };
  const { state } = await integrate(f, { ...options, params });
  const resumed = integrate(f, { ...options, params, resume: state!, relTol: 5e-4 });
  expect((await resumed).value).toBeCloseTo(truth(1), 2);
  for (const other of [
    { ...params, of: { gamma: 2 } },
    { ...params, shape: (x: number, g: number) => x * g },
  ])
    await expect(integrate(f, { ...options, params: other, resume: state! })).rejects.toThrow(
      /of another integrand/,
    );
});
