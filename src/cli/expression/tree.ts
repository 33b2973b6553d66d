/** The syntax tree of an expression. */

export type Binary = '+' | '-' | '*' | '/' | '%' | '^' | '<' | '<=' | '>' | '>=' | '==' | '!=' | '&&' | '||';
export type Unary = '-' | '+' | '!';

interface Span {
  start: number;
  end: number;
  /** Whether it stands in brackets. */
  grouped?: boolean;
}

export type Node = Span &
  (
    | { kind: 'number'; value: number }
    | { kind: 'name'; name: string }
    | { kind: 'call'; fn: string; args: Node[] }
    | { kind: 'unary'; op: Unary; arg: Node }
    | { kind: 'binary'; op: Binary; left: Node; right: Node }
    | { kind: 'choice'; test: Node; yes: Node; no: Node }
  );

/** A node and all nodes below it, in the order of the text. A list, not recursion: sums may have thousands of terms. */
export function* nodesOf(root: Node): Iterable<Node> {
  const waiting = [root];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    yield node;
    waiting.push(...childrenOf(node).toReversed());
  }
}

function childrenOf(node: Node): readonly Node[] {
  if (node.kind === 'call') return node.args;
  if (node.kind === 'unary') return [node.arg];
  if (node.kind === 'binary') return [node.left, node.right];
  return node.kind === 'choice' ? [node.test, node.yes, node.no] : [];
}
