/**
 * Programs in float32 on the CPU: the JavaScript of the reference target, with every value rounded to float32. Functions are
 * those of the float64 library, rounded, or made wrong by up to a given number of ulp to see what that does to the result.
 */
import type { Program, Statement } from '../../src/integrand/ir.ts';
import { bodies } from '../../src/integrand/ir.ts';
import { kit } from '../../src/integrand/math/index.ts';
import type { Bindings } from '../../src/integrand/params.ts';
import { toJavaScript } from '../../src/integrand/targets/javascript.ts';
import { toFloat32 } from '../../src/integrand/targets/wgsl/literals.ts';

/** What cannot be compared: a value on the way was subnormal, which a card may flush to 0, or loops took too many turns. */
export const INCOMPARABLE: unique symbol = Symbol('incomparable');

export type Reference = (point: readonly number[], error: () => number) => number[] | typeof INCOMPARABLE;

const MIN = 2 ** -126;
/** As many as fuzzed programs need; the limit of the target is higher. */
const TURNS = 100_000;

const rounded = (list: Statement[]): Statement[] =>
  list.map(s => {
    if (s.kind === 'let' && s.op === 'const' && typeof s.value === 'number')
      return { ...s, value: toFloat32(s.value) };
    if (bodies(s).length === 0) return s;
    if (s.kind === 'if') return { ...s, then: rounded(s.then), else: rounded(s.else) };
    return { ...s, body: rounded((s as { body: Statement[] }).body) } as Statement;
  });

export function referenceOf(program: Program, bindings: Bindings): Reference {
  const text = toJavaScript({ ...program, body: rounded(program.body) }, true).replace(
    /const (v\d+) = (.*);$/gm,
    'const $1 = single($2);',
  );
  const run = new Function(
    'points',
    'out',
    'kit',
    'data',
    'arrays',
    'turns',
    'single',
    `const n = 1, i = 0;\n${text}`,
  );
  const data: Record<string, unknown> = Object.create(null);
  for (const [name, value] of [...bindings, ...Object.entries(program.constants)])
    data[name] =
      typeof value === 'object'
        ? Array.from(value, toFloat32)
        : typeof value === 'number'
          ? toFloat32(value)
          : value;
  let wrongBy = () => 0;
  const library = withErrors(() => wrongBy());
  return (point, error) => {
    wrongBy = error;
    let subnormal = false;
    const single = (v: unknown) => {
      if (typeof v !== 'number') return v;
      const r = Math.fround(v);
      if (v !== 0 && Math.abs(v) < MIN) subnormal = true;
      return r;
    };
    const out = new Float64Array(program.results.length);
    const arrays = program.arrays.map(length => new Float64Array(length));
    const budget = { left: TURNS };
    try {
      run(point, out, library, data, arrays, budget, single);
    } catch (e) {
      if (e !== budget) throw e;
      return INCOMPARABLE;
    }
    return subnormal ? INCOMPARABLE : [...out];
  };
}

/** Functions whose float32 versions are exact. */
// biome-ignore format: a list
const EXACT = new Set(['round', 'sign', 'fround', 'clz32', 'imul', 'mod', 'nearest', 'copySign', 'exponent', 'significand', 'pow2']);

/** The library with results that are off by `error()` ulp of float32. */
function withErrors(error: () => number): typeof kit {
  const wrong: Record<string, unknown> = {};
  for (const [name, f] of Object.entries(kit as unknown as Record<string, (...x: number[]) => number>))
    wrong[name] = EXACT.has(name) ? f : (...x: number[]) => f(...x) * (1 + error() * 2 ** -24);
  return wrong as unknown as typeof kit;
}
