/** The global names that an integrand may use: `Math` and a few others. */
import { library } from '../math/common.ts';
import { intrinsics } from '../math/kit.ts';
import type { Lowering } from './lowering.ts';
import type { Val } from './values.ts';

/** Functions of `Math` that are one operation of the IR. */
export const DIRECT = ['abs', 'sqrt', 'floor', 'ceil', 'trunc'] as const;

/** Functions of `Math` that the math library has, and the number of arguments of each. */
const LIBRARY: Record<string, number> = {
  exp: 1,
  log: 1,
  log2: 1,
  log10: 1,
  sin: 1,
  cos: 1,
  tan: 1,
  asin: 1,
  acos: 1,
  atan: 1,
  atan2: 2,
  sinh: 1,
  cosh: 1,
  tanh: 1,
  asinh: 1,
  acosh: 1,
  atanh: 1,
  expm1: 1,
  log1p: 1,
  cbrt: 1,
  pow: 2,
  round: 1,
  sign: 1,
  fround: 1,
  clz32: 1,
  imul: 2,
  hypot: 2,
};

/** The functions that `Math` lacks: the members of the integrand's third argument. */
export const SPECIAL = ['erf', 'erfc', 'erfinv', 'lgamma', 'j0', 'j1', 'exp2'] as const;

/** Library functions for rare arguments. They stay calls, so that they cost nothing on the common path. */
export const COLD: ReadonlySet<string> = new Set(['sinHuge', 'cosHuge']);

/** The number of arguments of a function that the IR can call; 0 for anything else. */
export const arity = (fn: string): number =>
  fn === 'mod'
    ? 2
    : Object.hasOwn(LIBRARY, fn)
      ? LIBRARY[fn]
      : COLD.has(fn) || (SPECIAL as readonly string[]).includes(fn)
        ? 1
        : 0;

const builtin = (name: string, fn = name): Val => ({ kind: 'builtin', name, fn });
const fieldsOf = (prefix: string, names: readonly string[]): [string, Val][] =>
  names.map(n => [n, builtin(`${prefix}${n}`, n)]);

const MATH_FUNCTIONS = fieldsOf('Math.', [...DIRECT, ...Object.keys(LIBRARY), 'min', 'max']);
const MATH_CONSTANTS = ['E', 'LN10', 'LN2', 'LOG10E', 'LOG2E', 'PI', 'SQRT1_2', 'SQRT2'] as const;
const NUMBER_TESTS = fieldsOf('Number.', ['isFinite', 'isNaN', 'isInteger']);
const NUMBER_CONSTANTS = [
  'EPSILON',
  'MAX_VALUE',
  'MIN_VALUE',
  'MAX_SAFE_INTEGER',
  'MIN_SAFE_INTEGER',
] as const;

/** The member of Math that a name outside of it stands for: `exp`, `PI`, also `pi` and `ln`. */
export function mathName(name: string): string | undefined {
  const members: readonly string[] = [...MATH_FUNCTIONS.map(([n]) => n), ...MATH_CONSTANTS];
  const other: Record<string, string> = {
    pi: 'PI',
    Pi: 'PI',
    ln: 'log',
    arctan: 'atan',
    arcsin: 'asin',
    arccos: 'acos',
  };
  if (members.includes(name)) return name;
  return Object.hasOwn(other, name) ? other[name] : undefined;
}

export function specialFunctions(): Val {
  return { kind: 'namespace', what: 'the third argument', fields: new Map(fieldsOf('', SPECIAL)) };
}

/** Functions of JavaScript itself that an integrand may use, as they are found in params: `params: { f: Math.sin }`. */
const NATIVE = new Map<unknown, Val>([
  ...MATH_FUNCTIONS.map(([name, value]): [unknown, Val] => [Math[name as 'abs'], value]),
  ...NUMBER_TESTS.map(([name, value]): [unknown, Val] => [Number[name as 'isNaN'], value]),
]);

export const nativeFunction = (f: unknown): Val | undefined => NATIVE.get(f);

/** The kit, which functions of the math library get as their last argument. */
export function mathKit(): Val {
  const names = [...Object.keys(intrinsics), ...Object.keys(library)];
  return { kind: 'namespace', what: 'the math kit', fields: new Map(fieldsOf('', names)) };
}

export function globalValue(l: Lowering, name: string): Val | undefined {
  switch (name) {
    case 'undefined':
      return { kind: 'undefined' };
    case 'NaN':
    case 'Infinity':
      return l.literal(Number(name));
    case 'Math': {
      const constants = MATH_CONSTANTS.map((c): [string, Val] => [c, l.literal(Math[c])]);
      return { kind: 'namespace', what: 'Math', fields: new Map([...MATH_FUNCTIONS, ...constants]) };
    }
    case 'Number': {
      const constants = NUMBER_CONSTANTS.map((c): [string, Val] => [c, l.literal(Number[c])]);
      const infinities: [string, Val][] = [
        ['POSITIVE_INFINITY', l.literal(Infinity)],
        ['NEGATIVE_INFINITY', l.literal(-Infinity)],
        ['NaN', l.literal(NaN)],
      ];
      return {
        kind: 'namespace',
        what: 'Number',
        fields: new Map([...constants, ...infinities, ...NUMBER_TESTS]),
      };
    }
    case 'Array':
      return { kind: 'namespace', what: 'Array', fields: new Map([['from', builtin('Array.from', 'from')]]) };
    case 'Object':
      return {
        kind: 'namespace',
        what: 'Object',
        fields: new Map(fieldsOf('Object.', ['assign', 'entries', 'keys', 'values'])),
      };
    case '__pow': // esbuild's name for Math.pow, to which it compiles `**` for old targets
      return builtin('Math.pow', 'pow');
    case 'isFinite':
    case 'isNaN':
    case 'Boolean':
      return builtin(name);
    default:
      return undefined;
  }
}
