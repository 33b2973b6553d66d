/**
 * The reference target: turns a program into JavaScript text. The text calls the math library's functions, not those of
 * the engine, so it gives the same bits as the WebAssembly target in every engine.
 */
import { type Id, isInside, type Let, type Op, type Program, type Statement } from '../ir.ts';
import { kit } from '../math/common.ts';
import type { Bindings } from '../params.ts';

/**
 * Fills `out` with the integrand's values: all first results, then all second ones, and so on. `points` holds all first
 * coordinates, then all second ones.
 */
export type Evaluate = (points: Float64Array, out: Float64Array) => void;

const INFIX: Partial<Record<Op, string>> = {
  add: '+',
  sub: '-',
  mul: '*',
  div: '/',
  lt: '<',
  le: '<=',
  eq: '===',
  ne: '!==',
  and: '&&',
  or: '||',
};

/**
 * A function body that uses `points`, `out`, `i`, `n`, `kit`, `arrays` and `data` (params and constant arrays). If it is
 * `limited`, each turn of a loop lowers `turns.left`, and `turns` is thrown when none is left. Result r of point i goes to
 * `out[r * n + i]`.
 */
export function toJavaScript(program: Program, limited = false): string {
  const lines: string[] = [];
  const constants = new Map<Id, string>();
  const known = new Map<Id, number | boolean>();
  const name = (id: Id) => constants.get(id) ?? `v${id}`;
  const put = (depth: number, text: string) => lines.push('  '.repeat(depth) + text);
  const element = (array: string, length: number, index: Id) => {
    const i = name(index);
    if (known.has(index)) return isInside(known.get(index), length) ? array : 'NaN';
    return `(${i} >= 0 && ${i} < ${length} && ${i} === Math.trunc(${i}) ? ${array} : NaN)`;
  };
  const lengths = new Map<string, number>();
  for (const p of program.params) if (p.kind === 'array') lengths.set(p.name, p.length);
  for (const [k, v] of Object.entries(program.constants)) lengths.set(k, v.length);

  const expression = (s: Let): string => {
    const args = 'args' in s ? s.args.map(name) : [];
    switch (s.op) {
      case 'const':
        return typeof s.value === 'number' && (s.value < 0 || Object.is(s.value, -0))
          ? `(${Object.is(s.value, -0) ? '-0' : s.value})`
          : String(s.value);
      case 'coord':
        return element(`points[${args[0]} * n + i]`, program.dims, s.args[0]);
      case 'param':
        return `data[${JSON.stringify(s.name)}]`;
      case 'element':
        return element(`data[${JSON.stringify(s.array)}][${args[0]}]`, lengths.get(s.array)!, s.args[0]);
      case 'load':
        return element(`arrays[${s.array}][${args[0]}]`, program.arrays[s.array], s.args[0]);
      case 'call':
        return `kit.${s.fn}(${args.join(', ')})`;
      case 'select':
        return `${args[0]} ? ${args[1]} : ${args[2]}`;
      case 'neg':
        return `-${args[0]}`;
      case 'not':
        return `!${args[0]}`;
      case 'number':
        return `${args[0]} ? 1 : 0`;
      case 'nearest':
      case 'pow2':
      case 'exponent':
      case 'significand':
      case 'high':
      case 'copySign':
        return `kit.${s.op}(${args.join(', ')})`;
      default: {
        const infix = INFIX[s.op];
        return infix ? `${args[0]} ${infix} ${args[1]}` : `Math.${s.op}(${args.join(', ')})`;
      }
    }
  };

  /** Assigns several values at once: one assignment may read what another writes. */
  const assign = (depth: number, targets: Id[], args: Id[]) => {
    if (targets.length === 1) put(depth, `${name(targets[0])} = ${name(args[0])};`);
    else if (targets.length > 1)
      put(depth, `[${targets.map(name).join(', ')}] = [${args.map(name).join(', ')}];`);
  };
  const declare = (depth: number, values: { id: Id }[]) => {
    if (values.length > 0) put(depth, `let ${values.map(v => name(v.id)).join(', ')};`);
  };
  const outputs = new Map<number, Id[]>();
  const list = (body: Statement[], depth: number, ends: Id[]): void => {
    for (const s of body) {
      switch (s.kind) {
        case 'let':
          if (s.op === 'const') {
            known.set(s.id, s.value);
            constants.set(s.id, expression(s));
          } else put(depth, `const ${name(s.id)} = ${expression(s)};`);
          break;
        case 'store': {
          const i = name(s.index);
          put(
            depth,
            `if (${i} >= 0 && ${i} < ${program.arrays[s.array]} && ${i} === Math.trunc(${i})) arrays[${s.array}][${i}] = ${name(s.value)};`,
          );
          put(depth, 'else stray = true;');
          break;
        }
        case 'if': {
          declare(depth, s.out);
          const out = s.out.map(v => v.id);
          put(depth, `if (${name(s.cond)}) {`);
          list(s.then, depth + 1, out);
          if (s.else.length > 1 || s.out.length > 0 || s.else[0].kind !== 'yield') {
            put(depth, '} else {');
            list(s.else, depth + 1, out);
          }
          put(depth, '}');
          break;
        }
        case 'block':
        case 'loop': {
          const out = s.out.map(v => v.id);
          outputs.set(s.label, out);
          declare(depth, s.out);
          if (s.kind === 'loop') {
            declare(depth, s.carried);
            const carried = s.carried.map(v => v.id);
            assign(depth, carried, s.init);
            put(depth, `L${s.label}: for (;;) {`);
            if (limited) put(depth + 1, 'if (--turns.left < 0) throw turns;');
            list(s.body, depth + 1, carried);
          } else {
            put(depth, `L${s.label}: {`);
            list(s.body, depth + 1, out);
          }
          put(depth, '}');
          break;
        }
        case 'yield':
        case 'continue':
          assign(depth, ends, s.args);
          break;
        case 'break':
          assign(depth, outputs.get(s.label)!, s.args);
          put(depth, `break L${s.label};`);
          break;
        case 'unreachable':
          break;
      }
    }
  };
  if (program.arrays.length > 0) put(0, 'let stray = false;');
  list(program.body, 0, []);
  program.results.forEach((result, r) => {
    const place = r === 0 ? 'out[i]' : `out[${r} * n + i]`;
    put(0, `${place} = ${program.arrays.length > 0 ? 'stray ? NaN : ' : ''}${name(result)};`);
  });
  return lines.join('\n');
}

type Run = (...args: unknown[]) => void;

/** Programs as functions: a scan has one program and thousands of params. */
const functions = { limited: new WeakMap<Program, Run>(), plain: new WeakMap<Program, Run>() };

function functionOf(program: Program, limited: boolean): Run {
  const cache = limited ? functions.limited : functions.plain;
  const known = cache.get(program);
  if (known) return known;
  const body = toJavaScript(program, limited).replace(/^/gm, '  ');
  const count = program.results.length;
  const text = `const n = out.length${count > 1 ? ` / ${count}` : ''};\nfor (let i = 0; i < n; i++) {\n${body}\n}`;
  const made = new Function('points', 'out', 'kit', 'data', 'arrays', 'turns', text) as Run;
  cache.set(program, made);
  return made;
}

export function javascriptTarget(program: Program, params: Bindings): Evaluate {
  const { run, data, arrays } = ready(program, params, false);
  return (points, out) => run(points, out, kit, data, arrays);
}

/**
 * Evaluates one point at a time with any math library, in at most `turns` turns of loops; undefined if these are not enough,
 * otherwise all results.
 * Programs whose loops are all short take the same text as `javascriptTarget`, which counts nothing.
 */
export function pointTarget(program: Program, params: Bindings, limited: boolean) {
  const { run, data, arrays } = ready(program, params, limited);
  return (point: Float64Array, turns: number, library: typeof kit = kit): Float64Array | undefined => {
    const out = new Float64Array(program.results.length);
    const budget = { left: turns };
    try {
      run(point, out, library, data, arrays, budget);
    } catch (e) {
      if (e === budget) return undefined;
      throw e;
    }
    return out;
  };
}

function ready(program: Program, params: Bindings, limited: boolean) {
  const run = functionOf(program, limited);
  const arrays = program.arrays.map(length => new Float64Array(length));
  const data = Object.assign(Object.create(null), Object.fromEntries(params), program.constants);
  return { run, data, arrays };
}
