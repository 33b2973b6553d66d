/**
 * The functions and constants of expressions, and their names in the integrand language, where they are members of `Math`
 * or of the integrand's third argument.
 */
import { SPECIAL } from '../../integrand/lower/globals.ts';

/** Tables by name; here their number of axes matters. */
export type Tables = Record<string, { axes: readonly unknown[] }>;

export interface Known {
  /** Its name in JavaScript. */
  js: string;
  /** The smallest and the largest number of arguments. */
  takes: readonly [number, number];
  /** Whether it is a member of the integrand's third argument. */
  special: boolean;
}

// biome-ignore format: one family per line
const UNARY = [
  'abs', 'sqrt', 'cbrt', 'sign', 'floor', 'ceil', 'round', 'trunc',
  'exp', 'expm1', 'log', 'log2', 'log10', 'log1p',
  'sin', 'cos', 'tan', 'asin', 'acos', 'atan',
  'sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh',
];

const known = (js: string, least = 1, most = least, special = false): Known => ({
  js,
  takes: [least, most],
  special,
});

/** What an expression may call, by name. */
export type Functions = ReadonlyMap<string, Known>;

export const FUNCTIONS: Functions = new Map([
  ...UNARY.map((name): [string, Known] => [name, known(`Math.${name}`)]),
  ['ln', known('Math.log')],
  ['atan2', known('Math.atan2', 2)],
  ['pow', known('Math.pow', 2)],
  ['hypot', known('Math.hypot', 2, 16)],
  ['min', known('Math.min', 1, 16)],
  ['max', known('Math.max', 1, 16)],
  ...SPECIAL.map((name): [string, Known] => [name, known(name, 1, 1, true)]),
]);

/** The functions, and tables that are members of the integrand's second argument `p`. */
export const withTables = (tables: Tables, p = 'p'): Functions =>
  new Map([
    ...FUNCTIONS,
    ...Object.entries(tables).map(([name, { axes }]): [string, Known] => [
      name,
      known(`${p}.${name}`, axes.length),
    ]),
  ]);

/** The constants. A variable or parameter of the same name hides a constant. */
export const CONSTANTS: ReadonlyMap<string, string> = new Map([
  ['pi', 'Math.PI'],
  ['π', 'Math.PI'],
  ['e', 'Math.E'],
  ['inf', 'Infinity'],
  ['∞', 'Infinity'],
]);

/** The names that a variable or parameter may have; JavaScript can read each of them (U+2E2F is a letter, and it cannot). */
export const NAME = /^[\p{ID_Start}_][\p{ID_Start}\p{Nd}_]*$/u;
