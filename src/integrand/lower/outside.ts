/** Names from outside a function: what was captured for them (../captures.ts), or the error that says how to pass them. */
import type { AnyNode } from 'acorn';
import { Refused, referenceText } from '../captures.ts';
import { mathName, SPECIAL } from './globals.ts';
import type { Env, Lowering } from './lowering.ts';
import { writtenName } from './toolchains.ts';
import type { Val } from './values.ts';

/** What was captured for a reference to something outside the function; undefined for anything else. */
export function capturedValue(l: Lowering, node: AnyNode, env: Env): Val | undefined {
  const { outside } = env.names;
  const reference = outside && referenceText(node);
  if (reference === undefined || env.names.find(/^[^.(]*/.exec(reference)![0])) return undefined;
  const found = outside!(reference);
  return found instanceof Refused ? refuseCaptured(l, found, writtenName(reference), env, node) : found;
}

export function refuseCaptured(
  l: Lowering,
  { what }: Refused,
  called: string,
  env: Env,
  node: AnyNode,
): never {
  return l.fail(
    env,
    node,
    `\`${called}\` is ${what}, which an integrand cannot use.`,
    'Use numbers, booleans, arrays of numbers, tables, functions, and objects of these.',
  );
}

export function freeVariable(l: Lowering, node: AnyNode, name: string, env: Env): never {
  const { called, takesParams = !called } = env.source;
  const hint = hintFor(name);
  const remedy = !takesParams
    ? `Make it an argument of ${called}, or write it inside; or let the plugin quadrille/plugin capture it, if ${called} is a function of your project.`
    : `Pass it in \`params\`: (x, p) => … p.${name} …, with params: { ${name} }; or write it inside the function; or let the plugin quadrille/plugin pass it.`;
  return l.fail(
    env,
    node,
    `\`${name}\` is not defined inside ${called ?? 'the integrand'}, which is compiled from its own text alone.`,
    hint ?? remedy,
  );
}

/** What to write for names that are members of Math, or of the third argument. */
function hintFor(name: string): string | undefined {
  if (name === 'arguments') return 'Name the arguments: (x, p) => ….';
  const inMath = mathName(name);
  if (inMath) return `Write Math.${inMath}; one of your own goes into \`params\`: p.${name}.`;
  if ((SPECIAL as readonly string[]).includes(name))
    return `It is a member of the third argument: (x, p, { ${name} }) => ….`;
  return undefined;
}
