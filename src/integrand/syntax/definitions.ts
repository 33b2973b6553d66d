/**
 * Parses what defines names: functions, objects, classes, and the patterns of arguments and declarations. Patterns look like
 * expressions until `=` or `=>` follows: they are parsed as such, and turned into patterns then.
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

export abstract class DefinitionParser extends Tokens {
  /** The function around. */
  protected inside: FunctionKind = { async: false, generator: false };

  /** The statements of a function between braces. */
  protected abstract body(): Node;

  /** An expression without a comma; one with its members and calls; one without. */
  abstract assignment(noIn?: boolean): Node;
  protected abstract leftHandSide(): Node;
  protected abstract primary(): Node;

  protected node(type: string, start: number, members: object, end = this.lastEnd): Node {
    return { type, start, end, ...members };
  }

  identifier(anyWord = false): Node {
    const { kind, text, escaped } = this.token;
    if (kind !== 'name' || (!anyWord && !escaped && KEYWORDS.has(text))) this.unexpected();
    const { start } = this.next();
    return this.node('Identifier', start, { name: text });
  }

  protected privateName(): Node {
    const { start, text } = this.next();
    return this.node('PrivateIdentifier', start, { name: text });
  }

  protected literal(value: unknown, more: object = {}): Node {
    const { start, end } = this.next();
    const raw = this.text.slice(start, end);
    const bigint = typeof value === 'bigint' ? { bigint: String(value) } : {};
    return this.node('Literal', start, { value, raw, ...bigint, ...more });
  }

  protected spread(): Node {
    const { start } = this.expect('...');
    return this.node('SpreadElement', start, { argument: this.assignment() });
  }

  protected within<T>(kind: FunctionKind, parse: () => T): T {
    const outer = this.inside;
    this.inside = kind;
    const found = parse();
    this.inside = outer;
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
    return this.within(kind, () => {
      this.expect('(');
      const params: Node[] = [];
      while (!this.take(')')) {
        params.push(this.is('...') ? this.pattern(this.spread()) : this.bindingWithDefault());
        if (!this.is(')')) this.expect(',');
      }
      return { generator: kind.generator, async: kind.async, params, body: this.body() };
    });
  }

  #method(kind: FunctionKind): Node {
    const { start } = this.token;
    return this.node('FunctionExpression', start, { id: null, expression: false, ...this.#parts(kind) });
  }

  protected object(): Node {
    const { start } = this.next();
    const properties: Node[] = [];
    while (!this.take('}')) {
      properties.push(this.is('...') ? this.spread() : this.#property());
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
    if (kind === 'number') return { key: this.literal(numberOf(text)), computed: false };
    if (kind === 'string') return { key: this.literal(unescaped(text.slice(1, -1))), computed: false };
    return { key: kind === 'private' ? this.privateName() : this.identifier(true), computed: false };
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
    const superClass = this.take('extends') ? this.leftHandSide() : null;
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
      const { body } = this.within({ async: false, generator: false }, () => this.body());
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
      ? this.within({ async: false, generator: false }, () => this.assignment())
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
    return this.is('[') || this.is('{') ? this.pattern(this.primary()) : this.identifier();
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
