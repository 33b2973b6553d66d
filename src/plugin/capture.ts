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
 *   and all of a module that imports this library.
 */
import { type AnyNode, type Program, parse } from 'acorn';
import { CAPTURES } from '../integrand/captures.ts';
import { type FunctionLike, freeNames, isFunction } from '../integrand/free-names.ts';
import { couldCompile } from './could-compile.ts';
import { type Insertion, insert, type SourceMap } from './insertions.ts';
import { isLibraryCall, type LibraryNames, libraryNames } from './library-calls.ts';
import { isBound, membersOf, moduleScope, namespaceImports, type Scope, scopeIn } from './scopes.ts';

/** The module with its captures; null when it has none to make, or is no JavaScript. `map` is that of steps before. */
export function capture(text: string, map?: SourceMap | null): { code: string; map: SourceMap } | null {
  if (!MAY_HAVE_FUNCTIONS.test(text)) return null;
  const program = parsed(text);
  if (!program) return null;
  const insertions = new Module(program).insertions();
  return insertions.length > 0 ? insert(text, insertions, map) : null;
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

class Module {
  readonly #program: Program;
  readonly #library: LibraryNames;
  /** Names that stand for a whole module: bundlers turn `phys.width` into a name of its own, so that is what is captured. */
  readonly #namespaces: ReadonlySet<string>;
  readonly #insertions: Insertion[] = [];
  readonly #done = new Set<AnyNode>();

  constructor(program: Program) {
    this.#program = program;
    this.#library = libraryNames(program);
    this.#namespaces = namespaceImports(program);
  }

  insertions(): Insertion[] {
    this.#visitBlock(this.#program, moduleScope(this.#program));
    return this.#insertions;
  }

  /** A list of statements, whose scope is given. */
  #visitBlock(block: { body: AnyNode[] }, scope: Scope): void {
    const first = block.body.find(s => !('directive' in s && s.directive))?.start ?? 0;
    const top = block.body === (this.#program.body as AnyNode[]);
    for (const statement of block.body) {
      if (top || this.#library.any) this.#named(statement, first, scope);
      this.#visit(statement, scope);
    }
  }

  /** Functions that a statement gives a name. */
  #named(statement: AnyNode, first: number, scope: Scope): void {
    if (statement.type === 'ExportNamedDeclaration' && statement.declaration)
      return this.#named(statement.declaration, first, scope);
    if (statement.type === 'ExportDefaultDeclaration')
      return this.#default(statement.declaration, first, scope);
    // a function may be called before its declaration, so its captures go first
    if (statement.type === 'FunctionDeclaration' && statement.id)
      return this.#attach(statement, statement.id.name, first, scope);
    if (statement.type !== 'VariableDeclaration') return;
    for (const { id, init } of statement.declarations)
      if (id.type === 'Identifier' && init) this.#assigned(init, id.name, statement.end, scope);
  }

  /** A function, or the functions of an object, that is known as `path` from the offset `at` on. */
  #assigned(value: AnyNode, path: string, at: number, scope: Scope): void {
    if (isFunction(value)) this.#attach(value, path, at, scope);
    else if (value.type === 'ObjectExpression') {
      for (const p of value.properties)
        if (p.type === 'Property' && !p.computed && p.kind === 'init' && p.key.type === 'Identifier')
          this.#assigned(p.value, `${path}.${p.key.name}`, at, scope);
    }
  }

  #default(value: AnyNode, first: number, scope: Scope): void {
    if (value.type === 'FunctionDeclaration' && value.id) this.#attach(value, value.id.name, first, scope);
    else this.#wrapAll(value, scope, couldCompile);
  }

  /** Function literals in an expression: the integrand itself, and those in an object of options. */
  #wrapAll(value: AnyNode, scope: Scope, fits: typeof couldCompile = () => true): void {
    if (isFunction(value)) {
      if (fits(value, scope)) this.#wrap(value, scope);
    } else if (value.type === 'ObjectExpression') {
      for (const p of value.properties) {
        const name = p.type === 'Property' && p.key.type === 'Identifier' ? p.key.name : '';
        if (p.type === 'Property' && !p.computed && !CALLBACKS.has(name) && !p.method && p.kind === 'init')
          this.#wrapAll(p.value, scope, fits);
      }
    } else if (value.type === 'ArrayExpression') {
      for (const e of value.elements) if (e) this.#wrapAll(e, scope, fits);
    }
  }

  #visit(node: AnyNode, scope: Scope): void {
    if (node.type === 'CallExpression' && isLibraryCall(node, this.#library))
      for (const a of node.arguments) this.#wrapAll(a, scope);
    const inner = scopeIn(node, scope);
    if (node.type === 'BlockStatement') return this.#visitBlock(node, inner);
    for (const child of Object.values(node))
      for (const c of Array.isArray(child) ? child : [child])
        if (c && typeof c === 'object' && typeof c.type === 'string') this.#visit(c, inner);
  }

  #wrap(f: FunctionLike, scope: Scope): void {
    const list = this.#listFor(f, scope);
    if (!list || this.#done.has(f)) return;
    this.#done.add(f);
    this.#insertions.push({ at: f.start, text: 'Object.assign(' });
    // a declaration that is exported by default ends without a semicolon
    const end = f.type === 'FunctionDeclaration' ? ';' : '';
    this.#insertions.push({ at: f.end, text: `, { ${CAPTURES}: ${list} })${end}` });
  }

  #attach(f: FunctionLike, path: string, at: number, scope: Scope): void {
    if (!couldCompile(f, scope)) return;
    const list = this.#listFor(f, scope);
    if (!list || this.#done.has(f)) return;
    this.#done.add(f);
    this.#insertions.push({ at, text: `; ${path}.${CAPTURES} = ${list}; ` });
  }

  /** The text of the list of what a function captures; undefined when it captures nothing. */
  #listFor(f: FunctionLike, scope: Scope): string | undefined {
    const references = [...freeNames(f)]
      .filter(name => isBound(name, scope))
      .flatMap(name => this.#references(f, name));
    return references.length > 0 ? `() => [${references.join(', ')}]` : undefined;
  }

  #references(f: FunctionLike, name: string): string[] {
    return this.#namespaces.has(name) ? membersOf(f, name) : [name];
  }
}

/** Options that are called, and never compiled. */
const CALLBACKS: ReadonlySet<string> = new Set(['onProgress', 'onResult']);
