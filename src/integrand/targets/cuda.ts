/**
 * The NVIDIA target: turns a program into CUDA C++ text, in float64, for NVRTC or nvcc. The text includes no header.
 *
 * A function of `Math` becomes CUDA's own where that has JavaScript's special cases and the math library's accuracy;
 * one of HELPERS where CUDA's differs in special cases; and a function compiled from the math library where CUDA has
 * none or a less accurate one. The options of the CUDA compiler decide whether a product and a sum are fused into one
 * operation; only functions compiled from the math library forbid it, because fusing makes their results wrong.
 *
 * A running kernel cannot be interrupted. So loops that may run long read a stop flag now and then
 * (../stop-checks.ts), and the integrand returns NaN when the flag is set.
 */
import {
  type Id,
  isInside,
  type Let,
  type Program,
  type Statement,
  type Type,
  type Value,
  walk,
} from '../ir.ts';
import { lowerLibrary } from '../lower/lower.ts';
import type { Bindings } from '../params.ts';
import { STOP_CHECK_PERIOD, type StopChecks, stopChecksOf } from '../stop-checks.ts';
import { FUNCTIONS, fill, HELPERS, literal, NAN, OPERATIONS, STOPPED, UNFUSED } from './cuda/operations.ts';
import { sinesAndCosines } from './sines-and-cosines.ts';

export interface CudaText {
  /**
   * CUDA C++ that defines `__device__ double integrand(const double* x, const double* __restrict__ params)`. It is
   * inlined, and reads x at constant indices wherever the program does, so a local array of the caller stays in
   * registers. An overload has a third argument, `unsigned& turns`: the turns since the stop flag was last read, which
   * it goes on counting from call to call. `stopped(params)` reads the flag.
   *
   * With several results both are `void`, and their last argument is `double* __restrict__ out`, which gets the results. It is
   * written at constant indices only, so that it may be in registers as well.
   */
  source: string;
  /** The length of the params buffer, in float64 numbers. */
  length: number;
}

const ARGUMENTS = 'const double* x, const double* __restrict__ params';
const OUT = ', double* __restrict__ out';

export function toCuda(program: Program): CudaText {
  const { offsets, length } = layout(program);
  const parts = libraryCalls(program).map(libraryFunction);
  const checks = stopChecksOf(program);
  const coordinate = (i: number) => `x[${i}]`;
  const body = functionBody(program, { prefix: '', coordinate, offsets, fuses: true, checks });
  const several = program.results.length > 1;
  const [type, out, to] = several ? ['void', OUT, ', out'] : ['double', '', ''];
  parts.push(
    ...constantArrays(program, offsets, ''),
    `__device__ __forceinline__ ${type} integrand(${ARGUMENTS}, unsigned& turns${out}) {\n${body}\n}`,
    `__device__ __forceinline__ ${type} integrand(${ARGUMENTS}${out}) {\n  unsigned turns = 0;\n  return integrand(x, params, turns${to});\n}`,
  );
  const text = parts.join('\n');
  const used = Object.keys(HELPERS).filter(name => text.includes(`${name}(`));
  return { source: `${[STOPPED, ...used.map(name => HELPERS[name]), text].join('\n')}\n`, length };
}

/**
 * The params buffer: first the bits of the address of the stop flag (0: there is none), then scalars and arrays at the
 * offsets that the text reads, with booleans as 1 and 0.
 */
export function cudaParams(program: Program, params: Bindings, stopFlag = 0): Float64Array {
  const { offsets, length } = layout(program);
  const buffer = new Float64Array(length);
  new BigUint64Array(buffer.buffer)[0] = BigInt(stopFlag);
  for (const [name, offset] of offsets) {
    const value = params.get(name) ?? program.constants[name];
    buffer.set(typeof value === 'object' ? value : [Number(value)], offset);
  }
  return buffer;
}

/**
 * The offsets in the params buffer, in float64 numbers. After the stop flag come the params in the order of their
 * declarations, then the constant arrays that hold an infinity or NaN, for which NVRTC has no constant expression.
 */
function layout(program: Program): { offsets: Map<string, number>; length: number } {
  const offsets = new Map<string, number>();
  let length = 1;
  const place = (name: string, size: number) => {
    offsets.set(name, length);
    length += size;
  };
  for (const p of program.params) place(p.name, p.kind === 'array' ? p.length : 1);
  for (const [name, data] of Object.entries(program.constants))
    if (!data.every(Number.isFinite)) place(name, data.length);
  return { offsets, length };
}

/** The library functions to compile for a program, also those that only other ones call; callees come first. */
function libraryCalls(program: Program): string[] {
  const names = new Set<string>();
  const visit = (p: Program) =>
    walk(p.body, s => {
      if (s.kind !== 'let' || s.op !== 'call' || s.fn in FUNCTIONS || names.has(s.fn)) return;
      visit(lowerLibrary(s.fn));
      names.add(s.fn);
    });
  visit(program);
  return [...names];
}

/** For functions of the math library, whose loops are short. */
const NO_STOP_CHECKS: StopChecks = { checked: new Map(), perCall: 0 };

function libraryFunction(name: string): string {
  const program = lowerLibrary(name);
  const prefix = `${name}_`;
  const args = Array.from({ length: program.dims }, (_, i) => `double x${i}`);
  const body = functionBody(program, {
    prefix,
    coordinate: i => `x${i}`,
    offsets: new Map(),
    fuses: false,
    checks: NO_STOP_CHECKS,
  });
  const text = `__device__ double lib_${name}(${args.join(', ')}) {\n${body}\n}`;
  return [...constantArrays(program, new Map(), prefix), text].join('\n');
}

/**
 * Arrays of constants, in global memory: they are read at indices known only at run time, which differ from thread to
 * thread, and `__constant__` memory serves the threads of a warp one address at a time.
 */
function constantArrays(program: Program, offsets: ReadonlyMap<string, number>, prefix: string): string[] {
  return Object.entries(program.constants).flatMap(([name, data], k) =>
    offsets.has(name) || data.length === 0
      ? []
      : `__device__ const double ${prefix}c${k}[] = {${data.map(literal).join(', ')}};`,
  );
}

const TYPES: Record<Type, string> = { f64: 'double', bool: 'bool' };

interface FunctionContext {
  /** What is put before the names of constant arrays. */
  prefix: string;
  coordinate(i: number): string;
  /** The offset of each param in the params buffer. */
  offsets: ReadonlyMap<string, number>;
  /** Whether the CUDA compiler may fuse a product and a sum into one operation. */
  fuses: boolean;
  checks: StopChecks;
}

/** The statements of a function that returns the program's result, or writes its results to `out`. */
function functionBody(program: Program, context: FunctionContext): string {
  const { prefix, coordinate, offsets, fuses, checks } = context;
  const several = program.results.length > 1;
  const lines: string[] = [];
  const put = (depth: number, text: string) => lines.push('  '.repeat(depth) + text);
  const names = new Map<Id, string>();
  let values = 0;
  let temporaries = 0;
  let mayStray = false;
  const name = (id: Id): string => {
    const given = names.get(id);
    if (given !== undefined) return given;
    names.set(id, `v${values++}`);
    return names.get(id)!;
  };
  const arrays = new Map<number, string>(); // names of local arrays, in the order of their first use
  const local = (array: number): string => {
    if (!arrays.has(array)) arrays.set(array, `a${arrays.size}`);
    return arrays.get(array)!;
  };
  const known = new Map<Id, number | boolean>(); // values of constants
  /** An element of the array that starts at `start`; `at` writes an element whose index is a known constant. */
  const read = (start: string, length: number, index: Id, at: (i: number) => string): string => {
    const i = known.get(index) as number | undefined;
    if (i === undefined && length > 0) return `array_get(${start}, ${length}, ${name(index)})`;
    return i !== undefined && isInside(i, length) ? at(i) : NAN;
  };
  const element = (array: string, index: Id): string => {
    const offset = offsets.get(array);
    const declared = program.params.find(p => p.name === array) as { length: number } | undefined;
    const { length } = declared ?? program.constants[array];
    if (offset !== undefined) return read(`params + ${offset}`, length, index, i => `params[${offset + i}]`);
    const start = `${prefix}c${Object.keys(program.constants).indexOf(array)}`;
    return read(start, length, index, i => `${start}[${i}]`);
  };
  /** If one argument of a `min` or `max` is a constant other than NaN: that constant, and the other argument. */
  const boundOf = (s: Let): { bound: number; value: string } | undefined => {
    if (s.op !== 'min' && s.op !== 'max') return;
    const at = s.args.findIndex(a => known.has(a) && !Number.isNaN(known.get(a)));
    return at < 0 ? undefined : { bound: known.get(s.args[at]) as number, value: name(s.args[1 - at]) };
  };
  const isNeutral = (s: Let) => boundOf(s)?.bound === (s.op === 'max' ? -Infinity : Infinity);

  const expression = (s: Let): string => {
    const args = 'args' in s ? s.args.map(name) : [];
    switch (s.op) {
      case 'const':
        return literal(s.value);
      case 'coord':
        return read('x', program.dims, s.args[0], coordinate);
      case 'param': {
        const place = `params[${offsets.get(s.name)}]`;
        return s.type === 'bool' ? `(${place} != 0.0)` : place;
      }
      case 'element':
        return element(s.array, s.args[0]);
      case 'load':
        return read(local(s.array), program.arrays[s.array], s.args[0], i => `${local(s.array)}[${i}]`);
      case 'call':
        return fill(FUNCTIONS[s.fn] ?? `lib_${s.fn}(${args.length > 1 ? 'A, B' : 'A'})`, args);
      case 'min':
      case 'max': {
        const bounded = boundOf(s);
        if (!bounded) break;
        const { bound, value } = bounded;
        if (isNeutral(s)) return value;
        // one comparison is enough: equal numbers differ only if they are 0 and −0, and the bound's sign is known
        const compare = (s.op === 'max' ? ['<=', '<'] : ['>', '>='])[Object.is(bound, -0) ? 1 : 0];
        return `${value} ${compare} ${literal(bound)} ? ${literal(bound)} : ${value}`;
      }
    }
    return fill((fuses ? OPERATIONS : UNFUSED)[s.op], args);
  };
  /** Literals, and memory that nothing writes to, need no variable. */
  const isAtom = (s: Let) =>
    s.op === 'const' ||
    s.op === 'param' ||
    ((s.op === 'coord' || s.op === 'element') && known.has(s.args[0])) ||
    isNeutral(s);
  const define = (s: Let, depth: number): void => {
    if (s.op === 'const') known.set(s.id, s.value);
    if (isAtom(s)) names.set(s.id, expression(s));
    else put(depth, `const ${TYPES[s.type]} ${name(s.id)} = ${expression(s)};`);
  };

  /** Assigns all at once: a target that other assignments still read is written after them, or copied first. */
  const assign = (depth: number, targets: Value[], args: Id[]): void => {
    const left = targets
      .map((v, i) => ({ to: name(v.id), from: name(args[i]), type: TYPES[v.type] }))
      .filter(m => m.to !== m.from);
    while (left.length > 0) {
      const free = left.findIndex(m => !left.some(other => other !== m && other.from === m.to));
      if (free >= 0) {
        const [{ to, from }] = left.splice(free, 1);
        put(depth, `${to} = ${from};`);
      } else {
        const { to, type } = left[0];
        const kept = `t${temporaries++}`;
        put(depth, `const ${type} ${kept} = ${to};`);
        for (const m of left) if (m.from === to) m.from = kept;
      }
    }
  };

  const outputs = new Map<number, Value[]>();
  const labels = new Map<number, string>(); // C++ labels of the constructs that a `goto` leaves
  /** `ends` take the values that the list yields or continues with; `loop` is the label of the innermost loop. */
  const list = (body: Statement[], depth: number, ends: Value[], loop: number | undefined): void => {
    const turns = sinesAndCosines(body);
    for (const s of body) {
      switch (s.kind) {
        case 'let': {
          const turn = turns.get(s.id);
          if (!turn) define(s, depth);
          else if (!names.has(s.id)) {
            const [sine, cosine] = [name(turn.sin), name(turn.cos)];
            put(depth, `double ${sine}, ${cosine};`);
            put(depth, `sincos(${name(turn.angle)}, &${sine}, &${cosine});`);
          }
          break;
        }
        case 'store': {
          const i = known.get(s.index);
          const [array, length] = [local(s.array), program.arrays[s.array]];
          if (isInside(i, length)) put(depth, `${array}[${i}] = ${name(s.value)};`);
          else {
            mayStray = true;
            const set = `array_set(${array}, ${length}, ${name(s.index)}, ${name(s.value)})`;
            put(depth, i === undefined ? `if (!${set}) stray = true;` : 'stray = true;');
          }
          break;
        }
        case 'if':
          declare(depth, s.out);
          put(depth, `if (${name(s.cond)}) {`);
          list(s.then, depth + 1, s.out, loop);
          if (s.else.length > 1 || s.out.length > 0 || s.else[0].kind !== 'yield') {
            put(depth, '} else {');
            list(s.else, depth + 1, s.out, loop);
          }
          put(depth, '}');
          break;
        case 'block':
        case 'loop':
          outputs.set(s.label, s.out);
          declare(depth, s.out);
          if (s.kind === 'loop') {
            s.carried.forEach((v, i) => {
              put(depth, `${TYPES[v.type]} ${name(v.id)} = ${name(s.init[i])};`);
            });
            put(depth, 'for (;;) {');
            const turn = checks.checked.get(s);
            if (turn !== undefined) {
              const ask = `(turns += ${turn}u) >= ${STOP_CHECK_PERIOD}u && (turns = 0u, stopped(params))`;
              put(depth + 1, several ? `if (${ask}) return;` : `if (${ask}) return ${NAN};`);
            }
            // C++ lets a compiler assume that a loop without effects ends, and nvcc drops such loops
            else put(depth + 1, 'asm volatile("");');
            list(s.body, depth + 1, s.carried, s.label);
          } else {
            put(depth, '{');
            // a break out of the block at its very end is the same as a yield
            const last = s.body.at(-1)!;
            const leaves = last.kind === 'break' && last.label === s.label;
            const body = leaves ? s.body.with(-1, { kind: 'yield', args: last.args }) : s.body;
            list(body, depth + 1, s.out, loop);
          }
          put(depth, '}');
          // the label is in the list that holds the construct, so that no `goto` enters the scope of a variable
          if (labels.has(s.label)) put(depth, `${labels.get(s.label)}:;`);
          break;
        case 'yield':
        case 'continue':
          assign(depth, ends, s.args);
          break;
        case 'break':
          assign(depth, outputs.get(s.label)!, s.args);
          if (s.label === loop) put(depth, 'break;');
          else {
            if (!labels.has(s.label)) labels.set(s.label, `L${labels.size}`);
            put(depth, `goto ${labels.get(s.label)};`);
          }
          break;
        case 'unreachable':
          break;
      }
    }
  };
  const declare = (depth: number, out: Value[]) => {
    for (const v of out) put(depth, `${TYPES[v.type]} ${name(v.id)};`);
  };

  if (checks.perCall > 0) put(1, `turns += ${checks.perCall}u;`);
  list(program.body, 1, [], undefined);
  program.results.forEach((id, r) => {
    put(1, `${several ? `out[${r}] =` : 'return'} ${mayStray ? `stray ? ${NAN} : ` : ''}${name(id)};`);
  });
  // an empty array of the integrand has length 1 here; its element is never stored, so it is initialised
  const head = [...arrays].map(([k, a]) => {
    const length = program.arrays[k];
    return `  double ${a}[${length}]${length === 1 ? ' = {}' : ''};`;
  });
  if (mayStray) head.push('  bool stray = false;');
  // what the caller finds when the integrand is left because of the stop flag
  if (several && checks.checked.size > 0)
    program.results.forEach((_, r) => head.push(`  out[${r}] = ${NAN};`));
  return [...head, ...lines].join('\n');
}
