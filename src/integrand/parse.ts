/**
 * A parser for the text of functions. It makes the tree that acorn makes (ESTree), node for node, in a sixth of acorn's size: a
 * page has to load it. It can be that small because an engine has parsed the text before: what `Function.prototype.toString`
 * gives is a function without early errors, so regular expressions, labels, duplicate names and the like need not be
 * checked. `tests/compiler/parse.test.ts` compares it with acorn.
 */
import type { Expression } from 'acorn';
import type { Node } from './syntax/definitions.ts';
import { ExpressionParser } from './syntax/expressions.ts';

export { ParseError } from './syntax/tokens.ts';

/** The syntax tree of an expression; throws a ParseError when the text does not begin with one. What follows it is not read. */
export const parseExpression = (text: string): Expression =>
  new Parser(text).expression() as unknown as Expression;

class Parser extends ExpressionParser {
  protected override body(): Node {
    const block = this.#block();
    // strings at the beginning, such as 'use strict'
    for (const s of block.body) {
      const { type, expression } = s;
      const isString = type === 'ExpressionStatement' && typeof expression.value === 'string';
      if (!isString || expression.start !== s.start) break;
      s.directive = expression.raw.slice(1, -1);
    }
    return block;
  }

  #block(): Node {
    const { start } = this.expect('{');
    const body: Node[] = [];
    while (!this.take('}')) body.push(this.#statement());
    return this.node('BlockStatement', start, { body });
  }

  #statement(): Node {
    const { start, kind, text, escaped } = this.token;
    if (kind === 'punctuator') {
      if (text === '{') return this.#block();
      if (this.take(';')) return this.node('EmptyStatement', start, {});
      return this.#expressionStatement();
    }
    if (kind !== 'name' || escaped) return this.#expressionStatement();
    switch (text) {
      case 'var':
      case 'const':
        return this.#declaration();
      case 'let':
        return this.#beginsDeclaration() ? this.#declaration() : this.#expressionStatement();
      case 'function':
        return this.function(true);
      case 'class':
        return this.class(true);
      case 'async': {
        const after = this.peek();
        return after.text === 'function' && !after.newLine
          ? this.function(true)
          : this.#expressionStatement();
      }
      case 'if':
        return this.#if();
      case 'for':
        return this.#for();
      case 'while': {
        this.next();
        const test = this.#condition();
        return this.node('WhileStatement', start, { test, ...this.#own() });
      }
      case 'do':
        return this.#do();
      case 'with': {
        this.next();
        const object = this.#condition();
        return this.node('WithStatement', start, { object, ...this.#own() });
      }
      case 'return':
      case 'throw': {
        this.next();
        const argument = this.#ends() ? null : this.expression();
        this.semicolon();
        return this.node(text === 'return' ? 'ReturnStatement' : 'ThrowStatement', start, { argument });
      }
      case 'break':
      case 'continue': {
        this.next();
        const label = this.#ends() ? null : this.identifier();
        this.semicolon();
        return this.node(text === 'break' ? 'BreakStatement' : 'ContinueStatement', start, { label });
      }
      case 'try':
        return this.#try();
      case 'switch':
        return this.#switch();
      case 'debugger':
        this.next();
        this.semicolon();
        return this.node('DebuggerStatement', start, {});
    }
    return this.#expressionStatement();
  }

  /** Whether nothing of this statement follows on this line. */
  #ends(): boolean {
    return this.is(';') || this.is('}') || this.token.kind === 'end' || this.token.newLine;
  }

  #beginsDeclaration(): boolean {
    const { kind, text, escaped } = this.peek();
    if (kind === 'name') return escaped || (text !== 'in' && text !== 'instanceof' && text !== 'of');
    return kind === 'punctuator' && (text === '[' || text === '{');
  }

  /** The statement that belongs to a loop. */
  #own(): { body: Node } {
    return { body: this.#statement() };
  }

  #condition(): Node {
    this.expect('(');
    const found = this.expression();
    this.expect(')');
    return found;
  }

  #expressionStatement(): Node {
    const { start, kind } = this.token;
    const expression = this.expression();
    if (kind === 'name' && expression.type === 'Identifier' && this.take(':')) {
      const { body } = this.#own();
      return this.node('LabeledStatement', start, { body, label: expression });
    }
    this.semicolon();
    return this.node('ExpressionStatement', start, { expression });
  }

  #declaration(): Node {
    const { start } = this.token;
    const declared = this.#variables(false);
    this.semicolon();
    return this.node('VariableDeclaration', start, declared);
  }

  /** The variables of a declaration, without its end. */
  #variables(noIn: boolean): { declarations: Node[]; kind: string } {
    const kind = this.next().text;
    const declarations: Node[] = [];
    do {
      const { start } = this.token;
      const id = this.binding();
      const init = this.take('=') ? this.assignment(noIn) : null;
      declarations.push(this.node('VariableDeclarator', start, { id, init }));
    } while (this.take(','));
    return { declarations, kind };
  }

  #if(): Node {
    const { start } = this.next();
    const test = this.#condition();
    const consequent = this.#statement();
    const alternate = this.take('else') ? this.#statement() : null;
    return this.node('IfStatement', start, { test, consequent, alternate });
  }

  #do(): Node {
    const { start } = this.next();
    const { body } = this.#own();
    this.expect('while');
    const test = this.#condition();
    this.take(';');
    return this.node('DoWhileStatement', start, { body, test });
  }

  #for(): Node {
    const { start } = this.next();
    const waits = this.take('await');
    this.expect('(');
    const from = this.token.start;
    let init: Node | null = null;
    if (this.is('var') || this.is('const') || (this.is('let') && this.#beginsDeclaration())) {
      const declared = this.#variables(true);
      init = this.node('VariableDeclaration', from, declared);
    } else if (!this.is(';')) init = this.expression(true);
    if (init && (this.is('of') || this.is('in'))) {
      const of = this.next().text === 'of';
      const left = init.type === 'VariableDeclaration' ? init : this.pattern(init);
      const right = of ? this.assignment() : this.expression();
      this.expect(')');
      const members = { ...(of && { await: waits }), left, right, ...this.#own() };
      return this.node(of ? 'ForOfStatement' : 'ForInStatement', start, members);
    }
    this.expect(';');
    const test = this.is(';') ? null : this.expression();
    this.expect(';');
    const update = this.is(')') ? null : this.expression();
    this.expect(')');
    return this.node('ForStatement', start, { init, test, update, ...this.#own() });
  }

  #try(): Node {
    const { start } = this.next();
    const block = this.#block();
    let handler: Node | null = null;
    if (this.is('catch')) {
      const at = this.next().start;
      let param: Node | null = null;
      if (this.take('(')) {
        param = this.binding();
        this.expect(')');
      }
      const body = this.#block();
      handler = this.node('CatchClause', at, { param, body });
    }
    const finalizer = this.take('finally') ? this.#block() : null;
    return this.node('TryStatement', start, { block, handler, finalizer });
  }

  #switch(): Node {
    const { start } = this.next();
    const discriminant = this.#condition();
    this.expect('{');
    const cases: Node[] = [];
    while (!this.take('}')) {
      const at = this.token.start;
      const isDefault = this.take('default');
      if (!isDefault) this.expect('case');
      const test = isDefault ? null : this.expression();
      this.expect(':');
      const consequent: Node[] = [];
      while (!this.is('case') && !this.is('default') && !this.is('}')) consequent.push(this.#statement());
      cases.push(this.node('SwitchCase', at, { consequent, test }));
    }
    return this.node('SwitchStatement', start, { discriminant, cases });
  }
}
