/**
 * Parses expressions by precedence. Patterns and the arguments of arrow functions look like expressions until `=` or `=>`
 * follows: they are parsed as such, and turned into patterns then.
 */
import { numberOf, type Token, Tokens, unescaped } from './tokens.ts';

/** A node of the tree, before it has the type that acorn declares for it. */
export interface Node {
  type: string;
  start: number;
  end: number;
  // biome-ignore lint/suspicious/noExplicitAny: members depend on the type, which callers have just read
  [member: string]: any;
}

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
/** Names that are no identifiers. */
const KEYWORDS = new Set(
  'break case catch class const continue debugger default delete do else export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with'.split(
    ' ',
  ),
);

/** What a function is, for the words that mean something in it. */
interface FunctionKind {
  async: boolean;
  generator: boolean;
}

export abstract class ExpressionParser extends Tokens {
  #inside: FunctionKind = { async: false, generator: false };
  /** The last arrow function, unless it was in brackets: nothing can follow it in its expression. */
  #arrowFunction: Node | null = null;

  /** The statements of a function between braces. */
  protected abstract body(): Node;

  protected node(type: string, start: number, members: object, end = this.lastEnd): Node {
    return { type, start, end, ...members };
  }

  expression(noIn = false): Node {
    const { start } = this.token;
    const first = this.assignment(noIn);
    if (!this.is(',')) return first;
    const expressions = [first];
    while (this.take(',')) expressions.push(this.assignment(noIn));
    return this.node('SequenceExpression', start, { expressions });
  }

  assignment(noIn = false): Node {
    const { start } = this.token;
    if (this.#inside.generator && this.is('yield')) return this.#yield(noIn);
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
    let left = this.token.kind === 'private' ? this.#private() : this.#unary();
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
    if (this.#inside.async && this.is('await')) {
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
    const argument = this.#leftHandSide();
    const operator = this.token.text;
    if ((!this.is('++') && !this.is('--')) || this.token.newLine) return argument;
    this.next();
    return this.node('UpdateExpression', start, { operator, prefix: false, argument });
  }

  /** A primary expression with all members, calls and templates behind it. */
  #leftHandSide(): Node {
    const { start } = this.token;
    const first = this.#primary();
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
        const property = this.token.kind === 'private' ? this.#private() : this.identifier(true);
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
      found.push(this.is('...') ? this.#spread() : this.assignment());
      if (!this.is(close)) this.expect(',');
    }
    return found;
  }

  #spread(): Node {
    const { start } = this.expect('...');
    return this.node('SpreadElement', start, { argument: this.assignment() });
  }

  identifier(anyWord = false): Node {
    const { kind, text, escaped } = this.token;
    if (kind !== 'name' || (!anyWord && !escaped && KEYWORDS.has(text))) this.unexpected();
    const { start } = this.next();
    return this.node('Identifier', start, { name: text });
  }

  #private(): Node {
    const { start, text } = this.next();
    return this.node('PrivateIdentifier', start, { name: text });
  }

  #primary(): Node {
    const { token } = this;
    const { start, kind, text } = token;
    if (kind === 'number') return this.#literal(numberOf(text));
    if (kind === 'string') return this.#literal(unescaped(text.slice(1, -1)));
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
        return this.#literal(null);
      case 'true':
      case 'false':
        return this.#literal(text === 'true');
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
        else elements.push(this.is('...') ? this.#spread() : this.assignment());
        if (!this.is(']')) this.expect(',');
      }
      return this.node('ArrayExpression', start, { elements });
    }
    if (text === '{') return this.#object();
    if (text === '/' || text === '/=') {
      const regex = this.regex();
      return this.#literal(regexOf(regex), { regex });
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
      found.push(onlyArguments ? this.#spread() : this.assignment());
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
    return this.#within({ async, generator: false }, () => {
      const expression = !this.is('{');
      const body = expression ? this.assignment() : this.body();
      const members = { id: null, expression, generator: false, async, params, body };
      this.#arrowFunction = this.node('ArrowFunctionExpression', start, members);
      return this.#arrowFunction;
    });
  }

  #within<T>(kind: FunctionKind, parse: () => T): T {
    const outer = this.#inside;
    this.#inside = kind;
    const found = parse();
    this.#inside = outer;
    return found;
  }

  /** A function with its keyword, in a statement or in an expression. */
  function(declared: boolean): Node {
    const { start } = this.token;
    const async = this.take('async');
    this.expect('function');
    const generator = this.take('*');
    const id = this.is('(') ? null : this.identifier();
    const type = declared ? 'FunctionDeclaration' : 'FunctionExpression';
    return this.node(type, start, { id, expression: false, ...this.#parts({ async, generator }) });
  }

  /** Arguments and body. */
  #parts(kind: FunctionKind): object {
    return this.#within(kind, () => {
      this.expect('(');
      const params: Node[] = [];
      while (!this.take(')')) {
        params.push(this.is('...') ? this.pattern(this.#spread()) : this.bindingWithDefault());
        if (!this.is(')')) this.expect(',');
      }
      return { generator: kind.generator, async: kind.async, params, body: this.body() };
    });
  }

  #method(kind: FunctionKind): Node {
    const { start } = this.token;
    return this.node('FunctionExpression', start, { id: null, expression: false, ...this.#parts(kind) });
  }

  #new(): Node {
    const { start } = this.next();
    if (this.take('.')) {
      const meta = this.node('Identifier', start, { name: 'new' }, start + 3);
      return this.node('MetaProperty', start, { meta, property: this.identifier() });
    }
    const from = this.token.start;
    const callee = this.#subscripts(this.#primary(), from, false).node;
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

  #literal(value: unknown, more: object = {}): Node {
    const { start, end } = this.next();
    const raw = this.text.slice(start, end);
    const bigint = typeof value === 'bigint' ? { bigint: String(value) } : {};
    return this.node('Literal', start, { value, raw, ...bigint, ...more });
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

  #object(): Node {
    const { start } = this.next();
    const properties: Node[] = [];
    while (!this.take('}')) {
      properties.push(this.is('...') ? this.#spread() : this.#property());
      if (!this.is('}')) this.expect(',');
    }
    return this.node('ObjectExpression', start, { properties });
  }

  /** Words before the name of a member, such as `async` and `get`; one that is followed by no name is the name itself. */
  #modifiers(words: readonly string[]): Set<string> {
    const found = new Set<string>();
    for (;;) {
      const word = words.find(w => this.is(w) && !found.has(w));
      if (!word) return found;
      const after = this.peek();
      const ends = ['(', ',', ':', '=', '}', ';'].includes(after.text) && after.kind === 'punctuator';
      if (ends || after.kind === 'end' || (word === 'async' && after.newLine)) return found;
      this.next();
      found.add(word);
    }
  }

  /** The name of a member: `a`, `'a'`, `1`, `[a]`. */
  #key(): { key: Node; computed: boolean } {
    if (this.take('[')) {
      const key = this.assignment();
      this.expect(']');
      return { key, computed: true };
    }
    const { kind, text } = this.token;
    if (kind === 'number') return { key: this.#literal(numberOf(text)), computed: false };
    if (kind === 'string') return { key: this.#literal(unescaped(text.slice(1, -1))), computed: false };
    return { key: kind === 'private' ? this.#private() : this.identifier(true), computed: false };
  }

  #property(): Node {
    const { start } = this.token;
    const words = this.#modifiers(['async', 'get', 'set']);
    const generator = this.take('*');
    const isName = this.token.kind === 'name';
    const { key, computed } = this.#key();
    const kind = words.has('get') ? 'get' : words.has('set') ? 'set' : 'init';
    const property = (value: Node, method = false, shorthand = false) =>
      this.node('Property', start, { method, shorthand, computed, key, value, kind });
    if (this.is('(')) {
      const value = this.#method({ async: words.has('async'), generator });
      return property(value, kind === 'init');
    }
    if (this.take(':')) return property(this.assignment());
    if (!isName) this.unexpected();
    if (!this.take('=')) return property({ ...key }, false, true);
    // a default, which only a pattern may have
    const right = this.assignment();
    const value = this.node('AssignmentPattern', start, { left: { ...key }, right });
    return property(value, false, true);
  }

  class(declared: boolean): Node {
    const { start } = this.expect('class');
    const id = this.is('{') || this.is('extends') ? null : this.identifier();
    const superClass = this.take('extends') ? this.#leftHandSide() : null;
    const from = this.expect('{').start;
    const body: Node[] = [];
    while (!this.take('}')) if (!this.take(';')) body.push(this.#member());
    const type = declared ? 'ClassDeclaration' : 'ClassExpression';
    return this.node(type, start, { id, superClass, body: this.node('ClassBody', from, { body }) });
  }

  #member(): Node {
    const { start } = this.token;
    if (this.is('static') && this.peek().text === '{' && this.peek().kind === 'punctuator') {
      this.next();
      const { body } = this.#within({ async: false, generator: false }, () => this.body());
      return this.node('StaticBlock', start, { body });
    }
    const words = this.#modifiers(['static', 'async', 'get', 'set']);
    const generator = this.take('*');
    const { key, computed } = this.#key();
    const own = { static: words.has('static'), computed, key };
    if (this.is('(')) {
      const isConstructor = !own.static && !computed && (key.name ?? key.value) === 'constructor';
      const plain = isConstructor && key.type !== 'PrivateIdentifier' ? 'constructor' : 'method';
      const kind = words.has('get') ? 'get' : words.has('set') ? 'set' : plain;
      const value = this.#method({ async: words.has('async'), generator });
      return this.node('MethodDefinition', start, { ...own, kind, value });
    }
    const value = this.take('=')
      ? this.#within({ async: false, generator: false }, () => this.assignment())
      : null;
    this.semicolon();
    return this.node('PropertyDefinition', start, { ...own, value });
  }

  /** A statement ends here: at a semicolon, or where JavaScript puts one. */
  semicolon(): void {
    if (this.take(';') || this.is('}') || this.token.kind === 'end' || this.token.newLine) return;
    this.unexpected();
  }

  /** What a declaration names: a variable, or a pattern of them. */
  binding(): Node {
    return this.is('[') || this.is('{') ? this.pattern(this.#primary()) : this.identifier();
  }

  bindingWithDefault(): Node {
    const { start } = this.token;
    const left = this.binding();
    if (!this.take('=')) return left;
    return this.node('AssignmentPattern', start, { left, right: this.assignment() });
  }

  /** The pattern that an expression turns out to be. */
  pattern(node: Node): Node {
    switch (node.type) {
      case 'ArrayExpression':
        node.type = 'ArrayPattern';
        node.elements = node.elements.map((e: Node | null) => e && this.pattern(e));
        return node;
      case 'ObjectExpression':
        node.type = 'ObjectPattern';
        for (const p of node.properties)
          if (p.type === 'SpreadElement') this.pattern(p);
          else p.value = this.pattern(p.value);
        return node;
      case 'AssignmentExpression': {
        const { operator: _, ...rest } = node;
        return { ...rest, type: 'AssignmentPattern' } as Node;
      }
      case 'SpreadElement':
        node.type = 'RestElement';
        node.argument = this.pattern(node.argument);
        return node;
      case 'Identifier':
      case 'MemberExpression':
      case 'ArrayPattern':
      case 'ObjectPattern':
      case 'AssignmentPattern':
      case 'RestElement':
        return node;
    }
    return this.unexpected({ start: node.start } as Token);
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
