/**
 * What further results cost on a card: the time of VEGAS+ with n results, as a multiple of that with one. The results are cosine
 * and sine of one angle, then simple functions of both, so what is left is the cost of sampling several results. The goal for
 * cosine and sine is 1.3.
 */
import { integrate } from '../../src/index.ts';

const angle = 'x[0] + 2 * x[1] + x[2] * x[3] + x[4] + x[5] + x[6] * x[7]';
const withResults = (results: string): ((x: number[]) => number[] | number) =>
  new Function('x', `const a = ${angle}, c = Math.cos(a); return ${results};`) as never;
const multiples = (n: number) => withResults(`[${Array.from({ length: n }, (_, i) => `${i} * a + c`)}]`);

export const CONTESTANTS: [string, (x: number[]) => number[] | number][] = [
  ['cos', withResults('c')],
  ['cos, sin', withResults('[c, Math.sin(a)]')],
  ['4', withResults('[c, Math.sin(a), a, a * a]')],
  ['8', multiples(8)],
  ['16', multiples(16)],
];

/** Contestants take turns, and the shortest time of each counts: the clock of a card changes within a run. */
const TURNS = 8;

export async function severalTimes(): Promise<void> {
  console.log(
    '\nseveral results, VEGAS+ in 8 dimensions, 20 iterations of which 10 adapt: ms, and as a multiple of one',
  );
  for (const total of [1e7, 1e9]) {
    const vegas = { evaluations: total / 20, iterations: 20, adapt: 10 };
    const options = { dims: 8, device: 'cuda', method: 'vegas+', relTol: 0, absTol: 0, vegas } as const;
    const best = CONTESTANTS.map(() => Infinity);
    for (let turn = 0; turn < TURNS; turn++)
      for (const [i, [, f]] of CONTESTANTS.entries())
        best[i] = Math.min(best[i], (await integrate(f, options)).elapsed);
    const cells = CONTESTANTS.map(
      ([name], i) => `${name}: ${best[i].toFixed(1)} (${(best[i] / best[0]).toFixed(2)})`,
    );
    console.log(total.toExponential(0).padEnd(6), cells.join('   '));
  }
}
