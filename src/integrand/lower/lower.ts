/** Turns a parsed function into a program: lowers it, then runs the passes of optimise.ts. */
import type { Builder } from '../builder.ts';
import { IntegrandError, withinDepth } from '../diagnostics.ts';
import type { Axis } from '../domain.ts';
import { type Id, IR_VERSION, type Program } from '../ir.ts';
import { libraryFunction } from '../math/common.ts';
import { OnDemand } from '../on-demand.ts';
import { optimise } from '../optimise.ts';
import { allLeaves, declarations, type Params } from '../params.ts';
import { type ParsedFunction, readInternal } from '../read.ts';
import { countOf, type Shape } from '../shape.ts';
import { makeArray } from './arrays.ts';
import { internalFunction, lowerFunction } from './calls.ts';
import type { Mapped } from './domain.ts';
import { arity, mathKit, specialFunctions } from './globals.ts';
import { Decisions, type Env, type Limits, Lowering, Restart } from './lowering.ts';
import { ParamValues } from './param-values.ts';
import { resultsOf } from './results.ts';
import { type FunctionValue, Names, type Val } from './values.ts';

/** What makes instructions of a domain; whoever makes a domain that needs it provides it. */
export const loweringOfDomains = new OnDemand(() => import('./domain.ts'));

/**
 * The program of an integrand for points of `dims` coordinates and params of this shape. With `axes` these are coordinates of the
 * sampled box, and the integrand gets those of the domain.
 */
export function lower(
  { node, source, f }: ParsedFunction,
  dims: number,
  params: Params,
  axes?: readonly Axis[],
  limits: Limits = {},
): Program {
  if (node.params.length > 3) {
    const [extra] = node.params.slice(3);
    throw new IntegrandError(
      'An integrand has at most three arguments.',
      'They are (x, p, m): the point, params, and the functions that Math lacks.',
      { source, span: extra },
    );
  }
  const fn = { ...internalFunction({ node, source }, ''), name: 'the integrand' };
  return build(
    fn,
    dims,
    params,
    l => {
      const values = new ParamValues(l, params);
      fn.names = new Names(null, values.outside(f));
      const rest: Val[] = [values.params, specialFunctions()];
      if (!axes) return { args: [{ kind: 'point', length: dims }, ...rest] };
      const env: Env = { names: new Names(null), source, result: null, loops: null };
      const { lowerDomain } = loweringOfDomains.now;
      const mapped = lowerDomain(l, axes, coordinates(l, dims), {
        node,
        env,
        rest,
        outside: g => values.outside(g),
      });
      const point = makeArray(l, mapped.x.map(l.number), env, node);
      return { args: [{ ...point, fixed: 'the point' }, ...rest], mapped };
    },
    limits,
  );
}

/**
 * The program of a function of an integrand's results, which are given in one argument of this shape. Its coordinates are the
 * results; calls of library functions stay calls, so that derivatives have their closed forms (../gradient.ts).
 */
export function lowerOfResults({ node, source }: ParsedFunction, shape: Shape): Program {
  const fn = { ...internalFunction({ node, source }, ''), name: 'the function' };
  const dims = countOf(shape);
  return build(
    fn,
    dims,
    {},
    l => {
      const numbers = coordinates(l, dims).map(l.number);
      let next = 0;
      const argument = (s: Shape): Val => {
        if (s === 'number') return numbers[next++];
        const elements = Object.values(s).map(member => l.flow.slot(argument(member)));
        const { length } = elements;
        const keys = Array.isArray(s) ? undefined : Object.keys(s);
        return { kind: 'tuple', length, elements, site: node, fixed: 'the results', ...(keys && { keys }) };
      };
      return { args: [argument(shape)] };
    },
    { keepCalls: true, atOnce: true },
  );
}

/** The coordinates of the sampled point, one value each. */
function coordinates(l: Lowering, dims: number): Id[] {
  return Array.from({ length: dims }, (_, i) =>
    l.builder.value({ op: 'coord', args: [l.builder.constant(i)] }, 'f64'),
  );
}

const libraryPrograms = new Map<string, Program>();

/** The program of a function of the math library; its coordinates are the function's arguments. */
export function lowerLibrary(name: string): Program {
  let program = libraryPrograms.get(name);
  if (!program) {
    const dims = arity(name);
    const fn = internalFunction(readInternal(libraryFunction(name)), name);
    program = build(fn, dims, {}, l => ({ args: [...coordinates(l, dims).map(l.number), mathKit()] }));
    libraryPrograms.set(name, program);
  }
  return program;
}

function build(
  fn: FunctionValue,
  dims: number,
  params: Params,
  prepare: (l: Lowering) => { args: Val[]; mapped?: Mapped },
  limits: Limits = {},
): Program {
  const decisions = new Decisions();
  for (;;) {
    try {
      return withinDepth(fn.source, () => {
        const l = new Lowering(decisions, limits);
        const slot = l.flow.slot({ kind: 'undefined' });
        const { args, mapped } = prepare(l);
        lowerFunction(l, fn, args, slot, fn.node);
        const values = resultsOf(l, l.get(slot), fn);
        const results = mapped ? values.map(v => timesJacobian(l.builder, v, mapped)) : values;
        const { shape } = l.returns[0] ?? {};
        return optimise({
          version: IR_VERSION,
          dims,
          params: [...allLeaves(params)].flatMap(([path, value]) => declarations(path, value)),
          constants: l.constants,
          arrays: l.arrays,
          body: [...l.builder.root.body, ...l.builder.scope.body],
          results,
          ...(shape && shape !== 'number' && { shape }),
        });
      });
    } catch (e) {
      if (!(e instanceof Restart)) throw e;
    }
  }
}

/** Where the Jacobian is 0 the domain is empty: the product is 0, whatever the integrand is there. */
function timesJacobian(b: Builder, value: Id, { jacobian, mayVanish }: Mapped): Id {
  const product = b.op('mul', value, jacobian);
  if (!mayVanish) return product;
  const zero = b.constant(0);
  return b.op('select', b.op('eq', jacobian, zero), zero, product);
}
