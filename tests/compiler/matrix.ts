/**
 * Entries of the matrix: every kind of expression and statement of JavaScript, with operands of every kind; every function of
 * `Math`, `Number`, `Array`, of the global object and of our own library, with none to four arguments of every kind. Each entry
 * is the body of a function of (x, p, m).
 */

/** Operands by kind. Those of one kind are alike to the compiler, so pairs take the first of each. */
export const OPERANDS: Record<string, readonly string[]> = {
  number: ['x[0]', '2.5', '(-0)', '(x[1] - 0.5)'],
  NaN: ['NaN'],
  boolean: ['(x[0] > 0.4)', 'true', 'p.on'],
  string: ["'0.5'", "''", "'a'"],
  undefined: ['undefined'],
  null: ['null'],
  array: ['[x[0], 2, 3]', '[]', 'Array(2)', '[[1], x[0]]'],
  point: ['x'],
  typed: ['p.w', 'p.bytes'],
  table: ['p.t'],
  object: ['({ a: x[0], length: 2 })', '({})'],
  function: ['(t => t)', '(() => x[0])', 'Math.abs'],
  namespace: ['Math', 'p', 'm', 'Number', 'Array'],
  bigint: ['1n'],
  regexp: ['/a/'],
  element: ['p.w[Math.floor(9 * x[0])]'],
};
const KINDS = Object.keys(OPERANDS);
const ALL = KINDS.flatMap(k => OPERANDS[k]);
const FIRST = KINDS.map(k => OPERANDS[k][0]);

// biome-ignore format: one family per line
const BINARY = ['+', '-', '*', '/', '%', '**', '==', '!=', '===', '!==', '<', '<=', '>', '>=', '&', '|', '^', '<<', '>>', '>>>', 'in', 'instanceof', '&&', '||', '??', ','];
// biome-ignore format: one family per line
const ASSIGNMENT = ['=', '+=', '-=', '*=', '/=', '%=', '**=', '<<=', '>>=', '>>>=', '&=', '^=', '|=', '&&=', '||=', '??='];

/** Expressions with one operand, `A`. */
// biome-ignore format: one family per line
const WITH_ONE = [
  '-A', '+A', '!A', '~A', 'typeof A', 'void A', 'delete A.a', 'await A', 'A',
  'A.length', 'A.a', 'A.b', 'A.constructor', "A['a']", 'A[0]', 'A[1.5]', 'A[-1]', 'A[9]', 'A[Math.floor(2 * x[0])]', 'A?.a', 'A?.[0]', 'A?.a.b', 'A.a?.b',
  'A()', 'A(x[0])', 'A?.()', 'new A(2)', 'A.call(null, x[0])', 'A.apply(null, [x[0]])', 'A.bind(null)(x[0])', 'A`a`', '`$' + '{A}`',
  '[...A][0]', '[...A].length', '({ ...A }).a', '({ a: A }).a', '({ A: 1 }).a', '({ [A]: 1 }).a', '[A][0]', '[A, 1].length', 'Math.max(...A)', '[1].concat(A).length',
  '(() => A)()', '(function () { return A; })()', '((u = A) => u)()', '((u = 7) => u)(A)', '(([u, v = 2]) => v)(A)', '(([u, ...r]) => r.length)(A)', '(({ a, b = 3 }) => b)(A)', '(({ length }) => length)(A)', '(({ a, ...r }) => a)(A)', '((...r) => r.length)(...A)',
  '(x[0] > 0.4 ? A : 1)', '(A ? 1 : 2)', '(A, 1)', '(1, A)', '(A)',
  'class { static a = A }.a', 'import(A)', 'A.a++', 'A[0]++', '(A.a = 1)', '(A[0] = 1)', '(x[0] > 0.4 && A)', '(p.none ?? A)',
];
/** Statements with one operand. */
// biome-ignore format: one family per line
const STATEMENTS = [
  'if (A) return 1; return 2;', 'if (A) return 1; else return x[0];', 'while (A) { return 1; } return 2;', 'let n = 0; do { if (n++ > 2) return 3; } while (A); return 1;',
  'for (const v of A) return 1; return 2;', 'for (const k in A) return 1; return 2;', 'let n = 0; for (const v of A) n += v; return n;', 'for (let i = A; i < 3; i++) return i; return 9;',
  'switch (A) { case 1: return 1; default: return 2; }', 'try { return A; } catch { return 2; }', 'throw A;', 'return A;', 'a: { if (A) break a; return 1; } return 2;',
  'with (A) return 1;', 'debugger; return A;', 'class C { m() { return A; } } return new C().m();', 'function f() { return A; } return f();', 'var v = A; return v;', 'let v; v = A; return v;',
  'const [u] = A; return u;', 'const { a } = A; return a;', 'let u, v; [u, v] = A; return v;', 'let a; ({ a } = A); return a;', 'let v = A; v++; return v;', 'let v = A; return --v;', 'let v = A; v = x[0]; return v;',
  'let v = 1; if (x[0] > 0.4) v = A; return v;', 'let v = A; for (let i = 0; i < 9 * x[0]; i++) v = A; return v;', 'let v = A; { let v = 2; v++; } return v;', ';;; return A;', 'for (;;) return A;', 'return this ?? A;', 'return new.target ?? A;', 'return arguments[0][0];',
  'const a = [1, 2, 3]; a[Math.floor(2 * x[0])] = A; return a[0] + a[1];', 'const a = [1, 2]; a[0] = A; return a[0];', 'const a = A; a[0] = 5; return a[0];', "'use strict'; return A;", 'async function f() { return A; } return f();', 'function* f() { yield A; } return f();', 'const f = () => A; return f() === f() ? 1 : 2;',
];

/** Arguments of built-in functions. */
// biome-ignore format: one family per line
const ARGUMENTS = ['x[0]', '2', 'true', 'undefined', 'null', "'1'", '[1, x[0]]', 'x', 'p.w', '(t => t * 2)', '((s, t) => s + t)', '(-0)', 'NaN', '({ length: 2 })', 'p.w[Math.floor(9 * x[0])]'];
const RECEIVERS = ['[x[0], 2, 3]', 'x', 'p.w', 'p.bytes', 'Array(3)'];

/** Functions of the language itself. Those of the host read clocks, start timers or end the process. */
// biome-ignore format: one family per line
const GLOBALS = ['parseFloat', 'parseInt', 'isNaN', 'isFinite', 'Number', 'Boolean', 'String', 'Array', 'Object', 'BigInt', 'Symbol', 'encodeURIComponent', 'Float64Array', 'Function', 'RegExp', 'Error', 'Map', 'Set', 'Promise', 'Proxy', 'Date', 'eval', '__pow', '__read', '__spreadArray', '_toConsumableArray', '__name', 'undefined', 'Infinity'];

/** Argument lists of 0 to 4 arguments: each kind alone, and each kind at each place among numbers. */
function* argumentLists(): Iterable<string> {
  yield '';
  for (const a of ARGUMENTS) yield a;
  for (let n = 2; n <= 4; n++)
    for (const [k, a] of ARGUMENTS.entries())
      for (const place of n === 2 ? [0, 1] : [k % n])
        yield Array.from({ length: n }, (_, i) => (i === place ? a : i === 0 ? 'x[1]' : String(i))).join(
          ', ',
        );
}
const LISTS = [...argumentLists()];
/** Fewer, for what has many receivers or is refused whatever its arguments are. */
const SHORT_LISTS = [
  '',
  ...ARGUMENTS,
  'x[0], 1',
  '((s, t) => s + t), x[1]',
  '1, 2, 3',
  '7, -2, 2',
  '1, 1, 1, 1',
];

const functionsOf = (of: object): string[] =>
  Object.getOwnPropertyNames(of).filter(k => typeof (of as Record<string, unknown>)[k] === 'function');

/** Groups of entries: [what, body of the function]. */
export function* matrix(): Iterable<[group: string, body: string]> {
  const put = (text: string, a: string, b = '') =>
    text.replaceAll(/\bA\b/g, () => a).replaceAll(/\bB\b/g, () => b);
  for (const op of BINARY)
    for (const a of FIRST) for (const b of FIRST) yield [`A ${op} B`, `return ${a} ${op} ${b};`];
  for (const op of BINARY) for (const a of ALL) yield [`A ${op} A`, `const v = ${a}; return v ${op} v;`];
  for (const op of ASSIGNMENT)
    for (const a of FIRST)
      for (const b of ['x[0]', 'true', "'a'", 'null', '[1]', 'undefined'])
        yield [`v ${op} B`, `let v = ${a}; v ${op} ${b}; return v;`];
  for (const text of WITH_ONE) for (const a of ALL) yield [text, `return ${put(text, a)};`];
  for (const text of STATEMENTS) for (const a of ALL) yield [text, put(text, a)];
  for (const name of functionsOf(Math)) {
    if (name === 'random') continue; // no two calls agree
    for (const list of LISTS) yield [`Math.${name}`, `return Math.${name}(${list});`];
  }
  for (const name of Object.getOwnPropertyNames(Math)) yield ['Math', `return Math.${name};`];
  for (const name of Object.getOwnPropertyNames(Number)) yield ['Number', `return Number.${name};`];
  for (const [of, holder] of Object.entries({ Number, Array, Object }))
    for (const name of functionsOf(holder))
      for (const list of SHORT_LISTS) yield [`${of}.${name}`, `return ${of}.${name}(${list});`];
  for (const name of functionsOf(Array.prototype))
    for (const receiver of RECEIVERS)
      for (const list of SHORT_LISTS) {
        if (name === 'constructor') continue;
        yield [`[].${name}`, `return ${receiver}.${name}(${list});`];
      }
  for (const name of ['map', 'fill', 'slice', 'concat', 'reduce', 'at', 'every', 'some'])
    for (const receiver of ['[x[0], 2, 3]', 'p.w', 'Array(3)'])
      for (const list of LISTS)
        yield [`[].${name}`, `const a = ${receiver}.${name}(${list}); return a[0] ?? a;`];
  for (const name of functionsOf(Number.prototype)) yield [`0.${name}`, `return x[0].${name}();`];
  for (const name of GLOBALS) for (const list of SHORT_LISTS) yield [name, `return ${name}(${list});`];
  for (const name of ['erf', 'erfc', 'erfinv', 'lgamma', 'j0', 'j1', 'exp2', 'none'])
    for (const list of SHORT_LISTS) yield [`m.${name}`, `return m.${name}(${list});`];
  for (const list of LISTS) yield ['table', `return p.t(${list});`];
  for (const list of LISTS) yield ['table of two axes', `return p.s(${list});`];
}
