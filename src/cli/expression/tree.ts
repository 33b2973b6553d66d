/** An expression as a tree. */

export type Binary = '+' | '-' | '*' | '/' | '%' | '^' | '<' | '<=' | '>' | '>=' | '==' | '!=' | '&&' | '||';
export type Unary = '-' | '+' | '!';

interface Span {
  start: number;
  end: number;
  /** It stands in brackets of its own. */
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

/** Calls `visit` for every name, in the order of the text. */
export function names(node: Node, visit: (name: Node & { kind: 'name' }) => void): void {
  switch (node.kind) {
    case 'name':
      return visit(node);
    case 'call':
      for (const a of node.args) names(a, visit);
      return;
    case 'unary':
      return names(node.arg, visit);
    case 'binary':
      names(node.left, visit);
      return names(node.right, visit);
    case 'choice':
      for (const part of [node.test, node.yes, node.no]) names(part, visit);
  }
}
