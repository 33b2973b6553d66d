/** What the CUDA text is tested with: integrands, where they are evaluated, and what they have to give there. */
import { transformSync } from 'esbuild';
import { compile, type Integrand } from '../../../src/integrand/compile.ts';
import type { Program } from '../../../src/integrand/ir.ts';
import { arity } from '../../../src/integrand/lower/globals.ts';
import { lowerLibrary } from '../../../src/integrand/lower/lower.ts';
import { kit, library } from '../../../src/integrand/math/index.ts';
import { type Bindings, bind, type Params } from '../../../src/integrand/params.ts';
import { catalogue } from '../../integrands/catalogue.ts';
import type { Entry } from '../../integrands/entry.ts';
import { hard } from '../../integrands/hard.ts';
import { pick, points } from '../../integrands/points.ts';
import { functionOf, plainly } from '../compare.ts';
import { corpus, params as corpusParams, DIMS } from '../corpus.ts';
import { generate } from '../generate.ts';
import { params as fuzzParams, pointsFor } from '../surroundings.ts';

export interface Subject {
  name: string;
  program: Program;
  bindings: Bindings;
  points: number[][];
  /** The values in JavaScript, and how far from each the compiled one may be; 0 asks for the same bits. */
  expected: number[];
  within: number[];
}

const SMALLEST = 2 ** -1022;

function subject(
  name: string,
  f: Integrand,
  dims: number,
  params: Params,
  points: number[][],
  within: (value: number, i: number) => number,
): Subject {
  const { program } = compile(f, { dims, params, target: 'javascript' });
  const expected = plainly(f, points, params);
  return {
    name,
    program,
    bindings: bind(program.params, params),
    points,
    expected,
    within: expected.map(within),
  };
}

function ofEntry(e: Entry): Subject {
  const { name, f, dims, params = {}, tolerance = 1e-13, scale = SMALLEST } = e;
  const count = 201;
  const all = points(e, count);
  const at = Array.from({ length: count }, (_, i) => pick(all, count, i, new Array<number>(dims).fill(0)));
  return subject(name, f, dims, params, at, v => tolerance * Math.max(Math.abs(v), scale));
}

/** The integrands of the papers, and the hard ones. */
export const integrands = (): Subject[] => [...catalogue, ...hard].map(ofEntry);

/** Integrands as people write them. */
export function written(): Subject[] {
  const at = pointsFor(7, DIMS).slice(0, 28);
  return Object.entries(corpus).map(([name, text]) => {
    const { code } = transformSync(`f = ${text}`, { loader: 'ts' });
    const f = functionOf(code.replace(/^f = |;\s*$/g, ''));
    return subject(`corpus_${name}`, f, DIMS, corpusParams, at, v => 1e-13 * Math.abs(v));
  });
}

/** Random programs with operations that are exact or correctly rounded: the same bits. */
export const exactPrograms = (count: number): Subject[] =>
  Array.from({ length: count }, (_, seed) => {
    const { text, dims } = generate(seed, 'exact');
    return subject(`exact_${seed}`, functionOf(text), dims, fuzzParams, pointsFor(seed, dims), () => 0);
  });

/** Random sums of transcendental terms: within 1e-13 of the sum of their sizes. */
export const smoothPrograms = (count: number): Subject[] =>
  Array.from({ length: count }, (_, seed) => {
    const { text, marked, dims } = generate(seed, 'smooth');
    const at = pointsFor(seed, dims);
    let size = 0;
    const term = (t: number) => {
      if (Number.isFinite(t)) size += Math.abs(t);
      return t;
    };
    const plain = new Function('term', `return (${marked});`)(term);
    const sizes = at.map(x => {
      size = 0;
      plain([...x], fuzzParams, kit);
      return size > 1e300 ? Infinity : 1e-13 * size + 1e-300; // at the edge of overflow anything goes
    });
    return subject(`smooth_${seed}`, functionOf(text), dims, fuzzParams, at, (_, i) => sizes[i]);
  });

// biome-ignore format: a list
const EDGES = [
  0, 1, 0.5, 2, 3, 0.1, 1e-8, 1e-20, 0.49999999999999994, 0.9999999999999999, 1.5, 2.5, 7, 20, 710, 745, 746, 8192, 1e5,
  4503599627370495.5, 4503599627370497, 9007199254740991, 2 ** 31, 2 ** 32, 2 ** 53, 3.4028235677973366e38, 1e-45,
  7.1e-46, 1e300, 5e-324, SMALLEST, Number.MAX_VALUE, Infinity,
].flatMap(x => [x, -x]).concat(NaN);
const pairs = EDGES.flatMap(a => EDGES.map(b => [a, b]));

// biome-ignore format: a list
const MATHS = [
  'abs', 'sqrt', 'floor', 'ceil', 'trunc', 'exp', 'expm1', 'log', 'log2', 'log10', 'log1p', 'sin', 'cos', 'tan', 'asin',
  'acos', 'atan', 'sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh', 'cbrt', 'round', 'sign', 'fround', 'clz32',
];
const EXACT = ['abs', 'floor', 'ceil', 'trunc', 'sqrt', 'round', 'sign', 'fround', 'clz32'];

/** A special value has to be met; elsewhere two good functions may differ in the last bits. */
const closely = (v: number) =>
  Number.isFinite(v) && v !== 0 ? Math.max(8 * 2 ** -52 * Math.abs(v), 5e-324) : 0;

/** Every function and operator at the edges of its domain: JavaScript's special values, −0 included. */
export function specialValues(): Subject[] {
  const unary = MATHS.map(fn =>
    subject(
      `Math_${fn}`,
      functionOf(`x => Math.${fn}(x[0])`),
      1,
      {},
      EDGES.map(x => [x]),
      EXACT.includes(fn) ? () => 0 : closely,
    ),
  );
  const binary = ['pow', 'atan2', 'hypot'].map(fn =>
    subject(`Math_${fn}`, functionOf(`x => Math.${fn}(x[0], x[1])`), 2, {}, pairs, closely),
  );
  const angles = subject(
    'usual_angles',
    functionOf('x => Math.sin(x[0]) * Math.cos(x[1])'),
    2,
    {},
    [...pairs, ...[0.3, -1.2, 1.25, 1.3, 1e-9].flatMap(x => [-0.7, 1.24, 1.26, 40].map(y => [x, y]))],
    closely,
  );
  const exact = [
    'Math.min(x[0], x[1])',
    'Math.max(x[0], x[1])',
    'Math.min(x[0], 0)',
    'Math.max(x[0], 0)',
    'Math.min(x[0], -0)',
    'Math.max(x[0], -0)',
    'Math.min(2.5, x[0])',
    'Math.max(2.5, x[0])',
    'Math.max(x[0], NaN)',
    'Math.max(x[0])',
    'Math.imul(x[0], x[1])',
    'x[0] % x[1]',
    'x[0] < x[1] ? 1 : 0',
    'x[0] >= x[1] ? 1 : 0',
    '+(x[0] === x[1]) + 2 * +(x[0] !== x[1])',
    'x[0] ? 1 : 0',
    '[1, -0, NaN, Infinity, -Infinity, 2.5][x[0]] * 1',
    'p.list[x[1]] * 1',
    '[][x[0]] * 1',
    'x[x[0]] * 1',
    // usual arguments and others, side by side
    'Math.sqrt(x[0]) * Math.sqrt(Math.sqrt(x[1]))',
  ].map((text, k) =>
    subject(`exact_edge_${k}`, functionOf(`(x, p) => ${text}`), 2, { list: LIST }, pairs, () => 0),
  );
  return [...unary, ...binary, angles, ...exact];
}
const LIST = Float64Array.of(3, -0, NaN);

/** Every function of the library, compiled from the library: what a function that CUDA lacks becomes. */
export const fromLibrary = (): Subject[] =>
  Object.keys(library)
    .filter(fn => arity(fn) > 0)
    .map(fn => {
      const at = arity(fn) === 2 ? pairs : EDGES.map(x => [x]);
      const f = kit[fn as 'exp'] as (...x: number[]) => number;
      const expected = at.map(x => f(...x));
      const huge = fn.endsWith('Huge');
      // outside of its arguments a helper gives anything
      const within = expected.map((v, i) => (huge && !(Math.abs(at[i][0]) >= 8192) ? Infinity : closely(v)));
      return {
        name: `lib_${fn}`,
        program: lowerLibrary(fn),
        bindings: new Map(),
        points: at,
        expected,
        within,
      };
    });
