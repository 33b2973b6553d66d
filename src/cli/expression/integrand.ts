/**
 * Makes an integrand from an expression: a JavaScript function that the library compiles from its text. The variables are
 * the coordinates of the point, the parameters are members of the second argument.
 */
import type { Integrand } from '../../integrand/compile.ts';
import type { BoundsFunction } from '../../integrand/function-bounds.ts';
import { kit } from '../../integrand/math/index.ts';
import { closest } from '../../options/suggest.ts';
import { UsageError } from '../usage-error.ts';
import { type Scope, specials, toText } from './emit.ts';
import { CONSTANTS, FUNCTIONS, type Tables, withTables } from './names.ts';
import { parse } from './parse.ts';
import { type Node, nodesOf } from './tree.ts';

/** Words that JavaScript reserves, and globals that the text of the function uses. */
const RESERVED = new Set(
  'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined var void while with yield Math Infinity NaN Number'.split(
    ' ',
  ),
);

export interface ExpressionIntegrand {
  f: Integrand;
  text: string;
}

export function integrandOf(
  text: string,
  variables: readonly string[],
  params: readonly string[],
  tables: Tables = {},
): ExpressionIntegrand {
  const { js, f } = functionOf([text], variables, params, tables, ([value]) => value);
  return { f: f as Integrand, text: js };
}

/** The bounds of a range as a function of the variables before it and of the parameters. */
export function boundsOf(
  texts: readonly [string, string],
  variables: readonly string[],
  params: readonly string[],
): BoundsFunction {
  const list = (values: string[]) => `[${values.join(', ')}]`;
  return functionOf(texts, variables, params, {}, list).f as BoundsFunction;
}

/** A function of a point and of the parameters that returns what `result` makes of the values of expressions. */
function functionOf(
  texts: readonly string[],
  variables: readonly string[],
  params: readonly string[],
  tables: Tables,
  result: (values: string[]) => string,
): { f: unknown; js: string } {
  const free = (wish: string) => {
    while (RESERVED.has(wish) || variables.includes(wish)) wish += '_';
    return wish;
  };
  // a variable with a reserved name gets another one in the function
  const coordinates = new Map(variables.map(v => [v, RESERVED.has(v) ? free(`${v}_`) : v]));
  const p = free('p');
  const functions = withTables(tables, p);
  const trees = texts.map(text => parse(text, functions));
  const special = [...new Set(trees.flatMap(tree => [...specials(tree)]))];
  let uses = trees.some(tree =>
    [...nodesOf(tree)].some(n => n.kind === 'call' && Object.hasOwn(tables, n.fn)),
  );
  const values = trees.map((tree, i) => {
    const scope: Scope = node => {
      const coordinate = coordinates.get(node.name);
      if (coordinate !== undefined) return coordinate;
      if (params.includes(node.name)) {
        uses = true;
        return `${p}.${node.name}`;
      }
      return CONSTANTS.get(node.name) ?? unknown(texts[i], node, variables, params);
    };
    return toText(tree, scope, functions);
  });
  const args = [`[${[...coordinates.values()].join(', ')}]`];
  if (uses || special.length > 0) args.push(p);
  if (special.length > 0) args.push(`{ ${special.join(', ')} }`);
  const js = `(${args.join(', ')}) => ${result(values)}`;
  return { f: new Function(`return ${js};`)(), js };
}

/** The names in an expression that are neither constants nor among those given, in the order of the text. */
export function freeNames(text: string, given: readonly string[], tables: Tables = {}): string[] {
  const names = [...nodesOf(parse(text, withTables(tables)))].flatMap(n =>
    n.kind === 'name' ? [n.name] : [],
  );
  return [...new Set(names)].filter(name => !CONSTANTS.has(name) && !given.includes(name));
}

/** Throws for the first name of an expression that is neither a constant nor `known`. */
export function nameWithoutValue(
  text: string,
  known: readonly string[],
  remedy: (name: string) => string,
): void {
  for (const node of nodesOf(parse(text)))
    if (node.kind === 'name' && !CONSTANTS.has(node.name) && !known.includes(node.name))
      throw new UsageError(
        `'${node.name}' has no value here.`,
        closeName(node.name, [...known, ...CONSTANTS.keys()]) ?? remedy(node.name),
        { text, ...node },
      );
}

/** The value of a constant expression, such as 2*pi or -inf. `what` names it in errors. */
export function constantOf(text: string, what: string): number {
  const tree = parse(text);
  const value = toText(tree, node => {
    const known = CONSTANTS.get(node.name);
    if (known !== undefined) return known;
    throw new UsageError(
      `'${node.name}' has no value here: ${what} is a number.`,
      closeName(node.name, CONSTANTS.keys()),
      { text, ...node },
    );
  });
  const special = [...specials(tree)].join(', ');
  const result = new Function('m', `const { ${special} } = m; return ${value};`)(kit) as number;
  if (!Number.isNaN(result)) return result;
  throw new UsageError(`${what} is not a number: ${text} has no value.`, undefined, {
    text,
    start: 0,
    end: text.length,
  });
}

function unknown(
  text: string,
  node: Node & { kind: 'name' },
  variables: readonly string[],
  params: readonly string[],
): never {
  const { name } = node;
  const known = [...variables, ...params];
  throw new UsageError(
    `'${name}' is neither a variable nor a parameter.`,
    productOf(name, [...known, ...CONSTANTS.keys()]) ??
      closeName(
        name,
        [...known, ...FUNCTIONS.keys(), ...CONSTANTS.keys()].filter(k => k.length > 1),
      ) ??
      `Give it a range, ${name}=0..1, or a value, --param ${name}=1.`,
    { text, ...node },
  );
}

/** The remedy for a name such as `xy` where x and y are known. */
function productOf(name: string, known: readonly string[]): string | undefined {
  for (let i = 1; i < name.length; i++) {
    const parts = [name.slice(0, i), name.slice(i)];
    if (parts.every(part => known.includes(part))) return `A product is written ${parts.join('*')}.`;
  }
  return undefined;
}

function closeName(name: string, known: Iterable<string>): string | undefined {
  const found = name.length > 1 ? closest(name, known) : undefined;
  if (found === undefined) return undefined;
  return `Did you mean ${found}${FUNCTIONS.has(found) ? '(…)' : ''}?`;
}
