/**
 * What TypeScript says of calls: the checker reads this file with all others (`npx tsc -p .`), and an error that does not come is
 * an error. Nothing here is run. Each `@ts-expect-error` stands over the line that the editor would mark.
 */
import { compile, type Integrand, integrate, type Point, type Result, sample, scan, table } from 'quadrille';

const equal = <A>() => ({ of: <B>(_: B, ..._same: [A, B] extends [B, A] ? [] : [never]) => {} });

/** `x` and `p` follow from the options, which are written after the integrand. */
export async function inferred() {
  const r = await integrate(([x, y], p) => Math.exp(-p.a * x) * y, { dims: 2, params: { a: 2 } });
  equal<Result<number>>().of(r);
  await integrate((x, p, { erf }) => erf(x[0] * p.w[1]) + p.curve(x[1]) + (p.on ? 1 : 0), {
    domain: [
      [0, 1],
      [0, Infinity],
    ],
    params: { w: Float64Array.of(1, 2), curve: table([[0, 1]], [1, 2]), on: true },
    onProgress: progress => console.log(progress.value + progress.error),
  });
  await integrate(
    (x, p) => {
      equal<Point>().of(x);
      equal<{ a: number; on: boolean }>().of(p);
      return x.reduce((s, v) => s + v, 0) * p.a;
    },
    { dims: 3, params: { a: 1, on: false }, relTol: 1e-3 },
  );
  const several = await integrate(([x], p) => ({ re: p.a * x, im: [x, 1] }), { dims: 1, params: { a: 1 } });
  equal<number>().of(several.value.re + several.value.im[0]);
  await scan(([x], p) => p.a * x, {
    dims: 1,
    params: [{ a: 1 }, { a: 2 }],
    onResult: (result, index) => console.log(result.value.toFixed(index)),
  });
  await sample(([x], p) => p.a * x, { dims: 1, count: 10, params: { a: 1 } });
  compile(([x], p) => p.a * x, { dims: 1, params: { a: 1 } });
}

/** A name that is not in params. */
export async function misspelt() {
  // @ts-expect-error
  await integrate(([x], p) => p.aa * x, { dims: 1, params: { a: 1 } });
  // @ts-expect-error
  await integrate(([x], { aa }) => aa * x, { dims: 1, params: { a: 1 } });
  // @ts-expect-error
  await integrate(([x], p) => p.a * x, { dims: 1 });
  // @ts-expect-error
  await integrate(([x], p, m) => m.erff(x) + p.a, { dims: 1, params: { a: 1 } });
  // @ts-expect-error
  await scan(([x], p) => p.aa * x, { dims: 1, params: [{ a: 1 }] });
  // @ts-expect-error
  await sample(([x], p) => p.aa * x, { dims: 1, count: 10, params: { a: 1 } });
  // @ts-expect-error
  compile(([x], p) => p.aa * x, { dims: 1, params: { a: 1 } });
  // @ts-expect-error
  await integrate(([x]) => x, { dims: 1, relTl: 1e-3 });
  // @ts-expect-error
  await integrate(x => x.foo, { dims: 1 });
}

/** A function that says what it needs. */
export async function missing() {
  const f = ([x]: number[], p: { a: number; b: number }) => p.a * x + p.b;
  await integrate(f, { dims: 1, params: { a: 1, b: 2 } });
  await integrate(f, { dims: 1, params: { a: 1, b: 2, c: 3 } });
  // @ts-expect-error
  await integrate(f, { dims: 1, params: { a: 1 } });
  // @ts-expect-error
  await integrate(f, { dims: 1, params: { a: 1, b: true } });
  // @ts-expect-error
  await integrate(f, { dims: 1 });
  // @ts-expect-error
  await scan(f, { dims: 1, params: [{ a: 1 }] });
  // @ts-expect-error
  await scan(f, { dims: 1 });
}

/** One of `dims` and `domain`. */
export async function where() {
  await integrate(([x]) => x, { domain: [[0, 1]] });
  // @ts-expect-error
  await integrate(([x]) => x, { relTol: 1e-3 });
  // @ts-expect-error
  await integrate(([x]) => x, { dims: 1, domain: [[0, 1]] });
  // @ts-expect-error
  await scan(([x]) => x, { params: [{}] });
  // @ts-expect-error
  await scan(([x]) => x, { dims: 1, domain: [[0, 1]], params: [{}] });
  // @ts-expect-error
  await sample(([x]) => x, { count: 10 });
  // @ts-expect-error
  await integrate(([x]) => x);
}

/** Async integrands run as they are. */
export async function asynchronous() {
  const r = await integrate(async ([x], p) => x * p.a, { dims: 1, device: 'js', params: { a: 1 } });
  equal<number>().of(r.value);
  await integrate(async ([x]) => x, { dims: 1, device: 'js:2' });
  await scan(async ([x], p) => x * p.a, { dims: 1, device: 'js', params: [{ a: 1 }] });
  // @ts-expect-error
  await integrate(async ([x]) => x, { dims: 1 });
  // @ts-expect-error
  await integrate(async ([x]) => x, { dims: 1, device: 'cpu' });
  // @ts-expect-error
  await scan(async ([x]) => x, { dims: 1, params: [{}] });
}

/** What was written before `x` and `p` had types. */
export async function older(
  f: Integrand,
  given: Integrand | URL,
  options: { params: Record<string, number> },
) {
  equal<Result<number>>().of(await integrate(f, { dims: 1 }));
  equal<Result<number>>().of(await integrate(given, { dims: 1, params: { a: 1 } }));
  equal<Result<number>>().of(await integrate(new URL('file:///f.js'), { dims: 1 }));
  await integrate(([x], p) => p.anything * x, { dims: 1, ...options });
  await integrate((x: readonly number[]) => x[0], { dims: 1 });
  await integrate((x: number[], p: { a: number }) => x[0] * p.a, { dims: 1, params: { a: 1 } });
}
