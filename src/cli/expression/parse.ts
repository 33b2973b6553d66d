/**
 * Parses an expression by precedence climbing (Pratt): every operator has a strength, and an operand belongs to the
 * stronger of the operators beside it. In the order of their strengths:
 *
 *     ?:   ||   &&   < <= > >= == !=   + -   * / %   - + ! before an operand   ^
 *
 * `^` associates to the right and is stronger than a sign: -x^2 is -(x^2). In a chain all comparisons have to hold:
 * 0 < x < 1.
 *
 * A product needs no * between a number or a closing bracket and a name or an opening bracket, as in 2x, 2(x + 1),
 * (x + 1)(x - 1), 3sin(x)cos(y). After a quotient or a power that would be ambiguous, since 1/2x is (1/2)x or 1/(2x), and
 * it is refused; so is x(y + 1), which looks like the call of a function.
 */

import { didYouMean } from '../../options/suggest.ts';
import { UsageError } from '../usage-error.ts';
import { FUNCTIONS, type Functions } from './names.ts';
import { type Token, tokens } from './tokens.ts';
import type { Binary, Node, Unary } from './tree.ts';

const CHOICE = 1;
const COMPARISON = 4;
const PRODUCT = 6;
const SIGN = 7;
const POWER = 8;
const STRENGTH: Record<Binary, number> = {
  '||': 2,
  '&&': 3,
  '<': COMPARISON,
  '<=': COMPARISON,
  '>': COMPARISON,
  '>=': COMPARISON,
  '==': COMPARISON,
  '!=': COMPARISON,
  '+': 5,
  '-': 5,
  '*': PRODUCT,
  '/': PRODUCT,
  '%': PRODUCT,
  '^': POWER,
};

/** The deepest nesting of brackets. Beyond it the compiler would run out of stack too. */
const DEEPEST = 500;

/** `functions` are those that an expression may call. */
export function parse(text: string, functions: Functions = FUNCTIONS): Node {
  if (text.trim() === '')
    throw new UsageError('The expression is empty.', "Write one, such as 'exp(-x^2)'.", {
      text,
      start: 0,
      end: 1,
    });
  return new Parser(text, functions).whole();
}

class Parser {
  readonly #text: string;
  readonly #tokens: Token[];
  readonly #functions: Functions;
  #at = 0;
  #depth = 0;

  constructor(text: string, functions: Functions) {
    this.#text = text;
    this.#functions = functions;
    this.#tokens = tokens(text);
  }

  whole(): Node {
    const node = this.#expression(0);
    if (this.#next.kind !== 'end') this.#unexpected();
    return node;
  }

  get #next(): Token {
    return this.#tokens[this.#at];
  }

  #is(text: string): boolean {
    return this.#next.kind === 'operator' && this.#next.text === text;
  }

  #expression(least: number): Node {
    if (++this.#depth > DEEPEST)
      this.#fail('The expression is nested too deeply.', 'Use quadrille run with a file.', this.#next);
    let left = this.#operand();
    for (;;) {
      const { kind, text } = this.#next;
      if (kind === 'operator' && text === '?' && CHOICE >= least) left = this.#choice(left);
      else if (kind === 'operator' && text in STRENGTH && STRENGTH[text as Binary] >= least)
        left = this.#binary(left, text as Binary);
      else if (this.#touches() && PRODUCT >= least) left = this.#product(left);
      else break;
    }
    this.#depth--;
    return left;
  }

  #binary(left: Node, op: Binary): Node {
    this.#at++;
    const strength = STRENGTH[op];
    const right = this.#expression(op === '^' ? strength : strength + 1);
    const span = { start: left.start, end: right.end };
    // in a chain, the right side of a comparison is the left side of the next one
    const row = strength === COMPARISON && !left.grouped ? lastComparison(left) : undefined;
    if (!row) return { kind: 'binary', op, left, right, ...span };
    const more: Node = { kind: 'binary', op, left: row.right, right, start: row.right.start, end: right.end };
    return { kind: 'binary', op: '&&', left, right: more, ...span };
  }

  #choice(test: Node): Node {
    this.#at++;
    const yes = this.#expression(0);
    if (!this.#is(':'))
      this.#fail('A choice needs its other branch.', 'Write condition ? value : other.', this.#next);
    this.#at++;
    const no = this.#expression(CHOICE);
    return { kind: 'choice', test, yes, no, start: test.start, end: no.end };
  }

  /** Whether a product without * begins here. */
  #touches(): boolean {
    const before = this.#tokens[this.#at - 1];
    const { kind } = this.#next;
    return (before.kind === 'number' || before.text === ')') && (kind === 'name' || this.#is('('));
  }

  #product(left: Node): Node {
    const twoWays =
      left.kind === 'binary' && !left.grouped && (left.op === '/' || left.op === '%' || left.op === '^');
    const right = this.#expression(PRODUCT + 1);
    if (twoWays) {
      const [a, b, c] = [left.left, left.right, right].map(n => this.#shown(n));
      const [first, second] = [`(${a}${left.op}${b})*${c}`, `${a}${left.op}(${b}*${c})`];
      this.#fail(`This can be read as ${first} or as ${second}.`, 'Write the one that you mean.', {
        start: left.start,
        end: right.end,
      });
    }
    return { kind: 'binary', op: '*', left, right, start: left.start, end: right.end };
  }

  #shown(node: Node): string {
    const text = this.#text.slice(node.start, node.end);
    return node.grouped && !text.startsWith('(') ? `(${text})` : text;
  }

  #operand(): Node {
    const token = this.#next;
    const { kind, text, start, end } = token;
    this.#at++;
    if (kind === 'number') return this.#number(token);
    if (kind === 'name') return this.#name(token);
    if (text === '-' || text === '+' || text === '!') {
      const arg = this.#expression(SIGN);
      return { kind: 'unary', op: text as Unary, arg, start, end: arg.end };
    }
    if (text === '(' && kind === 'operator') {
      const inner = this.#expression(0);
      this.#closing(token);
      return { ...inner, grouped: true, start, end: this.#tokens[this.#at - 1].end };
    }
    this.#at--;
    if (kind === 'end')
      this.#fail('The expression ends where a value should follow.', undefined, { start, end });
    return this.#fail(`A value is missing before '${text}'.`, undefined, { start, end });
  }

  #number({ text, start, end }: Token): Node {
    const value = Number(text);
    if (value === Infinity)
      this.#fail('This number is too large for 64 bits.', 'Infinity is written inf.', { start, end });
    return { kind: 'number', value, start, end };
  }

  #name(token: Token): Node {
    const { text: name, start, end } = token;
    const known = this.#functions.get(name);
    if (!this.#is('(')) {
      if (known) this.#withoutArgument(token);
      return { kind: 'name', name, start, end };
    }
    if (!known) {
      const remedy = didYouMean(name, this.#functions.keys()) ?? `A product is written ${name}*(…).`;
      this.#fail(`'${name}' is no function.`, remedy, token);
    }
    const open = this.#next;
    const args: Node[] = [];
    do {
      this.#at++;
      if (this.#is(')') && args.length === 0) break;
      args.push(this.#expression(0));
    } while (this.#is(','));
    this.#closing(open);
    const call = { start, end: this.#tokens[this.#at - 1].end };
    const [least, most] = known!.takes;
    if (args.length < least || args.length > most) {
      const wanted = least === most ? `${least}` : `${least} to ${most}`;
      this.#fail(
        `${name} takes ${wanted} ${most === 1 ? 'argument' : 'arguments'}, not ${args.length}.`,
        undefined,
        call,
      );
    }
    return { kind: 'call', fn: name, args, ...call };
  }

  #withoutArgument(token: Token): never {
    const { text } = token;
    const remedy = this.#is('^')
      ? `A power of a function is written behind it: ${text}(x)^2.`
      : `Arguments stand in brackets: ${text}(x).`;
    return this.#fail(`${text} is a function and has no argument here.`, remedy, token);
  }

  #closing(open: Token): void {
    if (this.#is(')')) this.#at++;
    else if (this.#next.kind === 'end') this.#fail('This bracket is never closed.', undefined, open);
    else this.#unexpected();
  }

  /** Refuses a token that stands where an operator or the end was expected. */
  #unexpected(): never {
    const { kind, text, start, end } = this.#next;
    const before = this.#tokens[this.#at - 1];
    if (text === ')') return this.#fail('This bracket was never opened.', undefined, { start, end });
    if (text === ',')
      return this.#fail('A comma stands only between arguments.', 'Decimals have a point: 0.5.', {
        start,
        end,
      });
    if (kind === 'operator' && text !== '(' && text !== '!')
      return this.#fail(`'${text}' has no place here.`, undefined, { start, end });
    const remedy = `A product is written ${before.text}*${text}${text === '(' ? '…)' : ''}.`;
    return this.#fail(`An operator is missing before '${text}'.`, remedy, { start, end });
  }

  #fail(reason: string, remedy: string | undefined, { start, end }: { start: number; end: number }): never {
    throw new UsageError(reason, remedy, { text: this.#text, start, end });
  }
}

function lastComparison(node: Node): (Node & { kind: 'binary' }) | undefined {
  if (node.kind !== 'binary') return undefined;
  if (STRENGTH[node.op] === COMPARISON) return node;
  // a chain of comparisons is a tree of &&, whose right side is the last comparison
  return node.op === '&&' && node.right.kind === 'binary' && STRENGTH[node.right.op] === COMPARISON
    ? node.right
    : undefined;
}
