/**
 * The intermediate representation of an integrand, between its text and a target.
 *
 * A program is structured, in static single assignment, and pure but for its local arrays. Values are
 * float64 or bool, one `let` each. Control flow is `if`, `block` and `loop`, which produce values:
 * `yield` leaves the arm of an `if` or the body of a `block` at its end, `break` leaves a labelled
 * `block` or `loop` from anywhere inside, `continue` closes the body of a `loop` and feeds its carried
 * values. Their arguments become the `out` (or `carried`) values of the construct that they reach. A value may be used
 * after its definition, in the same statement list and in lists nested in it; never outside.
 *
 * Nothing here names a target, a method or a device. A program carries a version, because it may be sent to other machines;
 * verify.ts turns it into bytes and checks those that come from elsewhere. The version stayed 1 when programs learned to have
 * several results: programs with one have the same bytes as before, and older releases refuse the others by their `results`.
 */
import type { Shape } from './shape.ts';

export const IR_VERSION = 1;

export type Id = number;
export type Type = 'f64' | 'bool';

/** Operations on values alone, with their signature: f is float64, b is bool. */
export const OPS = {
  neg: 'f:f',
  abs: 'f:f',
  sqrt: 'f:f',
  floor: 'f:f',
  ceil: 'f:f',
  trunc: 'f:f',
  nearest: 'f:f', // rounds to the nearest integer, ties to even
  pow2: 'f:f', // math/kit.ts defines this one and the next three
  exponent: 'f:f',
  significand: 'f:f',
  high: 'f:f',
  add: 'ff:f',
  sub: 'ff:f',
  mul: 'ff:f',
  div: 'ff:f',
  min: 'ff:f', // as Math.min and Math.max: NaN wins, −0 < 0
  max: 'ff:f',
  copySign: 'ff:f',
  lt: 'ff:b',
  le: 'ff:b',
  eq: 'ff:b',
  ne: 'ff:b',
  not: 'b:b',
  and: 'bb:b',
  or: 'bb:b',
  number: 'b:f', // true is 1, false is 0
  select: 'bff:f',
} as const;
export type Op = keyof typeof OPS;

/** How a `let` gets its value. Reading at an index that is no integer in [0, length) gives NaN. */
export type Expression =
  | { op: Op; args: Id[] }
  | { op: 'const'; value: number | boolean }
  | { op: 'coord'; args: [index: Id] } // a coordinate of the point
  | { op: 'param'; name: string } // a number or boolean of params, the same for every point
  | { op: 'element'; array: string; args: [index: Id] } // an element of an array in params, or of a constant array
  | { op: 'load'; array: number; args: [index: Id] } // an element of a local array
  | { op: 'call'; fn: string; args: Id[] }; // a function of the math library

export interface Value {
  id: Id;
  type: Type;
}
export type Let = { kind: 'let' } & Value & Expression;
export type Statement =
  | Let
  | { kind: 'store'; array: number; index: Id; value: Id } // outside the array: the program's result is NaN
  | { kind: 'if'; cond: Id; then: Statement[]; else: Statement[]; out: Value[] }
  | { kind: 'block'; label: number; body: Statement[]; out: Value[] }
  | { kind: 'loop'; label: number; init: Id[]; carried: Value[]; body: Statement[]; out: Value[] }
  | { kind: 'yield'; args: Id[] }
  | { kind: 'break'; label: number; args: Id[] }
  | { kind: 'continue'; args: Id[] }
  | { kind: 'unreachable' }; // closes a list after a loop that only breaks to outer labels leave

export type ParamDeclaration =
  | { name: string; kind: 'number' | 'boolean' }
  | { name: string; kind: 'array'; length: number };

export interface Program {
  version: number;
  /** How many coordinates a point has. */
  dims: number;
  /** The params that the integrand reads; a table takes two or three arrays. */
  params: ParamDeclaration[];
  /** Arrays of constants, read by `element`. */
  constants: Record<string, number[]>;
  /** Lengths of the local arrays, which are numbered from 0. */
  arrays: number[];
  body: Statement[];
  /** The values that the integrand returns, all of them numbers. */
  results: Id[];
  /**
   * How the results make up what the integrand returns, if that is an array or an object. Absent where it is a number, and in
   * programs that withResults (optimise.ts) has narrowed to some results.
   */
  shape?: Shape;
}

/** The statements that end a list; every list but the program's own ends with one. */
export const CLOSING: ReadonlySet<Statement['kind']> = new Set(['yield', 'break', 'continue', 'unreachable']);

/** The statement lists directly inside a statement. */
export function bodies(s: Statement): Statement[][] {
  return s.kind === 'if' ? [s.then, s.else] : s.kind === 'block' || s.kind === 'loop' ? [s.body] : [];
}

/** The ids that a statement itself uses, without those used in the lists inside it. */
export function uses(s: Statement): Id[] {
  switch (s.kind) {
    case 'let':
      return 'args' in s ? s.args : [];
    case 'store':
      return [s.index, s.value];
    case 'if':
      return [s.cond];
    case 'loop':
      return s.init;
    case 'block':
    case 'unreachable':
      return [];
    default:
      return s.args;
  }
}

/** The values that a statement defines for the statements after it; a loop's carried values exist inside it only. */
export function defines(s: Statement): Value[] {
  return s.kind === 'let' ? [s] : 'out' in s ? s.out : [];
}

/** Calls `visit` for every statement, outer before inner. */
export function walk(list: Statement[], visit: (s: Statement) => void): void {
  for (const s of list) {
    visit(s);
    for (const body of bodies(s)) walk(body, visit);
  }
}

/** Whether an index that is known when compiling lies in an array; targets test all others at run time. */
export const isInside = (index: unknown, length: number): boolean =>
  Number.isInteger(index) && (index as number) >= 0 && (index as number) < length;
