/**
 * What one call of `integrate` costs where the integral is small, as in a fit that makes hundreds of them.
 *
 *   npm run bench:calls
 *
 * The integrand is made anew for each call, as a closure in a loop is. Each figure is the median of rounds in which the rows
 * take turns. `first` is a call whose integrand has a text that was not met before, so that it is compiled; its ratio to
 * the row above says what compiling costs.
 */
import { type CommonOptions, integrate } from '../src/index.ts';

const ROUNDS = 10;
const CALLS = 50;

type Gauss = (x: number[], p: { a: number }) => number;

const closure =
  (): Gauss =>
  ([x, y], p) =>
    Math.exp(-p.a * (x * x + y * y)) * Math.cos(x * y);

let texts = 0;
/** The same function with another text each time. */
const unmet = (): Gauss =>
  new Function(
    `return ([x, y], p) => Math.exp(-p.a * (x * x + y * y)) * Math.cos(x * y) + ${texts++} * 0`,
  )() as Gauss;

interface Row {
  name: string;
  make(): Gauss;
  options: Partial<CommonOptions>;
}

const unwitnessed = { cubature: { witnesses: 0 } };
const rows: Row[] = (['cuhre', 'pagani', 'vegas+'] as const).flatMap(method => {
  const deterministic = method !== 'vegas+';
  const own = { method, ...(deterministic ? unwitnessed : {}) };
  const name = `${method}${deterministic ? ', witnesses 0' : ''}`;
  return [
    { name, make: closure, options: own },
    { name: `${name}, first`, make: unmet, options: own },
    ...(deterministic ? [{ name: method, make: closure, options: { method } }] : []),
  ];
});

/** Milliseconds per call. */
async function round({ make, options }: Row): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < CALLS; i++)
    await integrate(make(), { dims: 2, params: { a: 1 + i / CALLS }, ...options });
  return (performance.now() - start) / CALLS;
}

const times = new Map(rows.map(row => [row, [] as number[]]));
for (const row of rows) await round(row); // for V8 to optimise
for (let i = 0; i < ROUNDS; i++) for (const row of rows) times.get(row)!.push(await round(row));
const median = (list: number[]) => list.sort((a, b) => a - b)[list.length >> 1];
console.log(`${'two dimensions, relTol 1e-3'.padEnd(32)}ms per call`);
for (const row of rows) console.log(row.name.padEnd(32) + median(times.get(row)!).toFixed(2).padStart(11));
