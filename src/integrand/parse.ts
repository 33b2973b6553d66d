/**
 * acorn, with chains of operators parsed in a loop. acorn's `parseExprOp` calls itself once for every operator of a chain
 * such as a + b + c, so a sum of some 4,000 terms, as computer algebra systems print them, ran out of stack.
 */
import { type Expression, type Node, Parser } from 'acorn';

/** The method of acorn's parser that is replaced. It is for plugins: no part of acorn's types, but of its interface. */
interface Operators {
  parseExprOp(left: Node, start: number, loc: unknown, strength: number, inFor: unknown): Node;
}

/** A chain whose operators are being parsed; `next` is what was parsed so far when acorn wants to go on with it. */
interface Chain {
  start: number;
  strength: number;
  next: Node | undefined;
}

const Flat = Parser.extend(Base => {
  class ParsesChains extends (Base as unknown as new (...args: unknown[]) => Operators) {
    #chain: Chain | undefined;

    override parseExprOp(left: Node, start: number, loc: unknown, strength: number, inFor: unknown): Node {
      const outer = this.#chain;
      // the last call of acorn's method is for the same chain: what it begins with; operands begin further right
      if (outer?.start === start && outer.strength === strength) {
        outer.next = left;
        return left;
      }
      const chain: Chain = { start, strength, next: left };
      let found = left;
      this.#chain = chain;
      while (chain.next) {
        chain.next = undefined;
        found = super.parseExprOp(found, start, loc, strength, inFor);
      }
      this.#chain = outer;
      return found;
    }
  }
  return ParsesChains as unknown as typeof Parser;
});

/** The syntax tree of an expression; throws acorn's SyntaxError, with `pos`, when the text is none. */
export const parseExpression = (text: string): Expression =>
  Flat.parseExpressionAt(text, 0, { ecmaVersion: 'latest' });
