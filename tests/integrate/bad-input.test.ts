/** A problem that makes no sense is refused before any work starts, by a message that names the option, the value and the remedy. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { IntegrandError } from '../../src/integrand/diagnostics.ts';
import { integrate } from '../../src/integrate.ts';
import type { IntegrateOptions } from '../../src/problem.ts';

const open = vi.spyOn(CpuDevice.prototype, 'open');
const onProgress = vi.fn();
afterEach(() => vi.clearAllMocks());

/** What a run is refused with; it has to be refused, and no device may have been opened. */
async function refusal(options: unknown, f: unknown = () => 1): Promise<Error> {
  const run = integrate(f as () => number, options as IntegrateOptions);
  expect(run).toBeInstanceOf(Promise);
  const error = await run.then(
    r => expect.fail(`not refused: ${r}`),
    e => e as Error,
  );
  expect(open).not.toHaveBeenCalled();
  expect(onProgress).not.toHaveBeenCalled();
  return error;
}

/** Each row: an option, a bad value, and the message. */
type Row = [value: unknown, shown: string];

function refuses(option: string, remedy: RegExp, rows: Row[], rest: object = { dims: 2 }) {
  test.each(rows)(`${option}: %s`, async (value, shown) => {
    const options = option.startsWith('vegas.')
      ? { ...rest, onProgress, vegas: { [option.slice(6)]: value } }
      : { ...rest, onProgress, [option]: value };
    const e = await refusal(options);
    expect(e).toBeInstanceOf(TypeError);
    expect(e.message).toMatch(/^integrate: `.*\.$/);
    expect(e.message).toContain(`\`${option}\` is ${shown}; `);
    expect(e.message).toMatch(remedy);
  });
}

describe('the options as a whole', () => {
  test.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [3, '3'],
    ['dims', "'dims'"],
  ])('%s', async (options, shown) => {
    expect((await refusal(options)).message).toBe(
      `integrate: \`options\` is ${shown}; pass an object such as { dims: 3 }.`,
    );
  });
  test('an unknown option lists those that exist', async () => {
    const e = await refusal({ dims: 2, onProgress, tolerance: 1e-3 });
    expect(e.message).toMatchInlineSnapshot(
      `"integrate: unknown option \`tolerance\`; the options are domain, dims, breaks, points, method, device, relTol, absTol, goals, learnFrom, covariance, maxEvaluations, maxIterations, maxTime, seed, params, signal, onProgress, onNonFinite, check, resume, map, histograms, vegas, cubature, lattice, zmc."`,
    );
  });
  test('a misspelt option is not ignored, even when its value is undefined', async () => {
    expect((await refusal({ dims: 2, reltol: undefined })).message).toContain('unknown option `reltol`');
  });
});

describe('dims', () => {
  refuses(
    'dims',
    /pass a whole number from 1 to 1000\.$/,
    [
      [0, '0'],
      [-1, '-1'],
      [2.5, '2.5'],
      [Number.NaN, 'NaN'],
      [Infinity, 'Infinity'],
      [1001, '1001'],
      ['3', "'3'"],
      [3n, '3n'],
      [null, 'null'],
      [[3], '[3]'],
    ],
    {},
  );
});

describe('domain', () => {
  const remedy = /pass a range an axis, such as \[\[0, 1\], \[-1, 1\]\], at most 1000\.$/;
  refuses(
    'domain',
    remedy,
    [
      [[], '[]'],
      [3, '3'],
      ['unit', "'unit'"],
      [null, 'null'],
    ],
    {},
  );

  test.each([
    ['one bound', [[0]], '`domain[0]` is [0]; pass two bounds, such as [0, 1].'],
    [
      'three bounds',
      [
        [0, 1],
        [0, 1, 2],
      ],
      '`domain[1]` is [0, 1, 2]; pass two bounds, such as [0, 1].',
    ],
    ['bounds without brackets', [0, 1], '`domain[0]` is 0; pass two bounds, such as [0, 1].'],
    ['text', [['0', '1']], "`domain[0]` is ['0', '1']; bounds are numbers or ±Infinity."],
    ['nothing', [[0, undefined]], '`domain[0]` is [0, undefined]; bounds are numbers or ±Infinity.'],
    ['bigint', [[0n, 1n]], '`domain[0]` is [0n, 1n]; bounds are numbers or ±Infinity.'],
    [
      'NaN above',
      [
        [0, 1],
        [0, Number.NaN],
      ],
      '`domain[1]` is [0, NaN]; bounds are numbers or ±Infinity.',
    ],
    ['NaN below', [[Number.NaN, 1]], '`domain[0]` is [NaN, 1]; bounds are numbers or ±Infinity.'],
    [
      'an infinity to itself',
      [[Infinity, Infinity]],
      '`domain[0]` is [Infinity, Infinity]; a range from an infinity to itself has no points.',
    ],
    [
      'minus infinity to itself',
      [[-Infinity, -Infinity]],
      '`domain[0]` is [-Infinity, -Infinity]; a range from an infinity to itself has no points.',
    ],
    [
      'an overflowing width',
      [[-1e308, 1e308]],
      '`domain[0]` is [-1e+308, 1e+308]; this range is wider than a number can say: use ±Infinity.',
    ],
  ])('%s', async (_, domain, message) => {
    expect((await refusal({ domain, onProgress })).message).toBe(`integrate: ${message}`);
  });
  test('more axes than dims allows are refused', async () => {
    const domain = Array.from({ length: 1001 }, () => [0, 1]);
    expect((await refusal({ domain })).message).toMatch(/^integrate: `domain` .*1000/);
  });
  test('neither domain nor dims', async () => {
    expect((await refusal({ onProgress })).message).toMatchInlineSnapshot(
      `"integrate: \`domain\` is undefined; give \`domain\` (a range an axis) or \`dims\` (the unit cube)."`,
    );
  });
  test('both domain and dims', async () => {
    expect((await refusal({ domain: [[0, 1]], dims: 1, onProgress })).message).toMatchInlineSnapshot(
      `"integrate: \`domain\` is [[0, 1]]; give \`domain\` or \`dims\`, not both."`,
    );
  });
});

describe('method and device', () => {
  refuses(
    'method',
    /use 'auto', 'vegas\+', 'mcubes', 'mcubes1d', 'plain', 'pagani', 'cuhre', 'two-phase', 'lattice', 'zmc'\.$/,
    [
      ['vegas', "'vegas'"],
      ['VEGAS+', "'VEGAS+'"],
      ['toString', "'toString'"],
      ['', "''"],
      [1, '1'],
      [null, 'null'],
    ],
  );
  refuses(
    'device',
    /use 'auto', 'cpu', 'cpu:3' for three workers, 'cuda', 'cuda:1', 'cuda:\*', 'webgpu', 'js', 'nats:\/\/host', or an open device\.$/,
    [
      ['gpu', "'gpu'"],
      ['cpu:0', "'cpu:0'"],
      ['cpu:x', "'cpu:x'"],
      ['cpu:', "'cpu:'"],
      ['cpu:-1', "'cpu:-1'"],
      ['cpu:1.5', "'cpu:1.5'"],
      ['cpu:01', "'cpu:01'"],
      ['CPU', "'CPU'"],
      [' cpu', "' cpu'"],
      ['', "''"],
      [3, '3'],
      [null, 'null'],
    ],
  );
  test.each([
    ['an object', {}],
    ['an object without a prototype', Object.create(null)],
    ['a class', CpuDevice],
  ])('device: %s that is no device is named readably', async (_, device) => {
    const { message } = await refusal({ dims: 1, device });
    expect(message).toMatch(/^integrate: `device` is .*; use 'auto', 'cpu'/);
    expect(message).not.toContain('[object');
    expect(message.length).toBeLessThan(200);
  });
});

describe('tolerances', () => {
  for (const option of ['relTol', 'absTol'])
    refuses(option, /pass a number from 0 on, such as 1e-3\.$/, [
      [Number.NaN, 'NaN'],
      [-1e-3, '-0.001'],
      [-Infinity, '-Infinity'],
      ['1e-3', "'1e-3'"],
      [1n, '1n'],
      [null, 'null'],
    ]);
  test('both 0 without a budget', async () => {
    expect((await refusal({ dims: 1, relTol: 0, onProgress })).message).toMatchInlineSnapshot(
      `"integrate: \`relTol\` is 0; with no tolerance at all, give a budget: maxEvaluations or maxTime."`,
    );
    expect((await refusal({ dims: 1, relTol: 0, absTol: 0, onProgress })).message).toContain('maxTime');
  });
  test('both 0 without a budget, beside a `vegas` that is null', async () => {
    expect((await refusal({ dims: 1, relTol: 0, vegas: null })).message).toMatch(
      /^integrate: `(vegas|relTol)` is /,
    );
  });
});

describe('budgets', () => {
  for (const option of ['maxEvaluations', 'maxIterations', 'maxTime'])
    refuses(option, /pass a number above 0, or leave it out\.$/, [
      [0, '0'],
      [-5, '-5'],
      [Number.NaN, 'NaN'],
      ['1e6', "'1e6'"],
      [10n, '10n'],
      [null, 'null'],
    ]);
  refuses('maxEvaluations', /no method can say anything with fewer than 1000\.$/, [[999, '999']]);
  test('an iteration larger than the budget is refused', async () => {
    const e = await refusal({ dims: 1, maxEvaluations: 1000, vegas: { evaluations: 1e5 } });
    expect(e.message).toMatch(/^integrate: `vegas\.evaluations` is 100000; .*maxEvaluations/);
  });
});

describe('seed, signal, onProgress, onNonFinite', () => {
  refuses('seed', /pass a whole number, a bigint, or its digits as a string\.$/, [
    [1.5, '1.5'],
    [Number.NaN, 'NaN'],
    [2 ** 53, '9007199254740992'],
    ['1e3', "'1e3'"],
    [null, 'null'],
  ]);
  refuses('signal', /pass the signal of an AbortController\.$/, [
    ['stop', "'stop'"],
    [null, 'null'],
    [true, 'true'],
  ]);
  test('signal: the controller itself', async () => {
    expect((await refusal({ dims: 1, signal: new AbortController() })).message).toMatch(
      /`signal` is .*pass the signal of an AbortController\.$/,
    );
  });
  test.each([
    ['yes', "'yes'"],
    [null, 'null'],
    [true, 'true'],
  ])('onProgress: %s', async (value, shown) => {
    expect((await refusal({ dims: 1, onProgress: value })).message).toBe(
      `integrate: \`onProgress\` is ${shown}; pass a function.`,
    );
  });
  refuses('onNonFinite', /use 'error', 'zero'\.$/, [
    ['ignore', "'ignore'"],
    [0, '0'],
    [null, 'null'],
  ]);
});

describe('knobs of vegas', () => {
  for (const knob of ['bins', 'maxStrata', 'iterations'])
    refuses(`vegas.${knob}`, /pass a whole number from 1 on\.$/, [
      [0, '0'],
      [-1, '-1'],
      [1.5, '1.5'],
      [Number.NaN, 'NaN'],
      [Infinity, 'Infinity'],
      ['8', "'8'"],
    ]);
  for (const knob of ['adapt', 'skip'])
    refuses(`vegas.${knob}`, /pass a whole number from 0 on\.$/, [
      [-1, '-1'],
      [0.5, '0.5'],
      [Number.NaN, 'NaN'],
      ['8', "'8'"],
    ]);
  for (const knob of ['alpha', 'beta'])
    refuses(`vegas.${knob}`, /pass a number from 0 on\.$/, [
      [-0.1, '-0.1'],
      [Number.NaN, 'NaN'],
      [Infinity, 'Infinity'],
      ['0.5', "'0.5'"],
    ]);
  refuses('vegas.evaluations', /pass a whole number from 4 on\.$/, [
    [3, '3'],
    [1000.5, '1000.5'],
    [Number.NaN, 'NaN'],
  ]);
  refuses('vegas.bins', /pass at most 65536\.$/, [[65537, '65537']]);
  refuses('vegas', /pass an object with bins, alpha, beta/, [
    [null, 'null'],
    [5, '5'],
    ['fast', "'fast'"],
  ]);
  test('an unknown knob lists those that exist', async () => {
    expect((await refusal({ dims: 1, onProgress, vegas: { nbins: 5 } })).message).toMatchInlineSnapshot(
      `"integrate: unknown option \`vegas.nbins\`; did you mean \`vegas.bins\`? The knobs are bins, alpha, beta, maxStrata, evaluations, iterations, adapt, skip."`,
    );
  });
  test('skipping every iteration', async () => {
    const e = await refusal({ dims: 1, onProgress, vegas: { iterations: 5, skip: 5 } });
    expect(e.message).toMatchInlineSnapshot(
      `"integrate: \`vegas.skip\` is 5; leave at least one of the 5 iterations in the result."`,
    );
  });
  test('adapting in every iteration', async () => {
    const e = await refusal({ dims: 1, onProgress, vegas: { iterations: 5, adapt: 5 } });
    expect(e.message).toMatchInlineSnapshot(
      `"integrate: \`vegas.adapt\` is 5; leave at least one of the 5 iterations frozen, or say how many to \`skip\`."`,
    );
  });
  test('adapting in every one of the iterations that a protocol has by default', async () => {
    const e = await refusal({ dims: 1, vegas: { evaluations: 1000, adapt: 20 } });
    expect(e.message).toMatch(/^integrate: `vegas\.adapt` is 20; /);
  });
});

test('params are read once: a getter that gives a number, then something else', async () => {
  let reads = 0;
  const params = {
    get a(): number {
      return reads++ === 0 ? 3 : ('x' as never);
    },
  };
  for (const device of ['cpu', 'js']) {
    reads = 0;
    const { value } = await integrate(([x], p) => p.a * x, { dims: 1, device, params });
    expect(value).toBeCloseTo(1.5, 9);
  }
});

describe('params', () => {
  test.each([
    [null, 'params is null; pass an object of named values: { a: 3.5 }.'],
    [[1], 'params is an array; pass an object of named values: { a: 3.5 }.'],
    [5, 'params is a number; pass an object of named values: { a: 3.5 }.'],
    [{ a: [1, 2] }, 'params.a is a plain array; pass a typed array: Float64Array.from(a).'],
    [
      { a: 'x' },
      'params.a is a string; pass a number, a boolean, a typed array, a table, a function, or an object of these.',
    ],
    [
      { a: new DataView(new ArrayBuffer(8)) },
      'params.a is a DataView; pass a number, a boolean, a typed array, a table, a function, or an object of these.',
    ],
    [
      { a: null },
      'params.a is null; pass a number, a boolean, a typed array, a table, a function, or an object of these.',
    ],
    [{ a: new Float64Array() }, 'params.a is an empty array; leave it out or give it elements.'],
    [{ a: { b: [1] } }, 'params.a.b is a plain array; pass a typed array: Float64Array.from(b).'],
    [{ a: {} }, 'params.a is an empty object; leave it out or give it members.'],
    [
      { a: { 'b c': 1 } },
      "params.a has the name 'b c', which no integrand can read; use a name such as a, x1 or alpha.",
    ],
    [
      { 'a b': 1 },
      "params has the name 'a b', which no integrand can read; use a name such as a, x1 or alpha.",
    ],
  ])('%j', async (params, message) => {
    const e = await refusal({ dims: 1, params, onProgress });
    expect(e).toBeInstanceOf(TypeError);
    expect(e.message).toBe(message);
  });
  test('a param that the integrand reads and nobody gave', async () => {
    const e = await refusal(
      { dims: 1, onProgress, params: { b: 1 } },
      (x: number[], p: { a: number }) => p.a * x[0],
    );
    expect(e).toBeInstanceOf(IntegrandError);
    expect(e.message).toMatch(/params/);
  });
});

describe('integrand', () => {
  test.each([
    [undefined, 'of type undefined'],
    [null, 'null'],
    ['x => x', 'of type string'],
    [{}, 'of type object'],
  ])('%s is not a function', async (f, what) => {
    // `undefined` would take the default of `refusal`
    const e = await integrate(f as never, { dims: 1, onProgress }).catch(e => e);
    expect(e).toBeInstanceOf(IntegrandError);
    expect(e.message).toBe(
      `The integrand is ${what}, not a function.\nPass a function of the point, such as ([x, y]) => x * y.`,
    );
    expect(open).not.toHaveBeenCalled();
  });
  test.each<[string, unknown]>([
    ['indexing', (x: number[]) => x[0] * x[2]],
    ['destructuring', ([x, y, z]: number[]) => x * y * z],
    ['destructuring one that is never read', ([x, y, _z]: number[]) => x * y],
    ['under an infinite range', (x: number[]) => x[0] * x[2]],
  ])('a coordinate that the domain does not have: %s', async (how, f) => {
    const infinite = how.includes('infinite');
    const options = infinite
      ? {
          domain: [
            [0, 1],
            [0, Infinity],
          ],
        }
      : { dims: 2 };
    const e = await refusal({ ...options, onProgress }, f);
    expect(e).toBeInstanceOf(IntegrandError);
    expect(e.message).toMatch(/a point has 2/);
    expect(e.message).toMatch(/Check `dims` or `domain`/);
  });
  test('the integrand is looked at even when the domain is empty', async () => {
    expect(await refusal({ domain: [[1, 1]] }, (x: number[]) => x[1])).toBeInstanceOf(IntegrandError);
  });
});
