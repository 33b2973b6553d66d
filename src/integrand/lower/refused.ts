/**
 * What the integrand language does not have, by the names of acorn's nodes, and what to write instead. A construct
 * that is not in the tables of statements.ts and expressions.ts is refused; it never becomes a wrong program.
 */
import type { AnyNode } from 'acorn';
import { closest } from '../../options/suggest.ts';
import type { Text } from '../../options/wording.ts';
import { SPECIAL } from './globals.ts';
import type { Env, Lowering } from './lowering.ts';
import type { NamespaceValue } from './values.ts';

const OBJECTS = 'Keep numbers in variables and fixed-size arrays: const a = [0, 0, 0].';

export const REFUSED: Record<string, [what: string, remedy: Text]> = {
  TryStatement: ['`try`', 'Nothing in an integrand throws: test the condition with `if` instead.'],
  ThrowStatement: ['`throw`', 'Return NaN to mark a point as an error.'],
  SwitchStatement: ['`switch`', 'Use `if` and `else if`.'],
  ForInStatement: ['`for … in`', 'Count with for (let i = 0; i < a.length; i++).'],
  WithStatement: ['`with`', 'Name what you use.'],
  DebuggerStatement: [
    '`debugger`',
    w => `Remove it; to step through an integrand, use ${w.setting('device', 'js')}.`,
  ],
  ClassDeclaration: ['a class', 'Use plain functions.'],
  ClassExpression: ['a class', 'Use plain functions.'],
  NewExpression: ['`new`', 'Write a fixed-size array as [0, 0, 0] or Array(3).fill(0).'],
  ThisExpression: ['`this`', 'Pass what the integrand needs in `params`; it arrives as the second argument.'],
  Super: ['`super`', 'Pass what the integrand needs in `params`.'],
  MetaProperty: ['a meta property', 'Pass what the integrand needs in `params`.'],
  TaggedTemplateExpression: ['a template', 'An integrand computes with numbers and booleans only.'],
  YieldExpression: ['`yield`', 'Return the value.'],
  AwaitExpression: ['`await`', w => `An async integrand runs with ${w.setting('device', 'js')} only.`],
  ImportExpression: ['`import`', 'Pass what the integrand needs in `params`.'],
  ObjectPattern: ['an object pattern', OBJECTS],
};

/** Operators that JavaScript has and the integrand language lacks, with what to write instead. */
const REFUSED_OPERATORS: Record<string, string> = {
  '|': 'For an integer part write Math.trunc(x).',
  '&': 'For a remainder write x % n.',
  '^': 'For a power write x ** n.',
  '~': 'For an integer part write Math.trunc(x).',
  '<<': 'Write x * 2 ** n.',
  '>>': 'Write Math.floor(x / 2 ** n).',
  '>>>': 'Write Math.floor(x / 2 ** n).',
  in: 'Compare with numbers.',
  instanceof: 'An integrand computes with numbers and booleans only.',
  typeof: 'Params are known when the integrand is compiled: no test is needed.',
  delete: OBJECTS,
};

export function refuseNode(l: Lowering, node: AnyNode, env: Env): never {
  const [what, remedy] = REFUSED[node.type] ?? [
    `\`${node.type}\``,
    'See the integrand language in the documentation.',
  ];
  return l.fail(env, node, `An integrand cannot use ${what}.`, remedy);
}

export function refuseOperator(l: Lowering, node: AnyNode, operator: string, env: Env): never {
  return l.fail(
    env,
    node,
    `An integrand cannot use the operator \`${operator}\`.`,
    REFUSED_OPERATORS[operator] ?? 'Use arithmetic and comparisons.',
  );
}

/** Fails for a member that `Math`, `params` or another object of fixed members does not have. */
export function refuseMember(
  l: Lowering,
  object: NamespaceValue,
  name: string,
  env: Env,
  node: AnyNode,
): never {
  const { what, given } = object;
  const names = [...object.fields.keys()];
  if (what === 'Math' && name === 'random')
    return l.fail(
      env,
      node,
      'An integrand cannot use Math.random: it must give the same value for the same point.',
      'Add a coordinate to the point and integrate over it.',
    );
  const near = closest(name, names);
  // one letter is as far from another as it can be
  const hint = near && near.length + name.length > 2 ? `Did you mean \`${near}\`? ` : '';
  const own = given && !(name in Object.prototype);
  const isSpecial = what === 'Math' && (SPECIAL as readonly string[]).includes(name);
  const remedy = isSpecial
    ? `It is a member of the third argument: (x, p, { ${name} }) => ….`
    : `${hint}${own ? remedyForMissing(what, name) : `It has ${names.join(', ')}.`}`;
  return l.fail(env, node, `There is no \`${name}\` in ${what}.`, remedy, !own);
}

/** How to give the object `what` a member: `params: { constants: { c: … } }`. */
function remedyForMissing(what: string, name: string): string {
  const [first, ...inner] = what.split('.');
  if (first !== 'params') return `Give ${what} a member ${name}.`;
  const member = inner.reduceRight((text, outer) => `${outer}: { ${text} }`, `${name}: …`);
  return `Pass it: params: { ${member} }.`;
}
