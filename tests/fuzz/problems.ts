/**
 * Random problems: functions, objects and tables in params, and domains of every kind: bounds that are functions, shapes, breaks,
 * points, infinite ranges with a centre and a scale. The compiled integrand on the sampled box is compared with the function
 * itself, whose points `toDomain` makes; both targets must agree to the bit. Options that make no sense are among them,
 * and must be refused as options.
 */
import { generalDomainOf } from '../../src/general-domain.ts';
import { withCaptures } from '../../src/integrand/captures.ts';
import { IntegrandError } from '../../src/integrand/diagnostics.ts';
import { isMapped, onSampled, toDomain } from '../../src/integrand/domain.ts';
import { kit } from '../../src/integrand/math/index.ts';
import { bind, type Params } from '../../src/integrand/params.ts';
import { makeProgram } from '../../src/integrand/program-cache.ts';
import { ball, simplex, sphere } from '../../src/integrand/shapes.ts';
import { type Table, table } from '../../src/integrand/tables.ts';
import { javascriptTarget } from '../../src/integrand/targets/javascript.ts';
import { wasmTarget } from '../../src/integrand/targets/wasm.ts';
import { OptionError } from '../../src/options/option-error.ts';
import { columns, firstDifference } from '../compiler/compare.ts';
import { Random } from '../compiler/random.ts';
import { evaluate, TimedOut, within } from './sandbox.ts';

export interface Problem {
  integrand: string;
  params: Params;
  /** `domain`, `breaks` and `points`. */
  where: { domain: unknown; breaks?: unknown; points?: unknown };
  /** All of it as text, for people. */
  text: string;
}

export interface Outcome {
  kind: 'same' | 'refused' | 'nothing' | 'fault';
  why: string;
}

const POINTS = 6;

/** Expressions of numbers; `names` are those that may stand in them. */
class Expressions {
  readonly #r: Random;
  constructor(r: Random) {
    this.#r = r;
  }

  number(names: readonly string[], depth = 0): string {
    const r = this.#r;
    const again = () => this.number(names, depth + 1);
    if (depth > 3 || r.chance(0.25 + 0.1 * depth)) return r.chance(0.75) ? r.pick(names) : this.constant();
    return r.pick<() => string>([
      () => `(${again()} ${r.pick(['+', '-', '*'])} ${again()})`,
      () => `(${again()} / (1 + (${again()}) ** 2))`,
      () => `Math.${r.pick(['sin', 'cos', 'abs', 'atan', 'tanh'])}(${again()})`,
      () => `Math.${r.pick(['min', 'max'])}(${again()}, ${again()})`,
      () => `Math.exp(-Math.abs(${again()}))`,
      () => `(${again()} < ${again()} ? ${again()} : ${again()})`,
    ])();
  }

  constant(): string {
    return this.#r.pick(['0', '1', '(-1)', '0.5', '2', '(-0.25)', '1e-3', '7', '(-0)', '1e5']);
  }

  /** A function of these arguments: an arrow, a block with a loop or a condition, or a method. */
  function(args: readonly string[], result = (names: readonly string[]) => this.number(names)): string {
    const r = this.#r;
    const head = `(${args.join(', ')})`;
    const names = args.map(a => a.replace(/^\{|\}$/g, '')).filter(a => /^\w+$/.test(a));
    const known = names.length > 0 ? names : ['1'];
    return r.pick<() => string>([
      () => `${head} => ${result(known)}`,
      () => `function ${head} { return ${result(known)}; }`,
      () =>
        `${head} => { let s = ${this.number(known)}; for (let i = 0; i < ${r.pick(['3', '70'])}; i++) s = 0.5 * s + ${this.number([...known, 's'])}; return ${result([...known, 's'])}; }`,
      () =>
        `${head} => { if (${this.number(known)} > ${this.number(known)}) return ${result(known)}; const t = ${this.number(known)}; return ${result([...known, 't'])}; }`,
    ])();
  }
}

export function problem(seed: number): Problem {
  const r = new Random(seed);
  const e = new Expressions(r);
  const texts: string[] = [];
  const fn = (args: readonly string[]): string => e.function(args);
  const functions = { f: fn(['u']), g: fn(['u', 'v']), h: fn(['u']), apply: '(k, u) => k(k(u)) + 1' };
  const made = (text: string) => evaluate(text) as never;
  const tables = { t1: randomTable(r, 1), t2: randomTable(r, 2), t3: randomTable(r, 3) };
  const params: Params = {
    a: r.pick([0.5, -2, 3, 1e-3]),
    on: r.chance(0.5),
    data: Float64Array.of(0.5, -1, 2),
    f: made(functions.f),
    o: { c: 1.5, g: made(functions.g), deep: { h: made(functions.h), on: true } },
    apply: made(functions.apply),
    ...tables,
  };
  texts.push(...Object.entries(functions).map(([name, text]) => `${name}: ${text}`));
  const uses = (names: readonly string[]): string[] => {
    const n = () => r.pick(names);
    return [
      ...names,
      ...names,
      'p.a',
      'p.o.c',
      'p.data[1]',
      `p.f(${n()})`,
      `p.o.g(${n()}, ${n()})`,
      `p.o.deep.h(p.f(${n()}))`,
      `p.apply(p.o.deep.h, ${n()})`,
      `p.t1(${n()})`,
      `p.t2(${n()}, ${n()})`,
      `p.t3(${n()}, ${n()}, ${n()})`,
      `(p.on ? ${n()} : p.o.c)`,
      `m.erf(${n()})`,
    ];
  };
  const parts: unknown[] = [];
  const shown: string[] = [];
  let coordinates = 0;
  const count = 1 + r.below(3);
  while (parts.length < count && coordinates < 6) {
    const part = randomPart(r, e, coordinates, uses);
    parts.push(part.value);
    shown.push(part.text);
    coordinates += part.coordinates;
  }
  const names = Array.from({ length: coordinates }, (_, i) => `x[${i}]`);
  const integrand = `(x, p, m) => ${e.number(uses(names))}`;
  const places = parts.map(part => () => placeIn(r, part));
  const cuttable = places.every(place => place() !== undefined);
  const strange = r.chance(0.05);
  const where: Problem['where'] = {
    domain: parts,
    ...(r.chance(0.3) && {
      breaks: places.map(place =>
        place() !== undefined || strange ? someOf(r, 4, () => place() ?? 0.5) : [],
      ),
    }),
    ...((strange || (cuttable && r.chance(0.4))) && {
      points: someOf(r, 3, () => places.map(place => place() ?? 0.5)),
    }),
  };
  const cuts = JSON.stringify({ breaks: where.breaks, points: where.points });
  return { integrand, params, where, text: [integrand, ...texts, ...shown, cuts].join('\n  ') };
}

const someOf = <T>(r: Random, most: number, make: () => T): T[] =>
  Array.from({ length: r.below(most) }, make);

/** A place to cut a range at, now and then outside of it; undefined for what is no range with fixed ends. */
function placeIn(r: Random, part: unknown): number | undefined {
  const { from, to } = (Array.isArray(part) ? { from: part[0], to: part[1] } : part) as Record<
    string,
    number
  >;
  if (typeof from !== 'number') return undefined;
  const [low, high] = [Math.max(Math.min(from, to), -1e6), Math.min(Math.max(from, to), 1e6)];
  return r.chance(0.02) ? high + 1 : low + (high - low) * r.pick([0, 0.3, 0.5, 1, 1e-7, r.unit()]);
}

interface Part {
  value: unknown;
  text: string;
  coordinates: number;
}

function randomPart(
  r: Random,
  e: Expressions,
  before: number,
  uses: (n: readonly string[]) => string[],
): Part {
  const bound = () => r.pick([0, 1, -1, 0.5, 3, -1e-3, 1e6, Infinity, -Infinity]);
  const one = (value: unknown, text: string): Part => ({ value, text, coordinates: 1 });
  return r.weighted<() => Part>([
    [4, () => one([0, 1], '[0, 1]')],
    [
      3,
      () => {
        const range = [bound(), bound()];
        return one(range, `[${range}]`);
      },
    ],
    [
      2,
      () => {
        const [from, to] = r.pick([
          [-Infinity, Infinity],
          [Infinity, -Infinity],
          [r.pick([0, 1, -3]), Infinity],
          [-Infinity, 2],
          [bound(), bound()],
        ]);
        const isLine = Math.abs(from) === Infinity && Math.abs(to) === Infinity;
        const range = {
          from,
          to,
          ...(r.chance(0.7) && { scale: r.pick([1e-3, 2, 1e4]) }),
          ...(isLine && r.chance(0.5) && { centre: r.pick([0, 5, -1e6]) }),
        };
        return one(
          range,
          JSON.stringify(range, (_, v) => (typeof v === 'number' ? String(v) : v)),
        );
      },
    ],
    [
      5,
      () => {
        const names = Array.from({ length: before }, (_, i) => `x[${i}]`);
        const use = uses(names.length > 0 ? names : ['1']);
        const pair = () => {
          const ends = [e.number(use), e.number(use)];
          if (r.chance(0.2)) ends[1] = 'Infinity';
          if (r.chance(0.1)) ends[0] = '-Infinity';
          return `[${ends}]`;
        };
        const text = r.chance(0.7)
          ? `(x, p, m) => ${pair()}`
          : `(x, p, m) => { const w = ${e.number(use)}; if (w > p.a) return ${pair()}; return [w, w + 1]; }`;
        return one(evaluate(text), text);
      },
    ],
    [
      3,
      () => {
        const [name, make] = r.pick([
          ['ball', ball],
          ['sphere', sphere],
          ['simplex', simplex],
        ] as const);
        const dims = (name === 'sphere' ? 2 : 1) + r.below(3);
        const size = r.pick([1, 0.01, 30]);
        const centre = Array.from({ length: dims }, () => r.pick([0, 1, -100]));
        const moved = name !== 'simplex' && r.chance(0.4);
        const value = moved ? (make as typeof ball)(dims, size, { centre }) : make(dims, size);
        return { value, text: `${name}(${dims}, ${size}${moved ? `, ${centre}` : ''})`, coordinates: dims };
      },
    ],
  ])();
}

function randomTable(r: Random, axes: 1 | 2 | 3): Table {
  const logs = Array.from({ length: axes }, () => r.chance(0.3));
  const lengths = logs.map(() => 2 + r.below(4));
  const grids = lengths.map((n, k) => {
    const even = r.chance(0.5);
    const steps = Array.from({ length: n }, (_, i) => (even ? i : i * i + 0.5 * i) / (even ? 1 : n));
    return Float64Array.from(steps, s => (logs[k] ? 0.1 * 3 ** s : s - 0.5));
  });
  const count = lengths.reduce((a, b) => a * b, 1);
  const values = Float64Array.from({ length: count }, () => r.pick([0, 1, -1, 0.25, 5]));
  return table(grids as [Float64Array], values, {
    log: logs,
    kind: r.pick(['linear', 'cubic'] as const),
    outside: r.pick(['clamp', 'zero'] as const),
  });
}

/** What becomes of a problem. `compiler` stands for the compiler; tests of this function give it a wrong one. */
export function judgeProblem(
  { integrand, params, where }: Problem,
  seed: number,
  compiler = makeProgram,
): Outcome {
  const f = evaluate(integrand) as (x: number[], p: Params, m: typeof kit) => number;
  if (typeof f !== 'function') return { kind: 'nothing', why: '' };
  const start = process.cpuUsage();
  try {
    return within(10_000, () => compared(f, params, where, seed, compiler));
  } catch (e) {
    if (e instanceof OptionError || e instanceof IntegrandError) return { kind: 'refused', why: e.message };
    const { user, system } = process.cpuUsage(start);
    // a machine that is busy with something else is no fault
    if (e instanceof TimedOut && user + system < 3e6) return { kind: 'nothing', why: 'no time' };
    return { kind: 'fault', why: String((e as Error)?.stack ?? e) };
  }
}

function compared(
  f: (x: number[], p: Params, m: typeof kit) => number,
  given: Params,
  where: Problem['where'],
  seed: number,
  compiler: typeof makeProgram,
): Outcome {
  const domain = generalDomainOf(where, given);
  const { axes, ranges } = domain;
  const params = withCaptures([f, ...axes.map(a => a.bounds?.f)], given);
  const dims = axes.length;
  const program = compiler(f as never, dims, params, axes, {});
  const bound = bind(program.params, params);
  const r = new Random(seed + 1);
  const at = Array.from({ length: POINTS }, () =>
    ranges.map(([low, high]) => low + (high - low) * r.pick([r.unit(), r.unit(), 0.5, 1e-9, 1 - 1e-9])),
  );
  const points = columns(at);
  const [first, second] = [wasmTarget, javascriptTarget].map(target => {
    const out = new Float64Array(POINTS);
    target(program, bound)(points, out);
    return out;
  });
  if (firstDifference(first, second) >= 0)
    return { kind: 'fault', why: `wasm ${first}, javascript ${second}` };
  const plain = onSampled((x: number[]) => f(x, params, kit), isMapped(axes) ? axes : undefined, toDomain);
  for (const [i, z] of at.entries()) {
    const own = plain([...z]);
    const { x, jacobian } = toDomain(axes, z);
    const size = Math.max(Math.abs(own), Math.abs(jacobian) * 1e-3, 1e-300);
    const same = Object.is(own, first[i]) || own === first[i] || Math.abs(own - first[i]) <= 1e-9 * size;
    const none = !(Math.abs(own) < 1e300) && !(Math.abs(first[i]) < 1e300);
    if (!same && !none)
      return {
        kind: 'fault',
        why: `at z = [${z}], x = [${x}]: the function gives ${own}, compiled ${first[i]}`,
      };
  }
  return { kind: 'same', why: '' };
}
