/**
 * The values and the exact derivatives of a function of results, such as `v => v.mean / v.norm`.
 *
 * The function is compiled as an integrand is, with the results in the place of the coordinates and the calls of the math library
 * left as calls. The program is then run with dual numbers: each value carries its derivatives by all results, and each operation
 * and each function of `Math` has a rule for them (derivative-rules.ts). Branches and loops follow the values, so the
 * derivatives are those of the path that was taken. Functions of `Math` are the engine's, as if the function itself were called: the
 * math library may not be loaded, and `of` returns at once.
 *
 * A function that does not compile, because it uses names from outside or what the language lacks, is differentiated
 * numerically: by central differences with a step of ε^(1/3) of each result, which leaves ten of sixteen digits. An error that
 * is propagated needs two.
 */

import { FOLD } from './builder.ts';
import { DERIVATIVES, OP_DERIVATIVES } from './derivative-rules.ts';
import { IntegrandError } from './diagnostics.ts';
import { type Id, isInside, type Let, type Op, type Program, type Statement } from './ir.ts';
import { lowerOfResults } from './lower/lower.ts';
import { read } from './read.ts';
import { build, countOf, flatten, leaves, type Shape, shapeOfValue } from './shape.ts';

/** What a function of results gives, and how that changes with them. */
export interface Gradient {
  /** The shape of what it gives. */
  shape: Shape;
  /** The numbers that it gives. */
  values: number[];
  /** For each of these its derivatives by the results. */
  derivatives: number[][];
  /** Whether the derivatives are exact; otherwise they are central differences. */
  exact: boolean;
}

/**
 * A function that gives values and derivatives of `f` where the results are `numbers`, in the order of `leaves(shape)`. `scales`
 * are the sizes of steps for results that are 0 where derivatives are numerical: their errors, say.
 */
export function differentiate(
  f: (results: never) => unknown,
  shape: Shape,
): (numbers: ArrayLike<number>, scales?: ArrayLike<number>) => Gradient {
  if (typeof f !== 'function')
    throw new TypeError('`of` takes a function of the results, such as v => v.mean / v.norm.');
  let program: Program;
  try {
    program = lowerOfResults(read(f as never), shape);
  } catch (e) {
    if (e instanceof IntegrandError && e.runsAsItIs)
      return (numbers, scales) => differences(f, shape, numbers, scales);
    refuseUnknown(f, shape, new Float64Array(countOf(shape)));
    throw e;
  }
  return numbers => {
    const results = run(program, numbers);
    const none = () => Array<number>(countOf(shape)).fill(0);
    return {
      shape: program.shape ?? 'number',
      values: results.map(r => r.value as number),
      derivatives: results.map(r => (r.slopes ? [...r.slopes] : none())),
      exact: true,
    };
  };
}

const STEP = Math.cbrt(2 ** -52);
/** The step of a result that is 0, in units of its scale. */
const STEP_AT_ZERO = 2 ** -8;

function differences(
  f: (results: never) => unknown,
  shape: Shape,
  at: ArrayLike<number>,
  scales?: ArrayLike<number>,
): Gradient {
  const call = (numbers: ArrayLike<number>) => f(build(shape, numbers) as never);
  const centre = call(at);
  const own = shapeOfValue(centre);
  const columns = Array.from(at, (v, i) => {
    const step = STEP * Math.abs(v) || STEP_AT_ZERO * (scales?.[i] || 1);
    const moved = (by: number) => Float64Array.from(at, (u, j) => (j === i ? u + by : u));
    const [high, low] = [moved(step), moved(-step)];
    const [above, below] = [flatten(call(high), own), flatten(call(low), own)];
    return above.map((a, k) => (a - below[k]) / (high[i] - low[i])); // the step as it was rounded
  });
  const values = flatten(centre, own);
  if (values.some(Number.isNaN)) refuseUnknown(f, shape, at);
  return { shape: own, values, derivatives: values.map((_, k) => columns.map(c => c[k])), exact: false };
}

/** Throws where a function that gives NaN or nothing reads a result that there is not: `v.men / v.norm` is no error in JavaScript. */
function refuseUnknown(f: (results: never) => unknown, shape: Shape, at: ArrayLike<number>): void {
  let unknown: string | undefined;
  const watched = (v: unknown): unknown =>
    typeof v !== 'object'
      ? v
      : new Proxy(v as object, {
          get(members, key) {
            if (typeof key === 'string' && !(key in members)) unknown ??= key;
            return watched(members[key as never]);
          },
        });
  try {
    f(watched(build(shape, at)) as never);
  } catch {
    // what it throws matters less than the result that there is not
  }
  if (unknown !== undefined)
    throw new RangeError(`there is no result '${unknown}'; the results are ${leaves(shape).join(', ')}.`);
}

/** A value with its derivatives by all results; `slopes` is absent where they are all 0. */
interface Dual {
  value: number | boolean;
  slopes?: Float64Array;
}

/** How a list of statements was left: at its end, or by a break to a label. */
type Exit = { label: number; args: Dual[] } | { args: Dual[] } | null;

const MATH = Math as unknown as Record<string, (...args: number[]) => number>;

/** Runs a program with dual numbers. */
function run(program: Program, numbers: ArrayLike<number>): Dual[] {
  const count = numbers.length;
  const values = new Map<Id, Dual>();
  const arrays = program.arrays.map(length => Array.from({ length }, (): Dual => ({ value: NaN })));
  let stray = false;
  const get = (id: Id): Dual => values.get(id)!;
  const coordinate = (i: number): Dual => {
    const slopes = new Float64Array(count);
    slopes[i] = 1;
    return { value: numbers[i], slopes };
  };
  /** Adds up slopes, each times its factor; terms without slopes count for nothing, even where their factor is infinite. */
  const chain = (value: number | boolean, args: Dual[], factors: (number | undefined)[]): Dual => {
    let slopes: Float64Array | undefined;
    args.forEach((a, k) => {
      const factor = factors[k];
      if (!a.slopes || factor === undefined || factor === 0) return;
      slopes ??= new Float64Array(count);
      for (let i = 0; i < count; i++) if (a.slopes[i] !== 0) slopes[i] += factor * a.slopes[i];
    });
    return slopes ? { value, slopes } : { value };
  };
  const expression = (s: Let): Dual => {
    const args = 'args' in s ? s.args.map(get) : [];
    const plain = args.map(a => a.value as number);
    const [index] = plain;
    switch (s.op) {
      case 'const':
        return { value: s.value };
      case 'coord':
        return isInside(index, count) ? coordinate(index) : { value: NaN };
      case 'element':
        return {
          value: isInside(index, program.constants[s.array].length) ? program.constants[s.array][index] : NaN,
        };
      case 'load':
        return isInside(index, arrays[s.array].length) ? arrays[s.array][index] : { value: NaN };
      case 'param':
        throw new Error('a function of results has no params');
      case 'select':
        return args[0].value ? args[1] : args[2];
      case 'call': {
        const value = s.fn === 'mod' ? plain[0] % plain[1] : MATH[s.fn](...plain);
        return chain(value, args, DERIVATIVES[s.fn](value, plain[0], plain[1]));
      }
      default: {
        const value = (FOLD[s.op as Op] as (...a: unknown[]) => number | boolean)(...plain);
        if (s.type === 'bool') return { value };
        return chain(value, args, OP_DERIVATIVES[s.op as Op]!(value as number, plain[0], plain[1]));
      }
    }
  };
  const list = (body: Statement[]): Exit => {
    for (const s of body) {
      const exit = statement(s);
      if (exit) return exit;
    }
    return null;
  };
  const define = (targets: { id: Id }[], args: Dual[]) => {
    targets.forEach((t, i) => {
      values.set(t.id, args[i]);
    });
  };
  const statement = (s: Statement): Exit => {
    switch (s.kind) {
      case 'let':
        values.set(s.id, expression(s));
        return null;
      case 'store': {
        const index = get(s.index).value as number;
        if (isInside(index, arrays[s.array].length)) arrays[s.array][index] = get(s.value);
        else stray = true;
        return null;
      }
      case 'if':
      case 'block': {
        const exit = list(s.kind === 'block' ? s.body : get(s.cond).value ? s.then : s.else);
        if (!exit) return null;
        if ('label' in exit && !(s.kind === 'block' && exit.label === s.label)) return exit;
        define(s.out, exit.args);
        return null;
      }
      case 'loop':
        define(s.carried, s.init.map(get));
        for (;;) {
          const exit = list(s.body);
          if (exit && 'label' in exit) {
            if (exit.label !== s.label) return exit;
            define(s.out, exit.args);
            return null;
          }
          define(s.carried, exit!.args);
        }
      case 'break':
        return { label: s.label, args: s.args.map(get) };
      case 'yield':
      case 'continue':
        return { args: s.args.map(get) };
      case 'unreachable':
        return null;
    }
  };
  list(program.body);
  return program.results.map(r => (stray ? { value: NaN } : get(r)));
}
