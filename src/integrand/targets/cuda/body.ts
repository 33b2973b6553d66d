/**
 * The statements of a function in CUDA C++.
 *
 * A break to an outer construct is a `goto` behind it. A loop that may run long reads the stop flag now and then
 * (../../stop-checks.ts), and the function is left with NaN when the flag is set.
 */
import type { Id, Let, Program, Type } from '../../ir.ts';
import { STOP_CHECK_PERIOD, type StopChecks } from '../../stop-checks.ts';
import { bodyText, type Construct, fill } from '../body-text.ts';
import { FUNCTIONS, literal, NAN, OPERATIONS, UNFUSED } from './operations.ts';

const TYPES: Record<Type, string> = { f64: 'double', bool: 'bool' };

export interface FunctionContext {
  /** What is put before the names of constant arrays. */
  prefix: string;
  coordinate(i: number): string;
  /** The offset of each param in the params buffer. */
  offsets: ReadonlyMap<string, number>;
  /** Whether the CUDA compiler may fuse a product and a sum into one operation. */
  fuses: boolean;
  checks: StopChecks;
  /** Calls that are for usual arguments (../usual.ts), and note others in `rare`. Only where there was none does the function return. */
  usual?: ReadonlySet<Id>;
}

/** The statements of a function that returns the program's result, or writes its results to `out`. */
export function functionBody(program: Program, context: FunctionContext): string {
  const { prefix, coordinate, offsets, fuses, checks, usual } = context;
  const several = program.results.length > 1;
  const labels = new Map<number, string>(); // C++ labels of the constructs that a `goto` leaves

  const find = (start: string, length: number) => (i: string) => `array_get(${start}, ${length}, ${i})`;
  const roots = new Set<Id>();
  const usualCall = (s: Let, argument: string): string => {
    // the root of a number that is neither tiny nor huge is such a number
    const sure = s.op === 'sqrt' && roots.has(s.args[0]);
    if (s.op === 'sqrt') roots.add(s.id);
    return `usual_${s.op === 'call' ? s.fn : s.op}(${argument}, ${sure ? 'known' : 'rare'})`;
  };
  const expression = (s: Let): string => {
    const args = 'args' in s ? s.args.map(text.name) : [];
    if (usual?.has(s.id)) return usualCall(s, args[0]);
    switch (s.op) {
      case 'const':
        return literal(s.value);
      case 'coord':
        return text.read(program.dims, s.args[0], coordinate, find('x', program.dims));
      case 'param': {
        const place = `params[${offsets.get(s.name)}]`;
        return s.type === 'bool' ? `(${place} != 0.0)` : place;
      }
      case 'element': {
        const [offset, length] = [offsets.get(s.array), text.lengthOf(s.array)];
        if (offset !== undefined)
          return text.read(
            length,
            s.args[0],
            i => `params[${offset + i}]`,
            find(`params + ${offset}`, length),
          );
        const start = `${prefix}c${Object.keys(program.constants).indexOf(s.array)}`;
        return text.read(length, s.args[0], i => `${start}[${i}]`, find(start, length));
      }
      case 'load': {
        const [array, length] = [text.local(s.array), program.arrays[s.array]];
        return text.read(length, s.args[0], i => `${array}[${i}]`, find(array, length));
      }
      case 'call':
        return fill(FUNCTIONS[s.fn] ?? `lib_${s.fn}(${args.length > 1 ? 'A, B' : 'A'})`, args);
      case 'min':
      case 'max': {
        const bounded = text.boundOf(s);
        if (!bounded) break;
        const [value, bound] = [text.name(bounded.value), literal(bounded.bound)];
        return `${value} ${bounded.comparison} ${bound} ? ${bound} : ${value}`;
      }
    }
    return fill((fuses ? OPERATIONS : UNFUSED)[s.op], args);
  };

  const construct = (s: Construct, depth: number, loop: number | undefined): void => {
    if (s.kind === 'loop') {
      text.declare(depth, s.carried, s.init);
      text.put(depth, 'for (;;) {');
      const turn = checks.checked.get(s);
      if (turn !== undefined) {
        const ask = `(turns += ${turn}u) >= ${STOP_CHECK_PERIOD}u && (turns = 0u, stopped(params))`;
        text.put(depth + 1, several ? `if (${ask}) return;` : `if (${ask}) return ${NAN};`);
      }
      // C++ lets a compiler assume that a loop without effects ends, and nvcc drops such loops
      else text.put(depth + 1, 'asm volatile("");');
      text.list(s.body, depth + 1, s.carried, s.label);
    } else {
      text.put(depth, '{');
      // a break out of the block at its very end is the same as a yield
      const last = s.body.at(-1)!;
      const leaves = last.kind === 'break' && last.label === s.label;
      const body = leaves ? s.body.with(-1, { kind: 'yield', args: last.args }) : s.body;
      text.list(body, depth + 1, s.out, loop);
    }
    text.put(depth, '}');
    // the label is in the list that holds the construct, so that no `goto` enters the scope of a variable
    if (labels.has(s.label)) text.put(depth, `${labels.get(s.label)}:;`);
  };

  const text = bodyText(program, {
    nan: NAN,
    constant: (type, name, value) => `const ${TYPES[type]} ${name} = ${value};`,
    variable: (type, name, value) => `${TYPES[type]} ${name}${value === undefined ? '' : ` = ${value}`};`,
    storeAt: (...store) => `if (!array_set(${store.join(', ')})) stray = true;`,
    sineAndCosine({ sin, cos, angle }, depth) {
      const [sine, cosine] = [text.name(sin), text.name(cos)];
      text.put(depth, `double ${sine}, ${cosine};`);
      text.put(depth, `sincos(${text.name(angle)}, &${sine}, &${cosine});`);
    },
    expression,
    construct,
    leave(label, depth, loop) {
      if (label !== loop && !labels.has(label)) labels.set(label, `L${labels.size}`);
      text.put(depth, label === loop ? 'break;' : `goto ${labels.get(label)};`);
    },
  });
  if (checks.perCall > 0) text.put(1, `turns += ${checks.perCall}u;`);
  text.list(program.body, 1, []);
  const mayStray = text.mayStray();
  program.results.forEach((id, r) => {
    const place = several ? `out[${r}] =` : usual ? 'if (!rare) return' : 'return';
    text.put(1, `${place} ${mayStray ? `stray ? ${NAN} : ` : ''}${text.name(id)};`);
  });
  // an empty array of the integrand has length 1 here; its element is never stored, so it is initialised
  const head = [...text.arrays].map(([k, a]) => {
    const length = program.arrays[k];
    return `  double ${a}[${length}]${length === 1 ? ' = {}' : ''};`;
  });
  if (mayStray) head.push('  bool stray = false;');
  if (usual) head.push('  bool rare = false, known = false;');
  // what the caller finds when the integrand is left because of the stop flag
  if (several && checks.checked.size > 0)
    program.results.forEach((_, r) => head.push(`  out[${r}] = ${NAN};`));
  return [...head, ...text.lines].join('\n');
}
