/**
 * Gives the functions of a module what they use from outside their text (integrand/captures.ts), by insertions into the text
 * of the module:
 *
 *     integrate(([x]) => lorentz(x, gamma), …)
 *     integrate(Object.assign(([x]) => lorentz(x, gamma), { quadrilleCaptures: () => [lorentz, gamma] }), …)
 *
 *     function lorentz(x, g) { return g / (x * x + width); }
 *     lorentz.quadrilleCaptures = () => [width]; function lorentz(x, g) { … }
 *
 * Nothing is imported for that, so a module needs no way to this package, and an assignment to a member of a function that
 * nobody uses is dropped together with it. Which functions are integrands, or helpers of one, cannot be known from one module.
 * These get their captures:
 *
 * - function literals in calls of this library, as the integrand or in its options, and in a default export;
 * - functions with a name, if they could be in the language and use something of their module: those at the top of any module,
 *   and all of a module that imports this library, where functions that other functions return count as well.
 *
 * Nothing is inserted into a function that may be compiled, except around functions that it returns (lower/toolchains.ts).
 */
import { type AnyNode, type Program, parse } from 'acorn';
import { CAPTURES } from '../integrand/captures.ts';
import { isStackOverflow } from '../integrand/diagnostics.ts';
import { type FunctionLike, freeNames, isFunction } from '../integrand/free-names.ts';
import { couldCompile } from './could-compile.ts';
import { type Insertion, insert, type SourceMap } from './insertions.ts';
import { isLibraryCall, type LibraryNames, libraryNames } from './library-calls.ts';
import { isBound, membersOf, moduleScope, namespaceImports, type Scope, scopeIn } from './scopes.ts';
import { stripTypes } from './strip-types.ts';

/**
 * The module with its captures; null when it has none to make, or cannot be parsed. A text in TypeScript stays one: types are
 * spaces while it is parsed, and insertions go to the same places. `map` is that of steps before.
 */
export function capture(text: string, map?: SourceMap | null): { code: string; map: SourceMap } | null {
  if (!MAY_HAVE_FUNCTIONS.test(text)) return null;
  try {
    const program = parsed(text) ?? parsed(stripTypes(text) ?? '');
    const insertions = program ? new Module(text, program).insertions() : [];
    return insertions.length > 0 ? insert(text, insertions, map) : null;
  } catch (e) {
    if (isStackOverflow(e)) return null; // a sum of thousands of terms: such a module stays as it is
    throw e;
  }
}

const MAY_HAVE_FUNCTIONS = /=>|\bfunction\b|\)\s*\{/;

function parsed(text: string): Program | undefined {
  for (const sourceType of ['module', 'script'] as const) {
    try {
      return parse(text, {
        ecmaVersion: 'latest',
        sourceType,
        allowHashBang: true,
        allowReturnOutsideFunction: true,
        allowAwaitOutsideFunction: true,
      });
    } catch {
      // TypeScript, JSX, or something else that a plugin later in the list understands
    }
  }
  return undefined;
}

type Fits = (f: FunctionLike, scope: Scope) => boolean;

class Module {
  readonly #text: string;
  readonly #program: Program;
  readonly #library: LibraryNames;
  /** Names that stand for a whole module: bundlers turn `phys.width` into a name of its own, so that is what is captured. */
  readonly #namespaces: ReadonlySet<string>;
  readonly #insertions: Insertion[] = [];
  /** Ends of what was put around functions: where several functions end, the innermost comes first. */
  readonly #closings: Insertion[] = [];
  readonly #done = new Set<AnyNode>();

  constructor(text: string, program: Program) {
    this.#text = text;
    this.#program = program;
    this.#library = libraryNames(program);
    this.#namespaces = namespaceImports(program);
  }

  insertions(): Insertion[] {
    this.#visitBlock(this.#program.body, moduleScope(this.#program), false);
    return [...this.#closings.reverse(), ...this.#insertions];
  }

  /** A list of statements, whose scope is given. `compiled`: it is a part of a function that may be compiled. */
  #visitBlock(body: readonly AnyNode[], scope: Scope, compiled: boolean): void {
    const first = body.find(s => !('directive' in s && s.directive))?.start ?? 0;
    const named = !compiled && (this.#library.any || body === this.#program.body);
    for (const statement of body) {
      if (named) this.#named(statement, first, scope);
      this.#visit(statement, scope, compiled);
    }
  }

  #visit(node: AnyNode, scope: Scope, compiled: boolean): void {
    const inner = scopeIn(node, scope);
    if (node.type === 'BlockStatement') return this.#visitBlock(node.body, inner, compiled);
    if (node.type === 'CallExpression' && !compiled && isLibraryCall(node, this.#library))
      for (const a of node.arguments) this.#literals(a, scope);
    const given = returned(node);
    if (given && this.#library.any) this.#literals(given, inner, this.#couldCompile);
    const inside =
      compiled || (isFunction(node) && (this.#done.has(node) || this.#couldCompile(node, scope)));
    for (const child of Object.values(node))
      for (const c of Array.isArray(child) ? child : [child])
        if (c && typeof c === 'object' && typeof c.type === 'string') this.#visit(c, inner, inside);
  }

  /** Functions that a statement gives a name. */
  #named(statement: AnyNode, first: number, scope: Scope): void {
    if (statement.type === 'ExportNamedDeclaration' && statement.declaration)
      this.#named(statement.declaration, first, scope);
    else if (statement.type === 'ExportDefaultDeclaration') {
      const { declaration } = statement;
      if (declaration.type === 'FunctionDeclaration' && declaration.id)
        this.#named(declaration, first, scope);
      else this.#literals(declaration, scope, this.#couldCompile);
    } else if (statement.type === 'FunctionDeclaration' && statement.id)
      // a function may be called before its declaration, so its captures go first
      this.#attach(statement, statement.id.name, first, scope);
    else if (statement.type === 'VariableDeclaration')
      for (const { id, init } of statement.declarations)
        if (id.type === 'Identifier' && init) this.#assigned(init, id.name, statement.end, scope);
  }

  /** A function, or the functions of an object or of a list, that is known as `path` from the offset `at` on. */
  #assigned(value: AnyNode, path: string, at: number, scope: Scope): void {
    if (isFunction(value)) this.#attach(value, path, at, scope);
    const members = membersIn(value);
    // a member that is given twice, or by `...other`, may be no function
    const plain = new Set(members.map(m => m.key)).size === members.length && !hasSpread(value);
    if (plain) for (const m of members) this.#assigned(m.value, `${path}.${m.key}`, at, scope);
    // a list of bounds; in modules that import this library only, since bundlers keep a list that is assigned to
    if (value.type !== 'ArrayExpression' || !this.#library.any) return;
    if (value.elements.some(e => e?.type === 'SpreadElement')) return;
    for (const [i, e] of value.elements.entries()) if (e) this.#assigned(e, `${path}[${i}]`, at, scope);
  }

  /** Function literals in an expression: itself, and those in objects and lists. */
  #literals(value: AnyNode, scope: Scope, fits: Fits = () => true): void {
    if (isFunction(value) && fits(value, scope)) this.#wrap(value, scope);
    for (const { key, value: member, method } of membersIn(value)) {
      if (CALLBACKS.has(key)) continue;
      if (!method) this.#literals(member, scope, fits);
      else if (isFunction(member) && fits(member, scope))
        this.#wrap(member, scope, ': Object.assign(function ');
    }
    if (value.type === 'ArrayExpression')
      for (const e of value.elements) if (e) this.#literals(e, scope, fits);
  }

  #wrap(f: FunctionLike, scope: Scope, opening = 'Object.assign('): void {
    const list = this.#listFor(f, scope);
    if (!list) return;
    this.#insertions.push({ at: f.start, text: opening });
    // a declaration that is exported by default ends without a semicolon
    const end = f.type === 'FunctionDeclaration' ? ';' : '';
    this.#closings.push({ at: f.end, text: `, { ${CAPTURES}: ${list} })${end}` });
  }

  #attach(f: FunctionLike, path: string, at: number, scope: Scope): void {
    const list = this.#couldCompile(f, scope) && this.#listFor(f, scope);
    // it stands behind a declaration that may lack its semicolon, or before the first statement of a block
    const gap = at >= f.end ? (this.#text[at - 1] === ';' ? ' ' : '; ') : '';
    if (list) this.#insertions.push({ at, text: `${gap}${path}.${CAPTURES} = ${list};${gap ? '' : ' '}` });
  }

  /** Whether a function may be compiled: one that calls this library is none. */
  readonly #couldCompile: Fits = (f, scope) => {
    const { functions, objects } = this.#library;
    return (
      couldCompile(f, scope) && ![...freeNames(f)].some(name => functions.has(name) || objects.has(name))
    );
  };

  /** The text of the list of what a function captures; undefined when it captures nothing, or has its list already. */
  #listFor(f: FunctionLike, scope: Scope): string | undefined {
    if (this.#done.has(f)) return undefined;
    this.#done.add(f);
    const references = [...freeNames(f)]
      .filter(name => isBound(name, scope))
      .flatMap(name => (this.#namespaces.has(name) ? membersOf(f, name) : [name]));
    return references.length > 0 ? `() => [${references.join(', ')}]` : undefined;
  }
}

/** Options that are called, and never compiled. */
const CALLBACKS: ReadonlySet<string> = new Set(['onProgress', 'onResult']);

/** The members of an object literal that have plain names; none for anything else. */
function membersIn(value: AnyNode): { key: string; value: AnyNode; method: boolean }[] {
  if (value.type !== 'ObjectExpression') return [];
  return value.properties.flatMap(p =>
    p.type === 'Property' && !p.computed && p.kind === 'init' && p.key.type === 'Identifier'
      ? [{ key: p.key.name, value: p.value, method: p.method }]
      : [],
  );
}

const hasSpread = (value: AnyNode): boolean =>
  value.type === 'ObjectExpression' && value.properties.some(p => p.type === 'SpreadElement' || p.computed);

/** What a function returns, at its arrow or a `return`. */
function returned(node: AnyNode): AnyNode | undefined {
  if (node.type === 'ReturnStatement') return node.argument ?? undefined;
  return node.type === 'ArrowFunctionExpression' && node.body.type !== 'BlockStatement'
    ? node.body
    : undefined;
}
