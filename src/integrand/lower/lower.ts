/** From a function to a program: lowering, then the passes of optimise.ts. */
import { IntegrandError } from '../diagnostics.ts';
import { type Id, IR_VERSION, type Program } from '../ir.ts';
import { optimise } from '../optimise.ts';
import { declarations, type Param, type Params } from '../params.ts';
import { type Read, readInternal } from '../read.ts';
import { isTable } from '../tables.ts';
import { internalFunction, lowerFunction } from './calls.ts';
import { arity, libraryFunction, mathKit, specialFunctions } from './globals.ts';
import { Lessons, Lowering, Restart } from './lowering.ts';
import { describe, type FunctionValue, type Val } from './values.ts';

/** The program of an integrand for points of `dims` coordinates and params of this shape. */
export function lower({ node, source }: Read, dims: number, params: Params): Program {
  if (node.params.length > 3) {
    const [extra] = node.params.slice(3);
    throw new IntegrandError(
      'An integrand has at most three arguments.',
      'They are (x, p, m): the point, params, and the functions that Math lacks.',
      { source, span: extra },
    );
  }
  const fn = { ...internalFunction({ node, source }, ''), name: 'the integrand' };
  return build(fn, dims, params, l => [
    { kind: 'point', length: dims },
    {
      kind: 'namespace',
      what: 'params',
      fields: new Map(Object.entries(params).map(([name, v]) => [name, paramValue(l, name, v)])),
    },
    specialFunctions(),
  ]);
}

const compiled = new Map<string, Program>();

/** The program of a function of the math library, its arguments as coordinates. */
export function lowerLibrary(name: string): Program {
  let program = compiled.get(name);
  if (!program) {
    const dims = arity(name);
    const fn = internalFunction(readInternal(libraryFunction(name)), name);
    const coordinate = (l: Lowering, i: number): Val =>
      l.number(l.builder.value({ op: 'coord', args: [l.builder.constant(i)] }, 'f64'));
    program = build(fn, dims, {}, l => [
      ...Array.from({ length: dims }, (_, i) => coordinate(l, i)),
      mathKit(),
    ]);
    compiled.set(name, program);
  }
  return program;
}

function build(fn: FunctionValue, dims: number, params: Params, args: (l: Lowering) => Val[]): Program {
  const lessons = new Lessons();
  for (;;) {
    try {
      const l = new Lowering(lessons);
      const slot = l.flow.slot({ kind: 'undefined' });
      lowerFunction(l, fn, args(l), slot, fn.node);
      const result = resultOf(l.get(slot), fn);
      return optimise({
        version: IR_VERSION,
        dims,
        params: [...l.read].flatMap(name => declarations(name, params[name])),
        constants: l.constants,
        arrays: l.arrays,
        body: [...l.builder.root.body, ...l.builder.scope.body],
        results: [result],
      });
    } catch (e) {
      if (!(e instanceof Restart)) throw e;
    }
  }
}

function paramValue(l: Lowering, name: string, value: Param): Val {
  if (isTable(value)) return { kind: 'table', name, table: value };
  if (typeof value === 'object')
    return { kind: 'data', name, length: value.length, rounds: !(value instanceof Float64Array) };
  const type = typeof value === 'number' ? 'f64' : 'bool';
  return { kind: type === 'f64' ? 'number' : 'bool', id: l.builder.value({ op: 'param', name }, type) };
}

function resultOf(value: Val, { node, source }: FunctionValue): Id {
  if (value.kind === 'number') return value.id;
  const fail = (reason: string, remedy: string): never => {
    throw new IntegrandError(reason, remedy, { source, span: node });
  };
  if (value.kind === 'bool')
    return fail('The integrand returns a boolean.', 'Return a number: condition ? 1 : 0.');
  if (value.kind === 'tuple') {
    return fail(
      `The integrand returns ${describe(value)}.`,
      'Return one number; integrate the components one by one.',
    );
  }
  if (value.kind === 'undefined' && value.missing)
    return fail(`There is no \`${value.missing}\` in params.`, `Pass it: params: { ${value.missing}: … }.`);
  if (value.kind === 'undefined')
    return fail('The integrand returns nothing.', 'Return a number on every path.');
  return fail(`The integrand returns ${describe(value)}.`, 'Return a number on every path.');
}
