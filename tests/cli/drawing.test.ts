/** The history of a run, its plots in characters and as SVG, and the forecast of the live line. */
import { describe, expect, test } from 'vitest';
import { chart } from '../../src/cli/show/chart.ts';
import { Forecast } from '../../src/cli/show/forecast.ts';
import { historyOf } from '../../src/cli/show/history.ts';
import { count, rounded, time } from '../../src/cli/show/numbers.ts';
import { svg } from '../../src/cli/show/svg.ts';
import { styleOf } from '../../src/cli/terminal.ts';
import { type CommonOptions, type IntegrateOptions, integrate, type Result } from '../../src/index.ts';

const plain = styleOf({ write() {} }, {});
const ascii = styleOf({ write() {} }, { TERM: 'dumb' });
const f = ([x, y]: number[]) => Math.exp(-x * x * y);
const quick = (options: CommonOptions): Promise<Result> => integrate(f, { dims: 2, ...options });

describe('history', () => {
  test.each(['vegas+', 'mcubes', 'plain', 'zmc', 'pagani', 'cuhre', 'auto'] as const)(
    '%s ends at its value, evaluations grow',
    async method => {
      const r = await quick({ method, relTol: 1e-4 });
      const steps = historyOf(r);
      expect(steps.at(-1)!.value).toBeCloseTo(r.value, 12);
      expect(steps.at(-1)!.error).toBeCloseTo(r.error, 12);
      for (let i = 1; i < steps.length; i++)
        expect(steps[i].evaluations).toBeGreaterThan(steps[i - 1].evaluations);
      expect(steps.at(-1)!.evaluations).toBeLessThanOrEqual(r.evaluations);
    },
  );
});

describe('plots in characters', () => {
  const steps = [1e3, 1e4, 1e5, 1e6].map((evaluations, i) => ({
    evaluations,
    value: 1,
    error: evaluations ** -0.5,
    adapting: i === 0,
  }));
  test('errors fall from the top left to the bottom right', () => {
    expect(chart(steps, 2e-3, 44, plain)).toMatchInlineSnapshot(`
      [
        "   error",
        "    3e-2 ┤·",
        "         │",
        "         │          ●",
        "         │",
        "         │",
        "         │                     ●",
        "     tol ┤┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄",
        "    1e-3 ┤                               ●",
        "         └────────────────────────────────",
        "          1e3        evaluations       1e6",
      ]
    `);
    expect(chart(steps, 2e-3, 44, ascii)).toMatchInlineSnapshot(`
      [
        "   error",
        "    3e-2 +.",
        "         |",
        "         |          o",
        "         |",
        "         |",
        "         |                     o",
        "     tol +--------------------------------",
        "    1e-3 +                               o",
        "         +--------------------------------",
        "          1e3        evaluations       1e6",
      ]
    `);
  });
  test('fewer than three points are no plot', () => {
    expect(chart(steps.slice(0, 2), 1e-3, 80, plain)).toEqual([]);
  });
  test('errors of 0 and no tolerance do not disturb it', () => {
    expect(chart([...steps, { ...steps[0], error: 0 }], 0, 80, plain).join('')).not.toContain('┄');
  });
});

describe('drawings', () => {
  /** Every element is closed, every attribute quoted; enough for a file without comments and entities of its own. */
  const wellFormed = (text: string) => {
    const open: string[] = [];
    for (const [, close, name, attributes, empty] of text.matchAll(/<(\/?)([a-zA-Z]+)([^<>]*?)(\/?)>/g)) {
      expect(attributes.replace(/\s+[\w:-]+="[^"<>&]*"/g, '').trim()).toBe('');
      if (close) expect(open.pop()).toBe(name);
      else if (!empty) open.push(name);
    }
    expect(open).toEqual([]);
    expect(text.replace(/&#\d+;/g, '').replace(/<[^<>]*>/g, '')).not.toMatch(/[<>&]/);
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
  };
  test.each([
    ['vegas+', { method: 'vegas+', relTol: 1e-4 }],
    ['pagani', { method: 'pagani', relTol: 1e-10 }],
    ['a single iteration', { method: 'cuhre', relTol: 0.1 }],
    ['a run that was stopped at once', { signal: AbortSignal.abort() }],
    [
      'a backward domain',
      {
        domain: [
          [1, 0],
          [0, 1],
        ],
        method: 'vegas+',
      },
    ],
  ] as [string, CommonOptions & { domain?: IntegrateOptions['domain'] }][])('%s', async (_, options) => {
    const where = options.domain ? {} : { dims: 2 };
    const r = await integrate(f, { ...where, ...options } as IntegrateOptions);
    const text = svg(r, 'x < y && "a" > \'b\' — exp(-x²)');
    wellFormed(text);
    expect(text).toContain('prefers-color-scheme: dark');
    expect(text).toContain('x &#60; y &#38;&#38; &#34;a&#34;');
  });
  test('the band has both edges', async () => {
    const text = svg(await quick({ method: 'vegas+', relTol: 1e-4 }), 'f');
    const [, path] = /class="band" d="M([^"]*)Z"/.exec(text)!;
    const points = path.split('L').map(p => p.split(',').map(Number));
    expect(points.length % 2).toBe(0);
    expect(points[0][0]).toBe(points.at(-1)![0]);
    expect(points[0][1]).toBeLessThan(points.at(-1)![1]);
  });
});

describe('forecast', () => {
  const own = { chi2: 0, dof: 0 };
  test.each(['vegas+', 'mcubes', 'mcubes1d', 'plain', 'zmc', 'auto'] as const)(
    'chi2/dof of %s is that of the result, to a hundredth',
    async method => {
      const forecast = new Forecast({ method });
      const r = await quick({ method, relTol: 2e-4, onProgress: p => forecast.add(p, 1) });
      if (r.dof > 0) expect(forecast.chi2PerDof).toBeCloseTo(r.chi2 / r.dof, 2);
      else expect(forecast.chi2PerDof).toBeUndefined();
    },
  );
  test('by the square root law, half the error takes four times as long', () => {
    const forecast = new Forecast({ method: 'plain', relTol: 0, absTol: 0.5 });
    forecast.add(
      { iteration: 1, value: 7, error: 1, evaluations: 1000, adapting: false, method: 'plain', ...own },
      1000,
    );
    expect(forecast.speed).toBe(1000);
    expect(forecast.left).toBe(3000);
    expect(forecast.chi2PerDof).toBeUndefined();
  });
  test('deterministic methods are judged by how their error fell', () => {
    const forecast = new Forecast({ method: 'cuhre', relTol: 0, absTol: 0.001 });
    forecast.add(
      { iteration: 1, value: 7, error: 1, evaluations: 100, adapting: false, method: 'cuhre', ...own },
      100,
    );
    forecast.add(
      { iteration: 2, value: 7, error: 0.01, evaluations: 1000, adapting: false, method: 'cuhre', ...own },
      1000,
    );
    expect(forecast.left! / 1000).toBeCloseTo(Math.sqrt(10) - 1, 6);
  });
  test('says nothing while a map is learning, or when nothing is known', () => {
    const forecast = new Forecast({});
    expect([forecast.speed, forecast.left, forecast.last]).toEqual([undefined, undefined, undefined]);
    forecast.add(
      { iteration: 1, value: 0, error: Infinity, evaluations: 10, adapting: true, method: 'vegas+', ...own },
      10,
    );
    expect(forecast.left).toBeUndefined();
  });
});

describe('numbers', () => {
  test.each([
    [0.4, '0 ms'],
    [999, '999 ms'],
    [999.6, '1.0 s'],
    [59_960, '1 min 0 s'],
    [125_000, '2 min 5 s'],
    [7_260_000, '2 h 1 min'],
  ])('%d ms is %s', (ms, text) => expect(time(ms)).toBe(text));
  test('counts', () => {
    expect([45, 65_536, 1_234_567].map(count)).toEqual(['45', '65,536', '1.2e6']);
    expect(rounded(Infinity)).toBe('Infinity');
  });
});
