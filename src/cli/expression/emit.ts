/**
 * Writes a tree as JavaScript, with no more brackets than needed. Where a number is needed, a condition counts as 1 or 0;
 * where a condition is needed, a number other than 0 counts as true.
 */
import { FUNCTIONS, type Functions } from './names.ts';
import { type Binary, type Node, nodesOf } from './tree.ts';

/** Gives the JavaScript for a name. */
export type Scope = (name: Node & { kind: 'name' }) => string;

interface Piece {
  text: string;
  /** The precedence of its outermost operator. */
  strength: number;
  condition: boolean;
}

const CHOICE = 1;
const EQUALITY = 4;
const SIGN = 8;
const POWER = 9;
const ATOM = 10;
const OPERATORS: Record<Binary, [js: string, strength: number]> = {
  '||': ['||', 2],
  '&&': ['&&', 3],
  '==': ['===', EQUALITY],
  '!=': ['!==', EQUALITY],
  '<': ['<', 5],
  '<=': ['<=', 5],
  '>': ['>', 5],
  '>=': ['>=', 5],
  '+': ['+', 6],
  '-': ['-', 6],
  '*': ['*', 7],
  '/': ['/', 7],
  '%': ['%', 7],
  '^': ['**', POWER],
};

/** The value of a tree as a JavaScript expression that gives a number. */
export function toText(node: Node, scope: Scope, functions: Functions = FUNCTIONS): string {
  return number(emit(node, scope, functions)).text;
}

/** The special functions that a tree calls, which are members of the integrand's third argument. */
export function specials(tree: Node): Set<string> {
  const called = [...nodesOf(tree)].flatMap(n => (n.kind === 'call' ? [FUNCTIONS.get(n.fn)] : []));
  return new Set(called.filter(f => f?.special).map(f => f!.js));
}

function emit(node: Node, scope: Scope, functions: Functions): Piece {
  switch (node.kind) {
    case 'number':
      return { text: String(node.value), strength: ATOM, condition: false };
    case 'name':
      return { text: scope(node), strength: ATOM, condition: false };
    case 'call': {
      const args = node.args.map(a => number(emit(a, scope, functions)).text);
      return {
        text: `${functions.get(node.fn)!.js}(${args.join(', ')})`,
        strength: ATOM,
        condition: false,
      };
    }
    case 'unary': {
      const arg = emit(node.arg, scope, functions);
      if (node.op === '!') return { text: `!${brackets(test(arg), ATOM)}`, strength: SIGN, condition: true };
      // a power gets brackets: JavaScript refuses -x ** 2
      return { text: `${node.op}${brackets(number(arg), ATOM)}`, strength: SIGN, condition: false };
    }
    case 'binary': {
      // a loop, not recursion, over the operators of a chain: a sum may have thousands of terms
      const chain = [node];
      for (let { left } = node; left.kind === 'binary'; { left } = left) chain.push(left);
      let piece = emit(chain.at(-1)!.left, scope, functions);
      for (const { op, right } of chain.reverse()) piece = binary(op, piece, emit(right, scope, functions));
      return piece;
    }
    case 'choice': {
      const [yes, no] = [node.yes, node.no].map(n => brackets(number(emit(n, scope, functions)), CHOICE));
      const text = `${brackets(test(emit(node.test, scope, functions)), CHOICE + 1)} ? ${yes} : ${no}`;
      return { text, strength: CHOICE, condition: false };
    }
  }
}

function binary(op: Binary, left: Piece, right: Piece): Piece {
  const [js, strength] = OPERATORS[op];
  const logical = op === '&&' || op === '||';
  const [a, b] = [left, right].map(logical ? test : number);
  // JavaScript refuses a sign before the base of a power, as in (-x) ** 2 without its brackets
  const [first, second] = op === '^' ? [ATOM, SIGN] : [strength, strength + 1];
  return {
    text: `${brackets(a, first)} ${js} ${brackets(b, second)}`,
    strength,
    condition: strength <= OPERATORS['<'][1],
  };
}

const number = (p: Piece): Piece =>
  p.condition ? { text: `${brackets(p, CHOICE + 1)} ? 1 : 0`, strength: CHOICE, condition: false } : p;

const test = (p: Piece): Piece =>
  p.condition ? p : { text: `${brackets(p, EQUALITY + 1)} !== 0`, strength: EQUALITY, condition: true };

const brackets = (p: Piece, least: number): string => (p.strength < least ? `(${p.text})` : p.text);
