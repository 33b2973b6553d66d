/** What comes back: its text, its status, its warnings, its numbers. */
import { describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { type Integrand, integrate, type Progress } from '../../src/index.ts';
import { kit } from '../../src/integrand/math/index.ts';
import { combine, upperGamma } from '../../src/methods/combine.ts';
import type { CommonOptions, IntegrateOptions, MethodName } from '../../src/problem.ts';
import { Result, type ResultData, withError } from '../../src/result.ts';

const methods: MethodName[] = ['plain', 'mcubes', 'mcubes1d', 'vegas+'];
const smooth: Integrand = ([x, y]) => Math.exp(-x * y);
const smoothTruth = 0.796_599_599_297_053; // γ − Ei(−1)

/** A Gaussian of width 0.01 in the middle, 1 in all (to 1e-15). */
const peak: Integrand = (x: number[]) => {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += (x[i] - 0.5) ** 2;
  return Math.exp(-5000 * s) * (5000 / Math.PI) ** (x.length / 2);
};

/** The last iteration in the table. */
const lastRow = (r: Result) =>
  r
    .summary()
    .split('\n')
    .findLast(line => /^\d/.test(line));
const masked = (text: string) => text.replace(/\d+(\.\d)? m?s$/m, '… ms');

describe('withError: a value with its error in its last two digits', () => {
  test.each([
    [0.9973, 0.0049, '0.9973(49)'],
    [0.99731, 0.00494, '0.9973(49)'],
    [1.234567, 0.000012, '1.234567(12)'],
    [-1.234567, 0.000012, '-1.234567(12)'],
    [3, 0.5, '3.00(50)'],
    [12.345, 1.2, '12.3(1.2)'],
    [123.45, 12, '123(12)'],
    [123_456, 789, '123456(790)'],
    [0.5, 0.1, '0.50(10)'],
    // rounding carries into another digit
    [0.5, 0.0996, '0.50(10)'],
    [5, 0.996, '5.0(1.0)'],
    [5, 9.96, '5(10)'],
    [0.999_96, 0.000_12, '0.99996(12)'],
    [0.999_996, 0.000_12, '1.00000(12)'],
    // an error as large as the value, or larger
    [0.3, 0.4, '0.30(40)'],
    [1, 1, '1.0(1.0)'],
    [0.001, 2, '0.0(2.0)'],
    [5, 123, '5(120)'],
    [0, 0.25, '0.00(25)'],
    [0, 1e-7, '0.0(1.0)e-7'],
    // no error
    [0, 0, '0(0)'],
    [2, 0, '2(0)'],
    [0.1, 0, '0.1(0)'],
    // small and large
    [1.2346e-9, 1.2e-12, '1.2346(12)e-9'],
    [1.2346e12, 1.2e9, '1.2346(12)e12'],
    [-4.5e-5, 1e-6, '-4.50(10)e-5'],
    [0.000_123_4, 0.000_001_2, '0.0001234(12)'],
    [1_234_567, 1200, '1234567(1200)'],
    [12_345_678, 1200, '1.23457(12)e7'],
    [1e-200, 1e-203, '1.0000(10)e-200'],
    [1e200, 1e197, '1.0000(10)e200'],
    [3e-300, 1e-302, '3.000(10)e-300'],
    [1.5e308, 1e306, '1.500(10)e308'],
    // the mantissa rounds up to ten
    [9.999_99e-5, 1e-6, '0.0001000(10)'],
    [9.999_99e-7, 1e-8, '1.000(10)e-6'],
    // not a number
    [Number.NaN, Number.NaN, 'NaN ± NaN'],
    [0, Infinity, '0 ± Infinity'],
    [Infinity, 1, 'Infinity ± 1'],
  ])('%s ± %s', (value, error, text) => {
    expect(withError(value, error)).toBe(text);
  });
  test('what it shows is the value to a tenth of the error, and the error to 5 %, over 600 magnitudes', () => {
    for (let k = -300; k <= 300; k++) {
      for (const ratio of [0.9, 0.1, 1e-3, 1e-6, 1e-10]) {
        const value = 3.456789 * 10 ** k;
        const error = 1.7 * ratio * 10 ** k;
        const [, v, e, exponent] = /^(-?[\d.]+)\(([\d.]+)\)(e-?\d+)?$/.exec(withError(value, error))!;
        const digits = v.split('.')[1]?.length ?? 0;
        const power = Number(`1${exponent ?? ''}`);
        const shown = Number(e) * (e.includes('.') ? 1 : 10 ** -digits) * power;
        expect(Math.abs(Number(v + (exponent ?? '')) - value), `${value} ± ${error}`).toBeLessThan(
          0.1 * error,
        );
        expect(Math.abs(shown / error - 1), `${value} ± ${error}`).toBeLessThan(0.05);
      }
    }
  });
  test('no digits that a number does not have', () => {
    expect(withError(1.000_000_000_000_006_7, 1.7e-18).length).toBeLessThan(26);
    expect(withError(1, 1e-25)).toMatch(/^1(\.0+)?\(/);
  });
});

describe('text', () => {
  const data: ResultData = {
    value: 1.234567,
    error: 0.000012,
    status: 'converged',
    evaluations: 1.2e9,
    iterations: [
      { value: 1.3, error: 0.1, evaluations: 100, adapting: true },
      { value: 1.25, error: 0.01, evaluations: 1000, adapting: false },
      { value: 1.23, error: 0.01, evaluations: 1000, adapting: false },
    ],
    chi2: 3.72,
    dof: 4,
    q: 0.4454,
    method: 'vegas+',
    device: 'cpu',
    seed: 42,
    elapsed: 41.4,
    warnings: [],
    nonFinite: 0,
  };
  const textOf = (over: Partial<ResultData> = {}) => `${new Result({ ...data, ...over })}`;
  test('one line says it all', () => {
    expect(textOf()).toMatchInlineSnapshot(
      `"1.234567(12)  chi2/dof 0.93  Q 0.45  vegas+ on cpu, 1.2e+9 evaluations, 41 ms"`,
    );
  });
  test('the seed is printed', () => {
    expect(`${textOf()}\n${new Result(data).summary()}`).toMatch(/seed 42\b/);
  });
  test('what did not converge says so', () => {
    expect(textOf({ status: 'budget' })).toContain('not converged (budget)');
    expect(textOf({ status: 'time' })).toContain('not converged (time)');
    expect(new Result({ ...data, status: 'budget' }).converged).toBe(false);
    expect(new Result(data).converged).toBe(true);
  });
  test('warnings follow, a line each', () => {
    const lines = textOf({ warnings: ['one thing', 'another'] }).split('\n');
    expect(lines.slice(1)).toEqual(['warning: one thing', 'warning: another']);
  });
  test('a single iteration has no chi2 to show', () => {
    expect(textOf({ dof: 0, chi2: 0, q: 1 })).not.toMatch(/chi2|Q/);
  });
  test('time in milliseconds below a second, in seconds above', () => {
    expect(textOf({ elapsed: 0.2 })).toContain(', 0 ms');
    expect(textOf({ elapsed: 999 })).toContain(', 999 ms');
    expect(textOf({ elapsed: 1234 })).toContain(', 1.2 s');
    expect(textOf({ elapsed: 999.7 })).not.toContain('1000 ms');
  });
  test('the table of iterations: what adapts is not averaged', () => {
    expect(`\n${new Result(data).summary()}`).toMatchInlineSnapshot(`
      "
      vegas+ on cpu, seed 42
      itn   integral    average      chi2/dof   Q
      1     1.30(10)    adapting
      2     1.250(10)   1.250(10)
      3     1.230(10)   1.2400(71)   2.00       0.16"
    `);
  });
  test('no iterations: the header alone', () => {
    const lines = new Result({ ...data, iterations: [] }).summary().split('\n');
    expect(lines).toContainEqual(expect.stringMatching(/^itn +integral +average +chi2\/dof +Q$/));
    expect(lines.some(line => /^\d/.test(line))).toBe(false);
  });
});

describe('text of a run', () => {
  test('plain, five iterations', async () => {
    const r = await integrate(smooth, {
      dims: 2,
      method: 'plain',
      relTol: 0,
      vegas: { evaluations: 1000, iterations: 5 },
    });
    expect(`\n${masked(`${r}`)}\n${r.summary()}`).toMatchInlineSnapshot(`
      "
      0.7958(23)  chi2/dof 0.17  Q 0.95  not converged (budget)  plain on cpu, 5.0e+3 evaluations, … ms
      plain on cpu, seed 1
      itn   integral     average      chi2/dof   Q
      1     0.7924(54)   0.7924(54)
      2     0.7952(50)   0.7939(37)   0.14       0.71
      3     0.7980(50)   0.7953(30)   0.29       0.75
      4     0.7958(50)   0.7954(25)   0.20       0.90
      5     0.7973(50)   0.7958(23)   0.17       0.95"
    `);
  });
  test('vegas+, three adapting iterations and three that count', async () => {
    const r = await integrate(smooth, {
      dims: 2,
      method: 'vegas+',
      relTol: 0,
      vegas: { evaluations: 1000, iterations: 6, adapt: 3 },
    });
    expect(`\n${masked(`${r}`)}\n${r.summary()}`).toMatchInlineSnapshot(`
      "
      0.79574(67)  chi2/dof 0.80  Q 0.45  not converged (budget)  vegas+ on cpu, 5.3e+3 evaluations, … ms
      vegas+ on cpu, seed 1
      itn   integral      average       chi2/dof   Q
      1     0.79627(45)   adapting
      2     0.7956(14)    adapting
      3     0.7964(14)    adapting
      4     0.7964(11)    0.7964(11)
      5     0.7945(12)    0.79548(82)   1.37       0.24
      6     0.7962(12)    0.79574(67)   0.80       0.45"
    `);
  });
});

describe('numbers of a run', () => {
  test.each(methods)(
    '%s: value, error, chi2, dof and q are those of the iterations that count',
    async method => {
      for (const options of [{ maxEvaluations: 1e6 }, { vegas: { evaluations: 2000, iterations: 9 } }]) {
        const r = await integrate(smooth, { dims: 2, method, relTol: 1e-4, ...options });
        const counted = r.iterations.filter(i => !i.adapting);
        const { value, error, chi2, dof, q } = combine(counted);
        expect([r.value, r.error, r.chi2, r.dof, r.q]).toEqual([value, error, chi2, dof, q]);
        expect(dof).toBe(counted.length - 1);
        for (const i of r.iterations)
          expect(Object.keys(i)).toEqual(['value', 'error', 'evaluations', 'adapting']);
        expect(Math.abs(r.value - smoothTruth)).toBeLessThan(5 * r.error);
        const last = r.summary().split('\n').at(-1)!;
        expect(last).toContain(withError(r.value, r.error));
      }
    },
  );
  test('the last row of the summary is the result, also when a measurement was thrown away', async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const r = await integrate(peak, { dims: 4, method: 'vegas+', maxEvaluations: 3e5, seed });
      const counted = r.iterations.filter(i => !i.adapting);
      if (counted.length === 0) continue;
      expect(r.value, `seed ${seed}`).toBe(combine(counted).value);
      expect(lastRow(r)).toContain(withError(r.value, r.error));
    }
  });
  test.each(methods)(
    '%s: evaluations counts every evaluation, up to the budget and at most 1 percent over',
    async method => {
      const device = new CpuDevice(2);
      let made = 0;
      const open = device.open.bind(device);
      device.open = async integrand => {
        const session = await open(integrand);
        const sample = session.sample.bind(session);
        session.sample = async (...args) => {
          const sums = await sample(...args);
          made += sums.evaluations;
          return sums;
        };
        return session;
      };
      for (const [f, dims] of [
        [smooth, 2],
        [peak, 4],
      ] as const) {
        for (const maxEvaluations of [1000, 1500, 2500, 5000, 2e4, 1e5, 4e5]) {
          made = 0;
          const r = await integrate(f, { dims, method, device, relTol: 1e-9, maxEvaluations });
          expect(made, `${maxEvaluations}`).toBeLessThanOrEqual(1.01 * maxEvaluations);
          expect(r.evaluations, `${maxEvaluations}`).toBe(made);
          expect(r.evaluations).toBeGreaterThan(0.25 * maxEvaluations);
          expect(r.iterations.some(i => !i.adapting)).toBe(true);
        }
      }
      await device.close();
    },
  );
  test('seed, method, device and elapsed are those of the run', async () => {
    const r = await integrate(smooth, { dims: 2, method: 'mcubes', device: 'cpu:2', seed: -5 });
    expect([r.seed, r.method, r.device]).toEqual([-5, 'mcubes', 'cpu:2']);
    expect(r.elapsed).toBeGreaterThan(0);
    const auto = await integrate(smooth, { dims: 2, method: 'vegas+' });
    expect([auto.seed, auto.method, auto.device]).toEqual([1, 'vegas+', 'cpu']);
  });
  test('a constant is found exactly, to 1e-12, without a warning, by every method', async () => {
    for (const method of methods) {
      const r = await integrate(() => 3, { domain: [[0.1, 0.7]], method, maxEvaluations: 1e6 });
      expect([r.status, r.warnings]).toEqual(['converged', []]);
      expect(Math.abs(r.value - 1.8)).toBeLessThanOrEqual(5 * r.error + 1e-12);
    }
  });
  test('an error is never smaller than rounding', async () => {
    const r = await integrate(([x]) => 1 / (x * x), { domain: [[1, Infinity]], maxEvaluations: 1e6 });
    expect(Math.abs(r.value - 1)).toBeLessThanOrEqual(5 * r.error);
  });
});

describe('status', () => {
  test('converged: the error is at most relTol · |value|', async () => {
    for (const relTol of [1e-2, 1e-3, 1e-4]) {
      const r = await integrate(smooth, { dims: 2, relTol });
      expect(r.status).toBe('converged');
      expect(r.error).toBeLessThanOrEqual(relTol * r.value);
    }
  });
  test('converged: or at most absTol, when that is larger', async () => {
    const r = await integrate(([x]) => x - 0.5, { dims: 1, relTol: 0, absTol: 1e-3 });
    expect(r.status).toBe('converged');
    expect(r.error).toBeLessThanOrEqual(1e-3);
    expect(Math.abs(r.value)).toBeLessThan(5e-3);
  });
  test.each(methods)('%s: budget, when maxEvaluations are spent; the estimate is right', async method => {
    const r = await integrate(smooth, { dims: 2, method, relTol: 1e-9, maxEvaluations: 1e5 });
    expect(r.status).toBe('budget');
    expect(r.warnings).toEqual([]);
    expect(Math.abs(r.value - smoothTruth)).toBeLessThan(5 * r.error);
  });
  test.each([1, 2, 3, 4])('budget, after maxIterations: %s', async maxIterations => {
    for (const method of methods) {
      const options: IntegrateOptions = { dims: 2, method, relTol: 1e-9, maxEvaluations: 1e6, maxIterations };
      const r = await integrate(smooth, options);
      expect(r.iterations).toHaveLength(maxIterations);
      expect(r.status).toBe('budget');
      expect(Math.abs(r.value - smoothTruth)).toBeLessThan(5 * r.error);
    }
  });
  test('budget, after the iterations of a protocol', async () => {
    const r = await integrate(smooth, {
      dims: 2,
      relTol: 0,
      vegas: { evaluations: 1000, iterations: 7, adapt: 3 },
    });
    expect(r.status).toBe('budget');
    expect(r.iterations.map(i => i.adapting)).toEqual([true, true, true, false, false, false, false]);
    expect(r.dof).toBe(3);
  });
  test('skipped iterations do not count, adapting ones that are not skipped do', async () => {
    const run = (adapt: number, skip: number) =>
      integrate(smooth, { dims: 2, relTol: 0, vegas: { evaluations: 1000, iterations: 6, adapt, skip } });
    expect((await run(1, 4)).dof).toBe(1);
    expect((await run(6, 0)).dof).toBe(5);
  });
  test('a protocol ends early when its tolerance is met', async () => {
    const r = await integrate(smooth, {
      dims: 2,
      relTol: 1e-2,
      vegas: { evaluations: 5000, iterations: 50, adapt: 2 },
    });
    expect(r.status).toBe('converged');
    expect(r.iterations).toHaveLength(4);
  });
  test.each([
    ['large iterations', { maxEvaluations: 1e12 }],
    [
      'many small iterations',
      { maxIterations: 1e9, maxEvaluations: 1e12, vegas: { evaluations: 1000, iterations: 1e7 } },
    ],
  ])('time, when maxTime is over: %s', async (_, options: CommonOptions) => {
    const r = await integrate(smooth, { dims: 2, method: 'vegas+', relTol: 0, maxTime: 150, ...options });
    expect(r.status).toBe('time');
    expect(r.error).toBeGreaterThan(0);
    expect(Math.abs(r.value - smoothTruth)).toBeLessThan(6 * r.error);
  });
  test.each([2 ** 31, 1e10, 1e300])('a maxTime of %s ms does not end a run', async maxTime => {
    expect((await integrate(smooth, { dims: 2, maxTime })).status).toBe('converged');
  });
});

describe('aborted', () => {
  test('before the run: nothing was evaluated, and it says so', async () => {
    const r = await integrate(smooth, { dims: 2, method: 'vegas+', signal: AbortSignal.abort() });
    expect([r.status, r.evaluations, r.iterations]).toEqual(['aborted', 0, []]);
    expect(r.error).toBe(Infinity);
    expect(r.warnings).toHaveLength(1);
    expect(r.warnings[0]).not.toContain('adapting iteration saw');
    expect(`${r}`).toMatch(/^0 ± Infinity +not converged \(aborted\)/);
  });
  test.each([1, 3, 9])('after %s iterations: the best estimate until then', async after => {
    const stop = new AbortController();
    const r = await integrate(smooth, {
      dims: 2,
      method: 'vegas+',
      relTol: 1e-7,
      maxEvaluations: 1e12,
      signal: stop.signal,
      onProgress: p => p.iteration === after && stop.abort(),
    });
    expect(r.status).toBe('aborted');
    expect(r.iterations).toHaveLength(after);
    expect(Math.abs(r.value - smoothTruth)).toBeLessThan(6 * r.error);
    expect(r.error).toBeLessThan(0.1);
  });
  test('while learning: the last adapting iteration, with a warning', async () => {
    const stop = new AbortController();
    const r = await integrate(smooth, {
      dims: 2,
      method: 'vegas+',
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    expect(r.warnings).toEqual([expect.stringContaining('before anything was measured')]);
    expect([r.value, r.error]).toEqual([r.iterations[0].value, r.iterations[0].error]);
  });
  test('by a timer, in the middle of a large iteration', async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error('enough')), 100);
    const r = await integrate(smooth, {
      dims: 2,
      method: 'vegas+',
      relTol: 0,
      maxEvaluations: 1e12,
      signal: stop.signal,
    });
    expect(r.status).toBe('aborted');
  });
  test('a signal given beside maxTime still aborts', async () => {
    const r = await integrate(smooth, {
      dims: 2,
      method: 'vegas+',
      signal: AbortSignal.abort(),
      maxTime: 1e5,
    });
    expect(r.status).toBe('aborted');
  });
  test('a signal that is never aborted changes nothing', async () => {
    const r = await integrate(smooth, { dims: 2, signal: new AbortController().signal });
    expect(r.value).toBe((await integrate(smooth, { dims: 2 })).value);
  });
});

describe('warnings', () => {
  test.each(methods)('%s: an integrand that is 0 everywhere is not reported as converged', async method => {
    for (const options of [
      { maxEvaluations: 1000 },
      { maxEvaluations: 1e5 },
      { maxEvaluations: 5e4, absTol: 1e-3 },
    ]) {
      const r = await integrate(() => 0, { dims: 2, method, ...options });
      expect([r.value, r.error, r.status]).toEqual([0, 0, 'budget']);
      expect(r.warnings.at(-1)).toMatch(
        /^every one of \d+ samples was 0: either the integrand is 0, or it is not where the samples were; narrow the domain or raise maxEvaluations$/,
      );
    }
  });
  test('an integrand that is 0 everywhere does not cost the whole of a large budget', async () => {
    const r = await integrate(() => 0, { dims: 2, method: 'vegas+', maxEvaluations: 1e12 });
    expect(r.evaluations).toBeLessThan(1e8);
    expect(r.status).toBe('budget');
  });
  test('a peak that no sample met: not converged, with a warning', async () => {
    const f: Integrand = ([x, y]) =>
      Math.abs(x - 0.123456) < 1e-9 && Math.abs(y - 0.654321) < 1e-9 ? 1e18 : 0;
    const r = await integrate(f, { dims: 2, method: 'vegas+', maxEvaluations: 1e5 });
    expect(r.converged).toBe(false);
    expect(r.warnings.at(-1)).toMatch(/every one of \d+ samples was 0/);
  });
  test('a peak of width 0.01 in 4 dimensions at 1e5 evaluations: found, or said not to be, for 20 seeds', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const r = await integrate(peak, { dims: 4, method: 'vegas+', maxEvaluations: 1e5, seed });
      const off = Math.abs(r.value - 1) / r.error;
      if (off > 5) expect([seed, r.converged, r.warnings.length > 0]).toEqual([seed, false, true]);
    }
  });
  test('an integral that does not exist is refused where it is infinite, or does not converge', async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const run = integrate(([x]) => 1 / (x - 0.5) ** 2, {
        dims: 1,
        method: 'vegas+',
        maxEvaluations: 1e5,
        seed,
      });
      const r = await run.catch((e: Error) => e);
      if (r instanceof Error) expect(r.message).toContain('the integrand is Infinity at [0.5]');
      else expect([r.converged, r.warnings.length > 0]).toEqual([false, true]);
    }
  });
});

describe('values that are not finite', () => {
  /** The point that the message shows. */
  async function pointOf(f: Integrand, options: IntegrateOptions, shown: string): Promise<number[]> {
    const e = await integrate(f, options).then(
      r => expect.fail(`${r}`),
      (e: Error) => e,
    );
    expect(e).toBeInstanceOf(RangeError);
    expect(e.message).toMatch(
      /^integrate: the integrand is \S+ at \[[^\]]+\]; mend it there, exclude the point from the domain, or count such values as 0 with onNonFinite: 'zero'\.$/,
    );
    expect(e.message).toContain(`the integrand is ${shown} at [`);
    return JSON.parse(/\[.*?\]/.exec(e.message)![0]) as number[];
  }
  test('NaN: the message shows the point and the value', async () => {
    const [x, y] = await pointOf(
      ([x, y]) => Math.sqrt(x - 0.3) * y,
      {
        domain: [
          [-2, 5],
          [10, 11],
        ],
      },
      'NaN',
    );
    expect(x).toBeGreaterThanOrEqual(-2);
    expect(x).toBeLessThan(0.3);
    expect(y).toBeGreaterThanOrEqual(10);
    expect(y).toBeLessThanOrEqual(11);
  });
  test('Infinity and −Infinity', async () => {
    const [above] = await pointOf(([x]) => (x > 0.9 ? 1 / (x - x) ** 2 : 1), { dims: 1 }, 'Infinity');
    expect(above).toBeGreaterThan(0.9);
    const [below] = await pointOf(([x]) => (x < 0.1 ? Math.log(x - x) : 1), { dims: 1 }, '-Infinity');
    expect(below).toBeLessThan(0.1);
  });
  test.each<[string, [number, number], (x: number) => boolean]>([
    ['above', [2, Infinity], x => x > 5],
    ['both', [-Infinity, Infinity], x => x > 5],
    ['below', [-Infinity, -2], x => x < -5],
  ])('under an infinite range the point is that of the domain: %s', async (how, range, holds) => {
    const f: Integrand =
      how === 'below'
        ? ([x]) => (x < -5 ? Math.sqrt(x) : Math.exp(x))
        : ([x]) => (x > 5 ? Math.sqrt(-x) : Math.exp(-x * x));
    const [x] = await pointOf(f, { domain: [range] }, 'NaN');
    expect(holds(x)).toBe(true);
  });
  test('met by a worker, the message is the same', async () => {
    const f: Integrand = ([x, y]) => (x > 0.999 && y > 0.999 ? Math.sqrt(-x) : 1);
    const run = (device: string) =>
      pointOf(f, { dims: 2, device, vegas: { evaluations: 1e6, iterations: 5 } }, 'NaN');
    const [x, y] = await run('cpu:1');
    expect(Math.min(x, y)).toBeGreaterThan(0.999);
    expect(await run('cpu:3')).toEqual([x, y]);
  });
  test("'zero' counts them, takes them as 0 and warns", async () => {
    for (const method of methods) {
      const f: Integrand = ([x]) => Math.sqrt(x - 0.01);
      const r = await integrate(f, { dims: 1, method, onNonFinite: 'zero' });
      expect(r.status).toBe('converged');
      expect(r.nonFinite).toBeGreaterThan(0);
      expect(r.nonFinite).toBeLessThan(0.05 * r.evaluations);
      expect(r.warnings).toEqual([`${r.nonFinite} values were not finite and counted as 0`]);
      expect(Math.abs(r.value - (2 / 3) * 0.99 ** 1.5)).toBeLessThan(5 * r.error);
    }
  });
  test("'zero' without such values: no count, no warning", async () => {
    const r = await integrate(smooth, { dims: 2, onNonFinite: 'zero' });
    expect([r.nonFinite, r.warnings]).toEqual([0, []]);
  });
  test("'zero' with nothing but such values: 0, not converged", async () => {
    const r = await integrate(([x]) => Math.sqrt(-1 - x), {
      dims: 1,
      onNonFinite: 'zero',
      maxEvaluations: 1e5,
    });
    expect([r.value, r.converged]).toEqual([0, false]);
    expect(r.nonFinite).toBeGreaterThanOrEqual(r.evaluations);
  });
  test('a value is refused in a run that gives them up only later: a point in a million', async () => {
    const f: Integrand = ([x, y]) => (x < 1e-3 && y < 1e-3 ? Math.sqrt(-1 - x) : 1);
    await pointOf(f, { dims: 2, relTol: 0, vegas: { evaluations: 1e6, iterations: 20 } }, 'NaN');
  });
});

describe('onProgress', () => {
  test.each(methods)('%s: is called once an iteration, in order, with growing evaluations', async method => {
    const seen: Progress[] = [];
    const r = await integrate(smooth, { dims: 2, method, relTol: 1e-4, onProgress: p => seen.push(p) });
    expect(seen.map(p => p.iteration)).toEqual(r.iterations.map((_, i) => i + 1));
    // a measurement that is thrown away later counted when it was shown
    expect(r.iterations.every((it, i) => it.adapting || !seen[i].adapting)).toBe(true);
    expect(seen.every((p, i) => p.evaluations > (seen[i - 1]?.evaluations ?? 0))).toBe(true);
    const last = seen.at(-1)!;
    expect([last.value, last.error, last.evaluations]).toEqual([r.value, r.error, r.evaluations]);
  });
  test('shows the iteration while adapting and the average after', async () => {
    const seen: Progress[] = [];
    const r = await integrate(smooth, {
      dims: 2,
      relTol: 0,
      vegas: { evaluations: 1000, iterations: 6, adapt: 3 },
      onProgress: p => seen.push(p),
    });
    seen.forEach((p, i) => {
      const own = r.iterations[i];
      const average = p.adapting ? own : combine(r.iterations.slice(3, i + 1));
      expect([p.value, p.error]).toEqual([average.value, average.error]);
    });
  });
  test('what it throws ends the run', async () => {
    const boom = new Error('boom in onProgress');
    const run = integrate(smooth, {
      dims: 2,
      onProgress: () => {
        throw boom;
      },
    });
    await expect(run).rejects.toBe(boom);
  });
});

describe('combine', () => {
  test('weighs by evaluations, not by errors', () => {
    const c = combine([
      { value: 1, error: 0.1, evaluations: 1000 },
      { value: 2, error: 1e-6, evaluations: 3000 },
    ]);
    expect(c.value).toBeCloseTo(1.75, 14);
    expect(c.error).toBeCloseTo(Math.hypot(0.1 / 4, 3e-6 / 4), 14);
    expect([c.evaluations, c.dof]).toEqual([4000, 1]);
  });
  test('chi2 is that of the spread over the errors', () => {
    const c = combine([0.9, 1, 1.1].map(value => ({ value, error: 0.1, evaluations: 10 })));
    expect(c.chi2).toBeCloseTo(2, 12);
    expect(c.q).toBeCloseTo(Math.exp(-1), 12);
  });
  test('one estimate is itself', () => {
    const one = { value: 3, error: 0.5, evaluations: 7 };
    const found = { carriers: Infinity, hidden: 0, rounding: 0, chi2: 0, dof: 0, q: 1 };
    expect(combine([one])).toEqual({ ...one, ...found });
  });
  test('estimates that agree without any error agree; those that do not disagree', () => {
    const at = (value: number) => ({ value, error: 0, evaluations: 10 });
    expect(combine([at(1), at(1), at(1)])).toMatchObject({ chi2: 0, q: 1 });
    expect(combine([at(1), at(1 + 2e-16)])).toMatchObject({ q: 1 });
    expect(combine([at(1), at(2)]).q).toBe(0);
  });
  test.each([1e-300, 1e-170, 1e160, 1e300])(
    'estimates of about %s are combined like those of about 1',
    size => {
      const estimates = [1.1, 0.9, 1.05].map(v => ({ value: v * size, error: 0.1 * size, evaluations: 10 }));
      const c = combine(estimates);
      expect(c.value / size).toBeCloseTo(3.05 / 3, 12);
      expect(c.error / size).toBeCloseTo(0.1 / Math.sqrt(3), 12);
    },
  );
});

describe('upperGamma, the χ² distribution', () => {
  const xs = [1e-12, 1e-3, 0.1, 0.5, 0.9, 1, 1.1, 1.5, 2, 2.5, 3, 5, 10, 30, 100, 500];
  const expectClose = (actual: number, wanted: number, what: string) =>
    expect(Math.abs(actual - wanted), what).toBeLessThanOrEqual(1e-12 * wanted + 2e-16);
  test('2 degrees of freedom: exp(−x), to 1e-12', () => {
    for (const x of xs) expectClose(upperGamma(1, x), Math.exp(-x), `${x}`);
  });
  test('1 degree: erfc(√x), to 1e-12', () => {
    for (const x of xs) expectClose(upperGamma(0.5, x), kit.erfc(Math.sqrt(x)), `${x}`);
  });
  test('4, 6 and 8 degrees: exp(−x)·Σ xᵏ/k!, to 1e-12', () => {
    for (const a of [2, 3, 4]) {
      for (const x of xs) {
        let [sum, term] = [0, 1];
        for (let k = 0; k < a; k++, term *= x / k) sum += term;
        expectClose(upperGamma(a, x), Math.exp(-x) * sum, `${a}, ${x}`);
      }
    }
  });
  test('3 degrees: erfc(√x) + 2√(x/π)·exp(−x), to 1e-12', () => {
    for (const x of xs)
      expectClose(
        upperGamma(1.5, x),
        kit.erfc(Math.sqrt(x)) + 2 * Math.sqrt(x / Math.PI) * Math.exp(-x),
        `${x}`,
      );
  });
  test.each([
    // dof, χ², Q: the usual table
    [1, 3.841_458_820_694_124, 0.05],
    [2, 5.991_464_547_107_979, 0.05],
    [5, 11.070_497_693_516_351, 0.05],
    [10, 18.307_038_053_275_146, 0.05],
    [10, 23.209_251_158_954_356, 0.01],
    [100, 124.342_113_404_003_7, 0.05],
    [9, 8.342_832_692_252_953, 0.5],
  ])('%s degrees, χ² %s: %s', (dof, chi2, q) => {
    expect(upperGamma(dof / 2, chi2 / 2)).toBeCloseTo(q, 11);
  });
  test('falls from 1 at 0 to 0 at ∞', () => {
    for (const a of [0.5, 1, 4.5, 50, 5000]) {
      expect([upperGamma(a, 0), upperGamma(a, Infinity)]).toEqual([1, 0]);
      let before = 1;
      for (let x = 0; x < 4 * a; x += a / 8) {
        const q = upperGamma(a, x);
        expect(q).toBeLessThanOrEqual(before + 1e-12);
        expect(q).toBeGreaterThanOrEqual(0);
        before = q;
      }
    }
  });
  test('thousands of degrees: 1/2 − 1/(3·√(2πa)) at its mean, to 1e-6', () => {
    for (const a of [500, 5000])
      expect(upperGamma(a, a)).toBeCloseTo(0.5 - 1 / (3 * Math.sqrt(2 * Math.PI * a)), 5);
  });
});
