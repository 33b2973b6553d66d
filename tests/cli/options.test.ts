/** Every option: how it is read, what it sets, and what is said when it is mistyped. */
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../src/cli/arguments.ts';
import { FUNCTIONS } from '../../src/cli/expression/names.ts';
import { OPTIONS } from '../../src/cli/options.ts';
import { libraryOptions } from '../../src/cli/setup.ts';
import { closest } from '../../src/options/suggest.ts';
import { checkProblem } from '../../src/problem.ts';
import { mistake, typed } from './typed.ts';

const set = (...argv: string[]) => libraryOptions(readArguments(argv).options);

describe('options of the library', () => {
  test.each([
    [['run', '--dims', '3'], { dims: 3 }],
    [['--rel-tol', '1e-8'], { relTol: 1e-8 }],
    [['--rel-tol=1e-8'], { relTol: 1e-8 }],
    [['--abs-tol', '0.5'], { absTol: 0.5 }],
    [['--method', 'two-phase'], { method: 'two-phase' }],
    [['--device', 'cpu:3'], { device: 'cpu:3' }],
    [['--seed', '42'], { seed: 42n }],
    [['--seed', '-7'], { seed: -7n }],
    [['--seed', '18446744073709551615'], { seed: 18446744073709551615n }],
    [['--max-evaluations', '10^6'], { maxEvaluations: 1e6 }],
    [['--max-evaluations', '2e7'], { maxEvaluations: 2e7 }],
    [['--max-iterations', '5'], { maxIterations: 5 }],
    [['--max-time', '10s'], { maxTime: 10_000 }],
    [['--max-time', '300'], { maxTime: 300 }],
    [['--max-time', '500ms'], { maxTime: 500 }],
    [['--max-time', '1.5 min'], { maxTime: 90_000 }],
    [['--max-time', '2m'], { maxTime: 120_000 }],
    [['--max-time', '1h'], { maxTime: 3_600_000 }],
    [['--on-non-finite', 'zero'], { onNonFinite: 'zero' }],
    [['--check', 'false'], { check: false }],
    [['--covariance', 'all'], { covariance: 'all' }],
    [['--vegas.bins', '512'], { vegas: { bins: 512 } }],
    [['--vegas.bins', '512', '--vegas.alpha', '1.5'], { vegas: { bins: 512, alpha: 1.5 } }],
    [['--vegas.beta', '0'], { vegas: { beta: 0 } }],
    [['--vegas.max-strata', '4'], { vegas: { maxStrata: 4 } }],
    [['--vegas.maxStrata', '4'], { vegas: { maxStrata: 4 } }],
    [['--vegas.evaluations', '1e5'], { vegas: { evaluations: 1e5 } }],
    [['--vegas.iterations', '10'], { vegas: { iterations: 10 } }],
    [['--vegas.adapt', '5'], { vegas: { adapt: 5 } }],
    [['--vegas.skip', '5'], { vegas: { skip: 5 } }],
    [['--cubature.rule', 'genz-malik'], { cubature: { rule: 'genz-malik' } }],
    [['--cubature.split', '4'], { cubature: { split: 4 } }],
    [['--cubature.max-memory', '2^30'], { cubature: { maxMemory: 2 ** 30 } }],
    [['--cubature.witnesses', '500'], { cubature: { witnesses: 500 } }],
    [['--cubature.max-state', '0'], { cubature: { maxState: 0 } }],
    [['--cubature.rel-err-filter', 'true'], { cubature: { relErrFilter: true } }],
    [['--cubature.processors', '8'], { cubature: { processors: 8 } }],
    [['--cubature.per-processor', '8'], { cubature: { perProcessor: 8 } }],
    [['--zmc.blocks', '4096'], { zmc: { blocks: 4096 } }],
    [['--zmc.samples', '16'], { zmc: { samples: 16 } }],
    [['--zmc.trials', '4'], { zmc: { trials: 4 } }],
    [['--lattice.shifts', '16'], { lattice: { shifts: 16 } }],
    [['--lattice.knots', '64'], { lattice: { knots: 64 } }],
    [['--zmc.sigma', '2.5'], { zmc: { sigma: 2.5 } }],
    [['--zmc.depth', '2'], { zmc: { depth: 2 } }],
  ])('%j', (argv, expected) => {
    const options = set(...argv);
    expect(options).toEqual(expected);
    expect(() => checkProblem({ dims: 2, ...options })).not.toThrow();
  });

  test('the cases above leave no option of the library out', () => {
    // a table that grew has to grow here as well
    expect(OPTIONS.filter(o => o.sets)).toHaveLength(11 + 1 + 8 + 8 + 2 + 5);
  });
});

describe('values that make no sense', () => {
  test.each([
    [['--rel-tol', 'small'], /--rel-tol is no number.*'small' has no value/s],
    [['--max-iterations', '1.5'], /Pass a whole number/],
    [['--seed', '1.5'], /Pass a whole number/],
    [['--max-time', 'soon'], /10s, 500ms, 2min, 1h/],
    [['--max-time', '-1s'], /10s, 500ms, 2min, 1h/],
    [['--max-time', '3 weeks'], /10s, 500ms, 2min, 1h/],
    [['--method', 'vegs'], /Did you mean vegas\+\? There are auto, /],
    [['--method', 'simpson'], /There are auto, /],
    [['--cubature.rule', 'degree8'], /Did you mean degree/],
    [['--cubature.rel-err-filter', 'yes'], /true or false/],
    [['--on-non-finite', 'ignore'], /error, zero/],
    [['--device', ''], /Pass NAME/],
    [['--rel-tol'], /--rel-tol has no value/],
    [['--rel-tol', '1', '--rel-tol', '2'], /given twice/],
    [['--json=yes'], /takes no value/],
  ])('%j', (argv, text) => expect(mistake(() => set(...argv)).message).toMatch(text));

  test('what the library refuses is said in the words of the command line', async () => {
    const say = async (...argv: string[]) => (await typed(['x', 'x=0..1', ...argv])).err;
    expect(await say('--rel-tol', '-1')).toBe(
      'error: --rel-tol is -1; pass a number from 0 on, such as 1e-3.\n',
    );
    expect(await say('--device', 'gpu')).toMatch(/^error: --device is 'gpu'; use 'auto'/);
    expect(await say('--vegas.alpha', '3')).toMatch(/^error: --vegas.alpha is 3; pass a number from 0 to 2/);
    expect(await say('--rel-tol', '0')).toMatch(/give a budget: --max-evaluations or --max-time/);
  });
});

describe('things unknown', () => {
  test.each([
    ['--relTol', '--rel-tol'],
    ['--rel-tl', '--rel-tol'],
    ['--tolerance', undefined],
    ['--methd', '--method'],
    ['--maxtime', '--max-time'],
    ['--vegas.bin', '--vegas.bins'],
    ['--jsn', '--json'],
    ['--parm', '--param'],
  ])('%s: did you mean %s?', (wrong, right) => {
    const { message } = mistake(() => readArguments(['x', 'x=0..1', wrong, '3']));
    expect(message).toContain(`There is no option ${wrong}.`);
    expect(message).toContain(right ? `Did you mean ${right}?` : 'quadrille --help lists them');
  });
  test.each([
    [['scna', 'x', 'x=0..1'], 'scan'],
    [['benhc'], 'bench'],
    [['device'], 'devices'],
    [['explian', 'x'], 'explain'],
    [['rn', 'f.ts'], 'run'],
    [['hepl'], 'help'],
    [['integrand.ts'], 'run integrand.ts'],
  ])('%j: did you mean quadrille %s?', async (argv, right) => {
    const { code, err } = await typed(argv);
    expect(code).toBe(1);
    expect(err).toContain(`Did you mean quadrille ${right}?`);
  });
  test('an option of another command is told where it belongs', () => {
    expect(mistake(() => readArguments(['devices', '--rel-tol', '1'])).message).toBe(
      "--rel-tol is no option of quadrille devices.\nIt belongs to quadrille 'expression', quadrille run, quadrille scan.",
    );
  });
  test('names are close by letters swapped, left out, put in or changed', () => {
    expect(closest('mehtod', ['method', 'seed'])).toBe('method');
    expect(closest('zzzzzz', ['method', 'seed'])).toBeUndefined();
    expect(closest('rel-tolerance', ['seed', 'rel-tol'])).toBe('rel-tol');
    expect(closest('max-eval', ['seed', 'max-evaluations'])).toBe('max-evaluations');
  });
  const math = [...FUNCTIONS.keys()];
  test.each([
    ['sinn', 'sin'],
    ['coss', 'cos'],
    ['tann', 'tan'],
    ['expp', 'exp'],
    ['erff', 'erf'],
    ['lgama', 'lgamma'],
    ['tahn', 'tanh'],
    ['epx', 'exp'],
    ['sqtr', 'sqrt'],
    ['sqr', 'sqrt'],
    ['lgo', 'log'],
    ['atn2', 'atan2'],
    ['floo', 'floor'],
    ['ceill', 'ceil'],
    ['absolute', undefined],
  ])('%s: did you mean %s?', (typed, meant) => expect(closest(typed, math)).toBe(meant));
});

describe('arguments', () => {
  test('an expression may begin with a minus', () => {
    expect(readArguments(['-x^2', 'x=0..1']).rest).toEqual(['-x^2', 'x=0..1']);
    expect(readArguments(['-x', 'x=0..1']).rest).toEqual(['-x', 'x=0..1']);
    expect(readArguments(['-(x)', '-q']).options.has('quiet')).toBe(true);
  });
  test('behind -- nothing is an option', () => {
    expect(readArguments(['--json', '--', '--x', '-q']).rest).toEqual(['--x', '-q']);
  });
  test('options may stand before the command', () => {
    expect(readArguments(['--json', 'scan', 'x']).command).toBe('scan');
  });
  test('--param is repeatable, -p is short for it', () => {
    expect(readArguments(['x', '-p', 'a=1', '--param=b=2']).options.get('param')).toEqual(['a=1', 'b=2']);
  });
  test.each([
    [[], /There is no expression/],
    [['x=0..1'], /There is no expression/],
    [['x'], /No variable has a range.\nWrite quadrille 'x' x=0..1/],
    [['b*a'], /b=0..1 a=0..1/],
    [
      ['x', '+', 'y', 'x=0..1'],
      /There are 3 expressions: 'x' and '\+' and 'y'.\nPut the whole expression into quotes/,
    ],
    [['x*a', 'x=0..1', 'a=0..1', '--param', 'a=1'], /a has a range and a value/],
    [['run'], /There is no file to run/],
    [['devices', 'all'], /takes no 'all'/],
    [['bench', 'all'], /takes no 'all'/],
    [['scan', 'x', 'x=0..1'], /No parameter is given/],
    [['scan', 'x', 'x=0..1', '--dims', '2', '--param', 'a=1'], /--dims is for integrands from files/],
  ])('%j is refused', async (argv, text) => {
    const { code, out, err } = await typed(argv.length ? argv : ['--json']);
    expect(err).toMatch(text);
    expect(code).toBe(1);
    expect(out).toBe('');
  });
});
