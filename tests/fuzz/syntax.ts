/** The syntax tree of a text, and changes to the text at its nodes. */
import { type AnyNode, parseExpressionAt } from 'acorn';

export interface Found {
  node: AnyNode;
  parent: AnyNode | undefined;
  /** The member of its parent that the node is, or is in. */
  key: string;
}

/** All nodes of the text of a function, outer before inner, with offsets into the text. */
export function nodesOf(text: string): Found[] {
  const found: Found[] = [];
  const visit = (value: unknown, parent: AnyNode | undefined, key: string): void => {
    if (Array.isArray(value)) for (const v of value) visit(v, parent, key);
    else if (value && typeof (value as AnyNode).type === 'string') {
      const node = value as AnyNode;
      node.start--;
      node.end--;
      found.push({ node, parent, key });
      for (const [k, child] of Object.entries(node)) visit(child, node, k);
    }
  };
  visit(parseExpressionAt(`(${text}\n)`, 0, { ecmaVersion: 'latest' }), undefined, '');
  return found;
}

/** Whether a node is written to, deleted or called, so that no other expression can stand in its place. */
export const isPlace = ({ parent, key }: Found): boolean =>
  parent !== undefined &&
  ((parent.type === 'AssignmentExpression' && key === 'left') ||
    parent.type === 'UpdateExpression' ||
    (parent.type === 'UnaryExpression' && parent.operator === 'delete') ||
    (key === 'callee' && parent.type === 'CallExpression') ||
    (key === 'tag' && parent.type === 'TaggedTemplateExpression') ||
    (key === 'left' && /^For(In|Of)/.test(parent.type)) ||
    /Pattern$|^RestElement$/.test(parent.type) ||
    parent.type === 'ChainExpression' ||
    (parent.type === 'MemberExpression' && key === 'object' && parent.optional));

/** The text with `before` and `after` put around the nodes for which `around` gives them. */
export function wrapped(
  text: string,
  around: (node: AnyNode, own: string) => readonly [before: string, after: string] | undefined,
): string {
  const starts = new Map<number, string>();
  const ends = new Map<number, string>();
  for (const found of nodesOf(text)) {
    const { node } = found;
    const made = isPlace(found) ? undefined : around(node, text.slice(node.start, node.end));
    if (!made) continue;
    starts.set(node.start, (starts.get(node.start) ?? '') + made[0]); // outer nodes come first
    ends.set(node.end, made[1] + (ends.get(node.end) ?? ''));
  }
  let result = '';
  for (let i = 0; i <= text.length; i++)
    result += (ends.get(i) ?? '') + (starts.get(i) ?? '') + text.slice(i, i + 1);
  return result;
}
