/**
 * Makes a text that has a property smaller, step by step: a statement goes, a construct gives way to one of its parts, an
 * expression to a constant. A step stays when the text still has the property; large parts are tried before small ones.
 */
import type { AnyNode } from 'acorn';
import { type Found, isPlace, nodesOf } from './syntax.ts';

const SIMPLE = ['0', '1', 'x[0]'];

export function reduce(text: string, holds: (text: string) => boolean, maxTries = 2000): string {
  let tries = 0;
  const plain = text.replace(/\s+/g, ' ');
  for (const start of [plain, plain.replace(/^function ?\w* ?(\([^)]*\)) ?\{/, '$1 => {')])
    if (holds(start)) text = start;
  for (let smaller = true; smaller; ) {
    smaller = false;
    for (const candidate of candidates(text)) {
      if (candidate.length > text.length || candidate === text) continue;
      if (++tries > maxTries) return text;
      if (!holds(candidate)) continue;
      text = candidate;
      smaller = true;
      break;
    }
  }
  return text;
}

/** Texts that are one step smaller, those of large nodes first. */
function* candidates(text: string): Generator<string> {
  let nodes: Found[];
  try {
    nodes = nodesOf(text);
  } catch {
    return;
  }
  const cut = ({ start, end }: AnyNode, by: string) => text.slice(0, start) + by + text.slice(end);
  const own = (n: AnyNode) => text.slice(n.start, n.end);
  for (const found of nodes.sort((a, b) => b.node.end - b.node.start - (a.node.end - a.node.start))) {
    const { node, parent, key } = found;
    const type: string = node.type;
    if (
      /Statement$|Declaration$/.test(type) &&
      parent &&
      (key === 'body' || key === 'consequent' || key === 'alternate')
    ) {
      yield cut(node, key === 'body' && /Block/.test(parent.type) ? '' : ';').replace(/\s+/g, ' ');
      for (const inner of nodes)
        if (inner.parent === node && /Statement$/.test(inner.node.type))
          yield cut(node, unbraced(own(inner.node)));
    }
    if (node.type === 'VariableDeclaration' && node.declarations.length > 1)
      for (const d of node.declarations) {
        const left = node.declarations.filter(e => e !== d).map(own);
        yield cut(node, `${node.kind} ${left.join(', ')}${own(node).endsWith(';') ? ';' : ''}`);
      }
    if (
      node.type === 'VariableDeclarator' &&
      node.init &&
      parent?.type === 'VariableDeclaration' &&
      parent.kind !== 'const'
    )
      yield cut(node, own(node.id));
    for (const list of listsOf(node)) {
      for (const item of list) {
        const rest = list.filter(i => i !== item);
        const [first, last] = [list[0], list[list.length - 1]];
        yield text.slice(0, first.start) + rest.map(own).join(', ') + text.slice(last.end);
      }
    }
    if (!isExpression(found) || isPlace(found)) continue;
    if (!SIMPLE.includes(own(node))) {
      if (node.end - node.start > 1) for (const s of SIMPLE) yield cut(node, s);
      for (const inner of nodes)
        if (inner.parent === node && isExpression(inner)) yield cut(node, parenthesised(own(inner.node)));
    }
  }
}

const unbraced = (text: string) => (/^\{.*\}$/s.test(text) ? text.slice(1, -1) : text);
const parenthesised = (text: string) => (/^[\w$.[\]]+$/.test(text) ? text : `(${text})`);

/** The lists in a node from which an item can go. */
function listsOf(node: AnyNode): AnyNode[][] {
  const lists: unknown[] =
    node.type === 'ArrayExpression' || node.type === 'ArrayPattern'
      ? [node.elements]
      : node.type === 'ObjectExpression' || node.type === 'ObjectPattern'
        ? [node.properties]
        : node.type === 'CallExpression' || node.type === 'NewExpression'
          ? [node.arguments]
          : node.type === 'ArrowFunctionExpression' ||
              node.type === 'FunctionExpression' ||
              node.type === 'FunctionDeclaration'
            ? [node.params]
            : node.type === 'SequenceExpression'
              ? [node.expressions]
              : [];
  return (lists as (AnyNode | null)[][]).map(l => l.filter(n => n !== null)).filter(l => l.length > 0);
}

const isExpression = ({ node, parent, key }: Found): boolean =>
  parent !== undefined &&
  (/Expression$|^Literal$|Literal$/.test(node.type) || (node.type === 'Identifier' && isRead(parent, key)));

/** Whether an identifier stands for its value: not for a member, a label or a declared name. */
const isRead = (parent: AnyNode, key: string): boolean =>
  /Expression$/.test(parent.type)
    ? !(parent.type === 'MemberExpression' && key === 'property' && !parent.computed) &&
      key !== 'params' &&
      key !== 'id'
    : /^(init|test|right|argument|value|expression|discriminant)$/.test(key);
