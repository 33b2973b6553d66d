/**
 * Random programs of the integrand language, as text: every statement it has, nested, always ending.
 *
 * `exact` programs use operations that are exact or correctly rounded, so plain JavaScript gives the same
 * bits. `smooth` ones add terms with transcendental functions and powers to a sum that nothing branches on;
 * each term is marked, so that a test can weigh the sum's rounding error by their sizes.
 */
import { Expressions } from './expressions.ts';
import { Random } from './random.ts';
import { inner, namesOf, type Scope } from './scope.ts';

export interface Generated {
  dims: number;
  /** The program as a function of (x, p, m). */
  text: string;
  /** The same with every term t of the sum as `term(t)`. */
  marked: string;
}

const FUNCTIONS = 'exp log log2 log10 sin cos tan asin acos atan sinh cosh tanh expm1 log1p cbrt'.split(' ');
const SPECIAL = ['erf', 'erfc', 'lgamma', 'j0', 'j1', 'exp2'];
const POWERS = ['2', '3', '0.5', '1.5', '-1', '2.5', '4', '7', '-0.5', '0.3', '1'];
/** How often the innermost statement may run. */
const MOST_RUNS = 400;

/** `dims` is drawn unless it is given. */
export function generate(seed: number, kind: 'exact' | 'smooth', dims?: number): Generated {
  const r = new Random(seed);
  const program = new Programs(r, dims ?? 1 + r.below(4), kind === 'smooth').whole();
  return {
    dims: program.dims,
    text: program.text.replaceAll('@(', '('),
    marked: program.text.replaceAll('@(', 'term('),
  };
}

class Programs {
  readonly r: Random;
  readonly e: Expressions;
  readonly dims: number;
  readonly smooth: boolean;
  #left: number; // statements still to write

  constructor(r: Random, dims: number, smooth: boolean) {
    this.r = r;
    this.e = new Expressions(r, dims);
    this.dims = dims;
    this.smooth = smooth;
    this.#left = 6 + r.below(20);
  }

  whole(): { dims: number; text: string } {
    const { r, dims } = this;
    const scope: Scope = { names: [], loops: [], blocks: [], leave: undefined, helper: false, runs: 1 };
    const result = () => (this.smooth ? 'return sum;' : `return ${this.e.number(scope, 3)};`);
    const lines: string[] = [];
    let head = '(x, p, m) =>';
    if (r.chance(0.2)) {
      const names = Array.from({ length: dims }, (_, i) => `c${i}`);
      lines.push(`const [${names.join(', ')}] = x;`);
      for (const name of names) scope.names.push({ kind: 'number', name, mutable: false });
    }
    if (r.chance(0.3)) head = 'function integrand(x, p, m)';
    if (this.smooth) lines.push('let sum = 0;');
    lines.push(`let t = ${this.e.number(scope, 2)};`, `var h = ${this.e.number(scope, 2)};`);
    scope.names.push(
      { kind: 'number', name: 't', mutable: true },
      { kind: 'number', name: 'h', mutable: true },
    );
    scope.leave = () => (this.smooth ? 'return sum;' : `return ${this.e.number(scope, 2)};`);
    for (let k = r.below(3); k > 0; k--) lines.push(...this.#helper(scope));
    lines.push(...this.#statements(scope, 3 + r.below(6)));
    if (this.smooth) lines.push(...this.#term(scope));
    return { dims, text: `${head} {\n${lines.map(l => `  ${l}`).join('\n')}\n  ${result()}\n}` };
  }

  #statements(scope: Scope, count: number): string[] {
    const lines: string[] = [];
    for (let k = 0; k < count && this.#left > 0; k++) lines.push(...this.#statement(scope));
    return lines;
  }

  #statement(scope: Scope): string[] {
    const { r } = this;
    this.#left--;
    const nested = scope.runs < MOST_RUNS / 4;
    return r.weighted<() => string[]>([
      [4, () => this.#declare(scope)],
      [5, () => this.#assign(scope)],
      [2, () => this.#makeArray(scope)],
      [2, () => this.#writeArray(scope)],
      [2, () => this.#destructure(scope)],
      [4, () => this.#if(scope)],
      [nested ? 4 : 0, () => this.#loop(scope)],
      [nested ? 1 : 0, () => this.#forOf(scope)],
      [1, () => this.#structure(scope)],
      [0.7, () => this.#labelledBlock(scope)],
      [scope.loops.length ? 2 : 0, () => this.#jump(scope)],
      [scope.leave ? 1 : 0, () => [`if (${this.e.condition(scope, 2)}) ${scope.leave!()}`]],
      [0.5, () => (nested ? this.#helper(scope) : [])],
      [0.5, () => this.#forEach(scope)],
      [this.smooth ? 3 : 0, () => this.#term(scope)],
    ])();
  }

  #block(scope: Scope, count = 1 + this.r.below(3)): string[] {
    const { r } = this;
    const own = inner(scope);
    const lines: string[] = [];
    const shadowed =
      r.chance(0.1) && namesOf(own, 'number').filter(v => v.below === undefined && v.name !== 'h');
    if (shadowed && shadowed.length > 0) {
      const old = r.pick(shadowed);
      own.names = own.names.filter(n => n.name !== old.name && n.kind !== 'helper');
      lines.push(`let ${old.name} = ${this.e.number(own, 2)};`);
      own.names.push({ kind: 'number', name: old.name, mutable: true });
    }
    lines.push(...this.#statements(own, count));
    return lines.map(l => `  ${l}`);
  }

  #declare(scope: Scope): string[] {
    const { r, e } = this;
    const name = e.fresh('v');
    return r.weighted<() => string[]>([
      [
        5,
        () => {
          const line = `${r.pick(['let', 'let', 'const'])} ${name} = ${e.number(scope, 3)};`;
          scope.names.push({ kind: 'number', name, mutable: line.startsWith('let') });
          return [line];
        },
      ],
      [
        2,
        () => {
          const line = `let ${name} = ${e.bool(scope, 2)};`;
          scope.names.push({ kind: 'bool', name, mutable: true });
          return [line];
        },
      ],
      [
        1,
        () => {
          const [c, a, b] = [e.condition(scope, 2), e.number(scope, 2), e.number(scope, 2)];
          scope.names.push({ kind: 'number', name, mutable: true });
          return [`let ${name};`, `if (${c}) ${name} = ${a};`, `else ${name} = ${b};`];
        },
      ],
      [scope.helper ? 0 : 1, () => [r.chance(0.5) ? 'var h;' : `var h = ${e.number(scope, 2)};`]],
    ])();
  }

  #assign(scope: Scope): string[] {
    const { r, e } = this;
    const booleans = namesOf(scope, 'bool').filter(v => v.mutable);
    if (booleans.length > 0 && r.chance(0.2)) return [`${r.pick(booleans).name} = ${e.bool(scope, 2)};`];
    const variables = namesOf(scope, 'number').filter(v => v.mutable);
    const { name } = r.pick(variables);
    return r.weighted<() => string[]>([
      [4, () => [`${name} ${r.pick(['+=', '-=', '*=', '/=', '%=', '+='])} ${e.number(scope, 3)};`]],
      [3, () => [`${name} = ${e.number(scope, 3)};`]],
      [1, () => [r.pick([`${name}++;`, `--${name};`])]],
      [0.5, () => [`${name} ${r.pick(['||=', '&&='])} ${e.number(scope, 2)};`]],
      [0.5, () => [`${name} = ${r.pick(variables).name} = ${e.number(scope, 2)};`]],
      [0.5, () => [`void (${name} = ${e.number(scope, 2)});`]],
      [1, () => [`if (${e.condition(scope, 1)}) ${name} -= ${e.number(scope, 1)}, t += ${name};`]],
    ])();
  }

  #makeArray(scope: Scope): string[] {
    const { r, e } = this;
    const name = e.fresh('a');
    const from = e.array(scope, true);
    const n = (d = 2) => e.number(scope, d);
    const list = (count: number) => Array.from({ length: count }, () => n()).join(', ');
    const length = 2 + r.below(3);
    const [text, size] = r.weighted<() => [string, number]>([
      [4, () => [`[${list(length)}]`, length]],
      [1, () => [`[${Array.from({ length }, () => r.below(9)).join(', ')}]`, length]],
      [1, () => [`Array(${length}).fill(${n(1)})`, length]],
      [1, () => [`[...${from.name}, ${n()}]`, from.length + 1]],
      [1, () => [`${from.name}.map(q => ${n(1)} + q)`, from.length]],
      [1, () => [`Array.from({ length: ${length} }, (_, k) => k * ${n(1)})`, length]],
      [from.length > 2 ? 1 : 0, () => [`${from.name}.slice(1)`, from.length - 1]],
    ])();
    scope.names.push({ kind: 'array', name, length: size, writable: true });
    return [`${r.pick(['const', 'let'])} ${name} = ${text};`];
  }

  #writeArray(scope: Scope): string[] {
    const { r, e } = this;
    const arrays = namesOf(scope, 'array').filter(a => a.writable);
    if (arrays.length === 0) return this.#makeArray(scope);
    const a = r.pick(arrays);
    const [i, j] = [e.index(scope, a.length), e.index(scope, a.length)];
    return r.weighted<() => string[]>([
      [4, () => [`${a.name}[${i}] = ${e.number(scope, 2)};`]],
      [2, () => [`${a.name}[${i}] ${r.pick(['+=', '-=', '*=', '%='])} ${e.number(scope, 2)};`]],
      [1, () => [`${a.name}[${i}]${r.pick(['++', '--'])};`]],
      [1, () => [`[${a.name}[${i}], ${a.name}[${j}]] = [${a.name}[${j}], ${a.name}[${i}]];`]],
      [0.5, () => [`${a.name}.fill(${e.number(scope, 1)});`]],
      [
        1,
        () => {
          const k = e.fresh('k');
          return [
            `let ${k} = 0;`,
            `${a.name}[${k}++] ${r.pick(['=', '+=', '='])} ${k} + ${e.number(scope, 1)};`,
          ];
        },
      ],
    ])();
  }

  #destructure(scope: Scope): string[] {
    const { r, e } = this;
    const variables = namesOf(scope, 'number').filter(v => v.mutable);
    const [u, v] = [e.fresh('d'), e.fresh('d')];
    const number = (name: string) => scope.names.push({ kind: 'number', name, mutable: false });
    return r.weighted<() => string[]>([
      [
        variables.length > 1 ? 2 : 0,
        () => {
          const [a, b] = [r.pick(variables).name, r.pick(variables).name];
          return [`[${a}, ${b}] = [${b}, ${a} + ${e.number(scope, 1)}];`];
        },
      ],
      [
        1,
        () => {
          const a = e.array(scope);
          const line = `const [${u}, ${v} = ${e.number(scope, 1)}] = ${a.name};`;
          number(u);
          number(v);
          return [line];
        },
      ],
      [
        1,
        () => {
          const line = `const { ${u}, b: ${v}, c = ${e.number(scope, 1)} } = { ${u}: ${e.number(scope, 2)}, b: ${e.number(scope, 1)} };`;
          number(u);
          number(v);
          return [line.replace('c =', `z${u} =`)];
        },
      ],
      [
        1,
        () => {
          const a = e.array(scope);
          const line = `const [${u}, ...${v}] = ${a.name};`;
          number(u);
          if (a.length > 1)
            scope.names.push({ kind: 'array', name: v, length: a.length - 1, writable: true });
          return [line];
        },
      ],
    ])();
  }

  /** Arrays chosen, nested, or returned together: what is read of them later is settled element by element. */
  #structure(scope: Scope): string[] {
    const { r, e } = this;
    const [a, b] = [e.fresh('g'), e.fresh('g')];
    const n = () => e.number(scope, 2);
    const number = (name: string) => scope.names.push({ kind: 'number', name, mutable: true });
    const pair = () => `[${n()}, ${n()}]`;
    const read = `${a}[0] - ${a}[1]`; // an array chosen at run time has indices known when compiling
    return r.weighted<() => string[]>([
      [1, () => [`const ${a} = ${e.condition(scope, 2)} ? ${pair()} : ${pair()};`, `t += ${read};`]],
      [1, () => [`let ${a} = ${pair()};`, `if (${e.condition(scope, 2)}) ${a} = ${pair()};`, `t = ${read};`]],
      [
        1,
        () => [`const ${b} = [${pair()}, ${pair()}];`, `const ${a} = ${b}[${r.below(2)}];`, `h = ${read};`],
      ],
      [
        1,
        () => {
          const line = `let [${a}, ${b}] = (u => { if (u > ${n()}) return [u, ${n()}]; return [${n()}, u]; })(${n()});`;
          number(a);
          number(b);
          return [line];
        },
      ],
      [
        1,
        () => {
          const line = `let { ${a}, w: ${b} } = (u => u < ${n()} ? { ${a}: u, w: 1 } : { ${a}: 2, w: ${n()} })(${n()});`;
          number(a);
          number(b);
          return [line];
        },
      ],
      [1, () => [`for (const [${a}, ${b}] of [[${n()}, ${n()}], [1, ${n()}]]) t += ${a} * ${b};`]],
    ])();
  }

  #if(scope: Scope): string[] {
    const { r, e } = this;
    const lines = [`if (${e.condition(scope, 2)}) {`, ...this.#block(scope)];
    if (r.chance(0.3)) lines.push(`} else if (${e.condition(scope, 2)}) {`, ...this.#block(scope));
    if (r.chance(0.5)) lines.push('} else {', ...this.#block(scope));
    return [...lines, '}'];
  }

  #loop(scope: Scope): string[] {
    const { r, e } = this;
    const i = e.fresh('i');
    const label = r.chance(0.25) ? e.fresh('L') : '';
    const turns = r.pick([1, 2, 3, 4, 5, scope.runs === 1 ? 70 : 3]);
    const head = label ? `${label}: ` : '';
    const counter = { kind: 'number' as const, name: i, mutable: false, below: turns };
    const own = inner(scope, { loops: [...scope.loops, label], runs: scope.runs * turns });
    own.names.push(counter);
    const body = () => this.#block(own, turns === 70 ? 2 : undefined);
    // a counter that stands behind its step has one value more
    const late = () => {
      counter.below = turns + 1;
      return body();
    };
    const c = (depth: number) => e.condition(scope, depth);
    return r.weighted<() => string[]>([
      [4, () => [`${head}for (let ${i} = 0; ${i} < ${turns}; ${i}++) {`, ...body(), '}']],
      [1, () => [`${head}for (let ${i} = ${turns - 1}; ${i} >= 0; --${i}) {`, ...body(), '}']],
      [
        2,
        () => [
          `${head}for (let ${i} = 0; ${i} < Math.min(${turns}, Math.abs(${e.number(scope, 2)})); ${i} += 1) {`,
          ...body(),
          '}',
        ],
      ],
      [2, () => [`${head}for (let ${i} = 0; ${i} < ${turns} && ${c(2)}; ${i}++) {`, ...body(), '}']],
      [
        2,
        () => [`let ${i} = 0;`, `${head}while (${c(2)} && ${i} < ${turns}) {`, `  ${i}++;`, ...late(), '}'],
      ],
      [1, () => [`let ${i} = 0;`, `${head}while (${i}++ < ${turns} && ${c(1)}) {`, ...late(), '}']],
      [
        2,
        () => [
          `let ${i} = 0;`,
          `${head}do {`,
          `  ${i} += 1;`,
          ...late(),
          `} while (${i} < ${turns} && ${c(2)});`,
        ],
      ],
      [1, () => [`let ${i} = 0;`, `${head}for (;;) {`, `  if (++${i} > ${turns}) break;`, ...late(), '}']],
    ])();
  }

  #forOf(scope: Scope): string[] {
    const { e, r } = this;
    const a = e.array(scope);
    const v = e.fresh('w');
    // the array is walked while its elements change, as long as nothing writes to it
    const names = scope.names.map(n =>
      n.kind === 'array' && n.name === a.name ? { ...n, writable: r.chance(0.5) } : n,
    );
    const own = inner(scope, { names, loops: [...scope.loops, ''], runs: scope.runs * a.length });
    own.names.push({ kind: 'number', name: v, mutable: false });
    return [`for (const ${v} of ${a.name}) {`, ...this.#block(own), '}'];
  }

  #labelledBlock(scope: Scope): string[] {
    const label = this.e.fresh('B');
    const own = inner(scope, { blocks: [...scope.blocks, label] });
    const lines = this.#block(own);
    const out = `  if (${this.e.condition(own, 1)}) break ${label};`;
    return [`${label}: {`, out, '  {', ...lines, '  }', '}'];
  }

  #jump(scope: Scope): string[] {
    const { r, e } = this;
    const labels = scope.loops.filter(l => l !== '');
    const target = labels.length > 0 && r.chance(0.5) ? ` ${r.pick(labels)}` : '';
    const block = scope.blocks.length > 0 && r.chance(0.3) ? `break ${r.pick(scope.blocks)}` : '';
    return [`if (${e.condition(scope, 2)}) ${block || `${r.pick(['break', 'continue'])}${target}`};`];
  }

  #forEach(scope: Scope): string[] {
    const { e, r } = this;
    const a = e.array(scope);
    const variables = namesOf(scope, 'number').filter(v => v.mutable);
    const q = e.fresh('q');
    const own = inner(scope, { runs: scope.runs * a.length });
    own.names.push({ kind: 'number', name: q, mutable: false });
    return [`${a.name}.forEach(${q} => { ${r.pick(variables).name} += ${e.number(own, 2)}; });`];
  }

  /** A helper: an expression, or a body with early returns that may change variables around it. */
  #helper(scope: Scope): string[] {
    const { r, e } = this;
    const name = e.fresh('f');
    const [a, b] = [e.fresh('y'), e.fresh('y')];
    const own = inner(scope, { loops: [], blocks: [], helper: true, runs: scope.runs * 8 });
    own.names.push({ kind: 'number', name: a, mutable: true });
    const lines = r.weighted<() => string[]>([
      [2, () => [`const ${name} = ${a} => ${e.number(own, 3)};`]],
      [
        3,
        () => {
          own.leave = () => `return ${e.number(own, 2)};`;
          const body = ['  {', ...this.#block(own), '  }', ...this.#statements(own, 1)];
          const head = r.pick([`const ${name} = ${a} => {`, `function ${name}(${a}) {`]);
          return [head, ...body, `  return ${e.number(own, 2)};`, '}'];
        },
      ],
      [
        1,
        () => {
          own.names.push({ kind: 'number', name: b, mutable: true });
          return [`const ${name} = (${a}, ${b} = ${a} * 2) => ${e.number(own, 2)};`];
        },
      ],
    ])();
    scope.names.push({ kind: 'helper', name, takes: ['number'] });
    if (r.chance(0.3)) {
      const sum = e.fresh('f');
      scope.names.push({ kind: 'helper', name: sum, takes: ['array', 'number'] });
      lines.push(
        `const ${sum} = (l, k) => { let s = k; for (const v of l) { if (v > k) return s; s += v; } return s; };`,
      );
    }
    return lines;
  }

  /** Adds a term with a transcendental function or a power, of arguments that are exact. */
  #term(scope: Scope): string[] {
    const { r, e } = this;
    const n = () => e.number(scope, 2);
    const value = r.weighted<() => string>([
      [6, () => `Math.${r.pick(FUNCTIONS)}(${n()})`],
      [2, () => `m.${r.pick(SPECIAL)}(${n()})`],
      [3, () => `(${n()}) ** ${r.pick(POWERS)}`],
      [1, () => `Math.pow(${n()}, ${n()})`],
      [1, () => `Math.${r.pick(['hypot', 'atan2'])}(${n()}, ${n()})`],
      [0.5, () => `Math.hypot(${n()}, ${n()}, ${n()})`],
    ])();
    return [`sum += @(${value}${r.chance(0.4) ? ` * ${n()}` : ''});`];
  }
}
