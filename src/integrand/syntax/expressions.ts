/** Parses expressions by precedence. What looked like an expression and was the arguments of an arrow function is told by `=>`. */
import { DefinitionParser, type Node } from './definitions.ts';
import { numberOf, unescaped } from './tokens.ts';

// biome-ignore format: one strength per line
const STRENGTH = new Map(
  [
    ['??'], ['||'], ['&&'], ['|'], ['^'], ['&'],
    ['==', '!=', '===', '!=='],
    ['<', '>', '<=', '>=', 'instanceof', 'in'],
    ['<<', '>>', '>>>'],
    ['+', '-'],
    ['*', '/', '%'],
    ['**'],
  ].flatMap((row, i) => row.map(op => [op, i + 1] as const)),
);
const POWER = STRENGTH.get('**')!;
const ASSIGNMENTS = new Set(
  ['', '+', '-', '*', '/', '%', '**', '<<', '>>', '>>>', '&', '|', '^', '&&', '||', '??'].map(op => `${op}=`),
);
const UNARY = new Set(['!', '~', '+', '-', 'typeof', 'void', 'delete']);
export abstract class ExpressionParser extends DefinitionParser {
  /** The last arrow function, unless it was in brackets: nothing can follow it in its expression. */
  #arrowFunction: Node | null = null;

  expression(noIn = false): Node {
    const { start } = this.token;
    const first = this.assignment(noIn);
    if (!this.is(',')) return first;
    const expressions = [first];
    while (this.take(',')) expressions.push(this.assignment(noIn));
    return this.node('SequenceExpression', start, { expressions });
  }

  override assignment(noIn = false): Node {
    const { start } = this.token;
    if (this.inside.generator && this.is('yield')) return this.#yield(noIn);
    const left = this.#conditional(noIn);
    const { text } = this.token;
    if (this.token.kind !== 'punctuator' || !ASSIGNMENTS.has(text) || left === this.#arrowFunction)
      return left;
    this.next();
    const target = text === '=' ? this.pattern(left) : left;
    const right = this.assignment(noIn);
    return this.node('AssignmentExpression', start, { operator: text, left: target, right });
  }

  #yield(noIn: boolean): Node {
    const { start } = this.next();
    const ends = this.token.newLine || [')', ']', '}', ',', ';', ':'].some(t => this.is(t));
    if (ends || this.token.kind === 'end')
      return this.node('YieldExpression', start, { delegate: false, argument: null });
    const delegate = this.take('*');
    return this.node('YieldExpression', start, { delegate, argument: this.assignment(noIn) });
  }

  #conditional(noIn: boolean): Node {
    const { start } = this.token;
    const test = this.#binary(0, noIn);
    if (test === this.#arrowFunction || !this.take('?')) return test;
    const consequent = this.assignment();
    this.expect(':');
    const alternate = this.assignment(noIn);
    return this.node('ConditionalExpression', start, { test, consequent, alternate });
  }

  /** Operators stronger than `least`. A chain is a loop, not recursion: computer algebra prints sums of thousands of terms. */
  #binary(least: number, noIn: boolean): Node {
    const { start } = this.token;
    let left = this.token.kind === 'private' ? this.privateName() : this.#unary();
    for (;;) {
      const operator = this.token.text;
      const strength = this.is(operator) ? STRENGTH.get(operator) : undefined;
      if (strength === undefined || strength <= least || (noIn && operator === 'in')) return left;
      if (left === this.#arrowFunction) return left;
      if (strength === POWER && left.type === 'UnaryExpression' && left.start === start) this.unexpected(); // -x ** 2
      this.next();
      const right = this.#binary(strength === POWER ? strength - 1 : strength, noIn);
      const type = ['??', '||', '&&'].includes(operator) ? 'LogicalExpression' : 'BinaryExpression';
      // without brackets ?? does not stand beside || and &&
      const mixed = (n: Node) =>
        n.type === 'LogicalExpression' && (n.operator === '??') !== (operator === '??');
      const bare = (mixed(left) && left.start === start) || (mixed(right) && right.end === this.lastEnd);
      if (bare && type === 'LogicalExpression') this.unexpected();
      left = this.node(type, start, { left, operator, right });
    }
  }

  #unary(): Node {
    const { start, text } = this.token;
    if (this.inside.async && this.is('await')) {
      this.next();
      return this.node('AwaitExpression', start, { argument: this.#unary() });
    }
    if (this.is('++') || this.is('--')) {
      this.next();
      return this.node('UpdateExpression', start, { operator: text, prefix: true, argument: this.#unary() });
    }
    if (UNARY.has(text) && this.is(text)) {
      this.next();
      return this.node('UnaryExpression', start, { operator: text, prefix: true, argument: this.#unary() });
    }
    const argument = this.leftHandSide();
    const operator = this.token.text;
    if ((!this.is('++') && !this.is('--')) || this.token.newLine) return argument;
    this.next();
    return this.node('UpdateExpression', start, { operator, prefix: false, argument });
  }

  /** A primary expression with all members, calls and templates behind it. */
  protected override leftHandSide(): Node {
    const { start } = this.token;
    const first = this.primary();
    if (first === this.#arrowFunction) return first;
    const chain = this.#subscripts(first, start, true);
    return chain.optional ? this.node('ChainExpression', start, { expression: chain.node }) : chain.node;
  }

  #subscripts(first: Node, start: number, calls: boolean): { node: Node; optional: boolean } {
    let [node, any] = [first, false];
    for (;;) {
      const optional = calls && this.take('?.');
      any ||= optional;
      if (calls && this.is('(')) {
        node = this.node('CallExpression', start, { callee: node, arguments: this.#arguments(), optional });
      } else if (this.take('[')) {
        const property = this.expression();
        this.expect(']');
        node = this.node('MemberExpression', start, { object: node, property, computed: true, optional });
      } else if (optional || this.take('.')) {
        const property = this.token.kind === 'private' ? this.privateName() : this.identifier(true);
        node = this.node('MemberExpression', start, { object: node, property, computed: false, optional });
      } else if (this.token.kind === 'template') {
        const quasi = this.#template();
        node = this.node('TaggedTemplateExpression', start, { tag: node, quasi });
      } else return { node, optional: any };
    }
  }

  #arguments(): Node[] {
    this.expect('(');
    return this.#list(')');
  }

  /** Assignments and spread elements, separated by commas, up to a closing token. */
  #list(close: string): Node[] {
    const found: Node[] = [];
    while (!this.take(close)) {
      found.push(this.is('...') ? this.spread() : this.assignment());
      if (!this.is(close)) this.expect(',');
    }
    return found;
  }

  protected override primary(): Node {
    const { token } = this;
    const { start, kind, text } = token;
    if (kind === 'number') return this.literal(numberOf(text));
    if (kind === 'string') return this.literal(unescaped(text.slice(1, -1)));
    if (kind === 'template') return this.#template();
    if (kind === 'punctuator') return this.#bracketed(text);
    if (kind !== 'name') this.unexpected();
    if (token.escaped) return this.#named();
    switch (text) {
      case 'this':
      case 'super':
        this.next();
        return this.node(text === 'this' ? 'ThisExpression' : 'Super', start, {});
      case 'null':
        return this.literal(null);
      case 'true':
      case 'false':
        return this.literal(text === 'true');
      case 'function':
        return this.function(false);
      case 'class':
        return this.class(false);
      case 'new':
        return this.#new();
      case 'import':
        return this.#import();
      case 'async': {
        const after = this.peek();
        if (after.newLine || after.kind !== 'name' || after.escaped) break;
        if (after.text === 'function') return this.function(false);
        if (after.text === 'in' || after.text === 'of' || after.text === 'instanceof') break;
        this.next();
        return this.#arrow(start, [this.identifier()], true);
      }
    }
    return this.#named();
  }

  /** A name: an arrow function's only argument, `async (…) =>`, or a variable. */
  #named(): Node {
    const { start } = this.token;
    const maybeAsync = this.is('async');
    const id = this.identifier();
    if (this.is('=>') && !this.token.newLine) return this.#arrow(start, [id], false);
    if (maybeAsync && this.is('(') && !this.token.newLine) {
      const found = this.#arguments();
      if (this.is('=>') && !this.token.newLine) return this.#arrow(start, found, true);
      return this.node('CallExpression', start, { callee: id, arguments: found, optional: false });
    }
    return id;
  }

  #bracketed(text: string): Node {
    const { start } = this.token;
    if (text === '(') return this.#parenthesised();
    if (text === '[') {
      this.next();
      const elements: (Node | null)[] = [];
      while (!this.take(']')) {
        if (this.is(',')) elements.push(null);
        else elements.push(this.is('...') ? this.spread() : this.assignment());
        if (!this.is(']')) this.expect(',');
      }
      return this.node('ArrayExpression', start, { elements });
    }
    if (text === '{') return this.object();
    if (text === '/' || text === '/=') {
      const regex = this.regex();
      return this.literal(regexOf(regex), { regex });
    }
    return this.unexpected();
  }

  #parenthesised(): Node {
    const { start } = this.next();
    const inner = this.token.start;
    let end = inner;
    const found: Node[] = [];
    let onlyArguments = this.is(')'); // (), a rest element and a comma at the end are no expression
    while (!this.take(')')) {
      onlyArguments = this.is('...');
      found.push(onlyArguments ? this.spread() : this.assignment());
      end = this.lastEnd;
      if (this.is(')')) continue;
      this.expect(',');
      onlyArguments = this.is(')');
    }
    if (this.is('=>') && !this.token.newLine) return this.#arrow(start, found, false);
    if (onlyArguments) this.unexpected();
    this.#arrowFunction = null;
    if (found.length === 1) return found[0];
    return this.node('SequenceExpression', inner, { expressions: found }, end);
  }

  #arrow(start: number, given: readonly Node[], async: boolean): Node {
    this.expect('=>');
    const params = given.map(p => this.pattern(p));
    return this.within({ async, generator: false }, () => {
      const expression = !this.is('{');
      const body = expression ? this.assignment() : this.body();
      const members = { id: null, expression, generator: false, async, params, body };
      this.#arrowFunction = this.node('ArrowFunctionExpression', start, members);
      return this.#arrowFunction;
    });
  }

  #new(): Node {
    const { start } = this.next();
    if (this.take('.')) {
      const meta = this.node('Identifier', start, { name: 'new' }, start + 3);
      return this.node('MetaProperty', start, { meta, property: this.identifier() });
    }
    const from = this.token.start;
    const callee = this.#subscripts(this.primary(), from, false).node;
    return this.node('NewExpression', start, { callee, arguments: this.is('(') ? this.#arguments() : [] });
  }

  #import(): Node {
    const { start, end } = this.next();
    if (this.take('.')) {
      const meta = this.node('Identifier', start, { name: 'import' }, end);
      return this.node('MetaProperty', start, { meta, property: this.identifier() });
    }
    const [source, options = null] = this.#arguments();
    return this.node('ImportExpression', start, { source, options });
  }

  #template(): Node {
    const { start } = this.token;
    const quasis: Node[] = [];
    const expressions: Node[] = [];
    for (;;) {
      const { raw, start: from, last } = this.chunk();
      const plain = raw.replace(/\r\n?/g, '\n');
      const value = { raw: plain, cooked: unescaped(plain) };
      quasis.push(this.node('TemplateElement', from, { value, tail: last }, from + raw.length));
      if (last) return this.node('TemplateLiteral', start, { expressions, quasis });
      expressions.push(this.expression());
      if (!this.is('}')) this.unexpected();
    }
  }
}

/** The object of a literal; null where this engine cannot make it, as in acorn. */
function regexOf({ pattern, flags }: { pattern: string; flags: string }): RegExp | null {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return null;
  }
}
