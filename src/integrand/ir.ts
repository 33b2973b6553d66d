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
 * Nothing here names a target, a method or a device. A program is plain JSON except for NaN, the infinities
 * and −0, which `serialise` writes as strings. It carries a version, because it may be sent to other machines.
 */
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
  /** The values that the integrand returns: one at present; a list, to leave room for vector integrands. */
  results: Id[];
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

export function serialise(program: Program): string {
  return JSON.stringify(program, (_, v) =>
    typeof v === 'number' && (!Number.isFinite(v) || Object.is(v, -0))
      ? { f64: Object.is(v, -0) ? '-0' : `${v}` }
      : v,
  );
}

/** Reads what `serialise` wrote; throws when the text is no program of this version. */
export function deserialise(text: string): Program {
  const program = JSON.parse(text, (_, v) =>
    v !== null && typeof v === 'object' && typeof v.f64 === 'string' ? Number(v.f64) : v,
  ) as Program;
  verify(program);
  return program;
}

/** Throws unless the program is well formed: every use defined and visible, types and arities right, lists closed. */
export function verify(program: Program): void {
  const fail = (why: string): never => {
    throw new Error(`malformed integrand program: ${why}`);
  };
  if (program?.version !== IR_VERSION) {
    fail(
      `version ${program?.version}, this release reads version ${IR_VERSION}; compile the integrand again`,
    );
  }
  const seen = new Set<Id>();
  type Visible = Map<Id, Type>;
  const typeOf = (visible: Visible, id: Id): Type =>
    visible.get(id) ?? fail(`value ${id} is used where it is not defined`);
  const define = (visible: Visible, v: Value) => {
    if (seen.has(v.id)) fail(`value ${v.id} is defined twice`);
    seen.add(v.id);
    visible.set(v.id, v.type);
  };
  const match = (visible: Visible, args: Id[], expected: Value[], what: string) => {
    if (args.length !== expected.length) fail(`${what} passes ${args.length} values for ${expected.length}`);
    if (args.some((a, i) => typeOf(visible, a) !== expected[i].type)) fail(`${what} passes a wrong type`);
  };
  const arrayNames = new Set([
    ...program.params.filter(p => p.kind === 'array').map(p => p.name),
    ...Object.keys(program.constants),
  ]);
  const expression = (s: Let, visible: Visible) => {
    const types = uses(s)
      .map(a => typeOf(visible, a)[0])
      .join('');
    const signature = `${types}:${s.type[0]}`;
    if (s.op in OPS) {
      if (OPS[s.op as Op] !== signature) fail(`${s.op} of ${signature}`);
    } else if (s.op === 'const') {
      if (typeof s.value !== (s.type === 'f64' ? 'number' : 'boolean'))
        fail(`constant ${s.value} as ${s.type}`);
    } else if (s.op === 'param') {
      const p = program.params.find(q => q.name === s.name);
      if (p?.kind !== (s.type === 'f64' ? 'number' : 'boolean')) fail(`no ${s.type} parameter '${s.name}'`);
    } else if (s.op === 'coord' || s.op === 'element' || s.op === 'load') {
      if (signature !== 'f:f') fail(`${s.op} of ${signature}`);
      if (s.op === 'element' && !arrayNames.has(s.array)) fail(`no array '${s.array}'`);
      if (s.op === 'load' && !(s.array in program.arrays)) fail(`no local array ${s.array}`);
    } else if (s.op === 'call') {
      if (!/^f+:f$/.test(signature)) fail(`call of ${s.fn} with ${signature}`);
    } else fail(`unknown operation '${(s as { op: string }).op}'`);
  };
  type Frame = { out: Value[]; isLoop: boolean };
  const list = (
    body: Statement[],
    outer: Visible,
    labels: Map<number, Frame>,
    end: { kind: 'yield' | 'continue'; values: Value[] } | undefined,
  ) => {
    const visible = new Map(outer);
    body.forEach((s, i) => {
      const closing = CLOSING.has(s.kind);
      if (closing !== (end !== undefined && i === body.length - 1)) fail(`'${s.kind}' in the wrong place`);
      switch (s.kind) {
        case 'let':
          expression(s, visible);
          break;
        case 'store':
          if (!(s.array in program.arrays)) fail(`no local array ${s.array}`);
          match(visible, [s.index, s.value], [f64, f64], 'store');
          break;
        case 'if':
          if (typeOf(visible, s.cond) !== 'bool') fail('the condition of an if is no bool');
          list(s.then, visible, labels, { kind: 'yield', values: s.out });
          list(s.else, visible, labels, { kind: 'yield', values: s.out });
          break;
        case 'block':
          list(s.body, visible, new Map(labels).set(s.label, { out: s.out, isLoop: false }), {
            kind: 'yield',
            values: s.out,
          });
          break;
        case 'loop': {
          match(visible, s.init, s.carried, 'loop');
          const inner = new Map(visible);
          for (const v of s.carried) define(inner, v);
          list(s.body, inner, new Map(labels).set(s.label, { out: s.out, isLoop: true }), {
            kind: 'continue',
            values: s.carried,
          });
          break;
        }
        case 'break': {
          const frame = labels.get(s.label) ?? fail(`break to ${s.label}, which is not around it`);
          match(visible, s.args, frame.out, 'break');
          break;
        }
        case 'yield':
        case 'continue':
          if (s.kind !== end!.kind) fail(`'${s.kind}' in the wrong place`);
          match(visible, s.args, end!.values, s.kind);
          break;
        case 'unreachable':
          break;
        default:
          fail(`unknown statement '${(s as { kind: string }).kind}'`);
      }
      for (const v of defines(s)) define(visible, v);
    });
    if (end && body.length === 0) fail('a list that does not end');
    return visible;
  };
  const f64: Value = { id: -1, type: 'f64' };
  const visible = list(program.body, new Map(), new Map(), undefined);
  if (program.results.length === 0) fail('no result');
  for (const r of program.results) if (typeOf(visible, r) !== 'f64') fail('a result is no number');
}
