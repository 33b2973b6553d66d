/**
 * Random expressions of the integrand language, as text. Number expressions give numbers and boolean ones
 * booleans, since the language refuses a value that is now the one, now the other; everything that JavaScript
 * converts on the way (booleans in arithmetic, numbers as conditions) occurs.
 *
 * Only operations that are exact or correctly rounded appear here: such programs give the same bits everywhere.
 */
import type { Random } from './random.ts';
import { inner, type Kind, namesOf, type Scope } from './scope.ts';

/** Arrays in params of every generated program, with their lengths. */
export const PARAM_ARRAYS = { data: 5, bytes: 4 } as const;

const LITERALS = ['0', '1', '2', '3', '-1', '0.5', '0.25', '1.5', '7', '10', '0.1', '1e-3', '100', '-0'];
const RARE = ['Infinity', 'NaN', '1e300', '5e-324', 'Math.PI', 'Number.EPSILON', '1e17'];
const UNARY = ['abs', 'floor', 'ceil', 'trunc', 'round', 'sign', 'sqrt', 'fround', 'clz32'];
const COMPARE = ['<', '<=', '>', '>=', '===', '!==', '==', '!='];

export class Expressions {
  readonly r: Random;
  readonly dims: number;
  #serial = 0;

  constructor(r: Random, dims: number) {
    this.r = r;
    this.dims = dims;
  }

  fresh(stem: string): string {
    return `${stem}${this.#serial++}`;
  }

  number(scope: Scope, depth: number): string {
    const { r } = this;
    if (depth <= 0) return this.#leaf(scope);
    const n = (d = 1) => this.number(scope, depth - d);
    const b = () => this.bool(scope, depth - 1);
    return r.weighted<() => string>([
      [4, () => this.#leaf(scope)],
      [8, () => `(${n()} ${r.pick(['+', '-', '*', '/', '+', '-', '*', '%'])} ${n()})`],
      [1, () => `-(${n()})`],
      [3, () => `Math.${r.pick(UNARY)}(${n()})`],
      [2, () => `Math.${r.pick(['min', 'max'])}(${[n(), n(), n()].slice(r.below(2)).join(', ')})`],
      [0.3, () => `Math.imul(${n()}, ${n()})`],
      [3, () => `(${this.condition(scope, depth - 1)} ? ${n()} : ${n()})`],
      [1, () => `(${n()} ${r.pick(['&&', '||'])} ${n()})`],
      [0.4, () => `(Math.abs(${n()}) ?? ${n()})`], // an element at an index known at run time has no `??`: it is NaN, not undefined
      [1, () => `(${b()} ${r.pick(['+', '*', '-'])} ${n()})`],
      [0.5, () => `${r.pick(['+', '-'])}${b()}`],
      [0.3, () => `Number(${r.chance(0.5) ? b() : n()})`],
      [2, () => this.#element(scope, depth)],
      [2, () => this.#fold(scope, depth)],
      [2, () => this.#call(scope, depth)],
      [1.5, () => this.#effect(scope, depth)],
      [0.5, () => `({ u: ${n()}, w: ${n()} }).${r.pick(['u', 'w'])}`],
      [0.5, () => `[${n()}, ${n()}, ${n()}][${this.index(scope, 3)}]`],
      [1, () => `p.curve(${n()})`],
      [0.5, () => `p.surface(${n()}, ${n()})`],
    ])();
  }

  bool(scope: Scope, depth: number): string {
    const { r } = this;
    const variables = namesOf(scope, 'bool').map(v => v.name);
    if (depth <= 0) return r.pick([...variables, ...variables, 'p.on', 'p.off', 'true', 'false']);
    const n = () => this.number(scope, depth - 1);
    const b = () => this.bool(scope, depth - 1);
    return r.weighted<() => string>([
      [8, () => `(${n()} ${r.pick(COMPARE)} ${n()})`],
      [2, () => `(${b()} ${r.pick(['&&', '||', '&&', '||', '===', '!=='])} ${b()})`],
      [1, () => `!${this.condition(scope, depth - 1)}`],
      [1, () => r.pick([...variables, 'p.on', 'p.off'])],
      [
        0.5,
        () =>
          `${r.pick(['isNaN', 'Number.isFinite', 'Number.isInteger', 'Boolean', 'Number.isNaN'])}(${n()})`,
      ],
      [1, () => this.#test(scope, depth)],
    ])();
  }

  /** What may stand where JavaScript asks for truth: booleans, numbers, and both at once. */
  condition(scope: Scope, depth: number): string {
    const { r } = this;
    if (r.chance(0.75)) return this.bool(scope, depth);
    if (r.chance(0.7)) return this.number(scope, depth);
    const [a, b] = [this.number(scope, depth - 1), this.bool(scope, depth - 1)];
    return `(${r.chance(0.5) ? a : b} ${r.pick(['&&', '||'])} ${r.chance(0.5) ? a : b})`;
  }

  /** An index inside an array of this length, whatever the numbers are. */
  index(scope: Scope, length: number): string {
    const { r } = this;
    const counters = namesOf(scope, 'number').filter(v => v.below !== undefined);
    if (counters.length > 0 && r.chance(0.5)) {
      const c = r.pick(counters);
      return c.below! <= length ? c.name : `${c.name} % ${length}`;
    }
    return r.weighted<() => string>([
      [4, () => String(r.below(length))],
      [2, () => `Math.floor(Math.abs(${this.number(scope, 1)})) % ${length} || 0`],
      [1, () => `(${this.bool(scope, 1)} ? ${r.below(length)} : ${r.below(length)})`],
      [1, () => (length > 1 ? `+${this.bool(scope, 1)}` : '0')],
    ])();
  }

  /** An array in sight; `floats`: one whose copies hold any number, which those of a Uint8Array do not. */
  array(scope: Scope, floats = false): Kind<'array'> {
    const { r, dims } = this;
    const given = (name: string, length: number) => ({
      kind: 'array' as const,
      name,
      length,
      writable: false,
    });
    return r.pick<Kind<'array'>>([
      ...namesOf(scope, 'array'),
      ...namesOf(scope, 'array'),
      given('x', dims),
      given('p.data', PARAM_ARRAYS.data),
      ...(floats ? [] : [given('p.bytes', PARAM_ARRAYS.bytes)]),
    ]);
  }

  #leaf(scope: Scope): string {
    const { r, dims } = this;
    const variables = namesOf(scope, 'number').map(v => v.name);
    return r.weighted<() => string>([
      [variables.length ? 5 : 0, () => r.pick(variables)],
      [4, () => `x[${r.below(dims)}]`],
      [3, () => r.pick(LITERALS)],
      [0.3, () => r.pick(RARE)],
      [1, () => r.pick(['p.a', 'p.b'])],
      [0.3, () => `${this.array(scope).name}.length`],
    ])();
  }

  /** An element of an array; now and then outside it, which reads as NaN once it is a number. */
  #element(scope: Scope, depth: number): string {
    const { r, dims } = this;
    const a = this.array(scope);
    const outside = () => `(+${a.name}[Math.floor(x[${r.below(dims)}] * 4) - 1])`;
    return r.weighted<() => string>([
      [5, () => `${a.name}[${this.index(scope, a.length)}]`],
      [1, outside],
      [0.5, () => `(+${a.name}[${this.number(scope, Math.min(1, depth - 1))} * x[0]])`],
      [0.7, () => `${a.name}.at(${r.pick(['-1', '0'])})`],
    ])();
  }

  #inside(scope: Scope, ...names: string[]): Scope {
    const more = names.map(name => ({ kind: 'number' as const, name, mutable: false }));
    return inner(scope, { names: [...scope.names, ...more], runs: scope.runs * 5 });
  }

  #fold(scope: Scope, depth: number): string {
    const { r } = this;
    const a = this.array(scope, true);
    const [s, v, i] = [this.fresh('s'), this.fresh('e'), this.fresh('i')];
    const body = (...names: string[]) => this.number(this.#inside(scope, ...names), Math.min(2, depth - 1));
    return r.weighted<() => string>([
      [3, () => `${a.name}.reduce((${s}, ${v}) => ${body(s, v)}, ${this.number(scope, 1)})`],
      [1, () => `${a.name}.reduce((${s}, ${v}, ${i}) => ${body(s, v, i)})`],
      [1, () => `Math.${r.pick(['max', 'min'])}(...${a.name})`],
      [1, () => `${a.name}.map((${v}, ${i}) => ${body(v, i)}).reduce((${s}, ${v}) => ${s} + ${v}, 0)`],
      [0.5, () => `${a.name}.map(${v} => ${body(v)})[${this.index(scope, a.length)}]`],
    ])();
  }

  #test(scope: Scope, depth: number): string {
    const { r } = this;
    const a = this.array(scope);
    const v = this.fresh('e');
    const own = this.#inside(scope, v);
    const test = r.chance(0.7) ? this.bool(own, Math.min(2, depth - 1)) : this.number(own, 1);
    return `${a.name}.${r.pick(['every', 'some'])}(${v} => ${test})`;
  }

  #call(scope: Scope, depth: number): string {
    const { r } = this;
    const helpers = namesOf(scope, 'helper');
    if (helpers.length === 0 || scope.runs > 60) return this.#leaf(scope);
    const h = r.pick(helpers);
    const args = h.takes.map(t => {
      if (t === 'number') return this.number(scope, Math.min(2, depth - 1));
      return r.chance(0.7) ? this.array(scope).name : `[${this.number(scope, 1)}, ${this.number(scope, 1)}]`;
    });
    return `${h.name}(${args.join(', ')})`;
  }

  /** An expression that changes a variable on the way. */
  #effect(scope: Scope, depth: number): string {
    const { r } = this;
    const variables = namesOf(scope, 'number').filter(v => v.mutable);
    if (variables.length === 0) return this.#leaf(scope);
    const { name } = r.pick(variables);
    const n = () => this.number(scope, depth - 1);
    return r.weighted<() => string>([
      [2, () => `(${name} = ${n()})`],
      [2, () => `(${name} ${r.pick(['+=', '-=', '*='])} ${n()})`],
      [2, () => r.pick([`${name}++`, `${name}--`, `++${name}`, `--${name}`])],
      [1, () => `(${name} = ${n()}, ${n()})`],
      [0.5, () => `(${name} ${r.pick(['||=', '&&='])} ${n()})`],
    ])();
  }
}
