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

const CONTESTANTS: [string, (x: number[]) => number[] | number][] = [
  ['cos', withResults('c')],
  ['cos, sin', withResults('[c, Math.sin(a)]')],
  ['4', withResults('[c, Math.sin(a), a, a * a]')],
  ['8', multiples(8)],
  ['16', multiples(16)],
];

export async function severalTimes(): Promise<void> {
  console.log(
    '\nseveral results, VEGAS+ in 8 dimensions, 20 iterations of which 10 adapt: ms, and as a multiple of one',
  );
  for (const total of [1e7, 1e9]) {
    const cells: string[] = [];
    let one = 0;
    for (const [name, f] of CONTESTANTS) {
      const vegas = { evaluations: total / 20, iterations: 20, adapt: 10 };
      const options = { dims: 8, device: 'cuda', method: 'vegas+', relTol: 0, absTol: 0, vegas } as const;
      const times: number[] = [];
      for (let run = 0; run < 6; run++) times.push((await integrate(f, options)).elapsed);
      const time = times.slice(2).sort((a, b) => a - b)[1];
      one ||= time;
      cells.push(`${name}: ${time.toFixed(1)} (${(time / one).toFixed(2)})`);
    }
    console.log(total.toExponential(0).padEnd(6), cells.join('   '));
  }
}
