/** Many small integrals on a card, and on the CPU of its machine: how long a scan takes, and where the calling thread spends it. */
import { type Result, scan } from '../../src/index.ts';
import type { CommonOptions } from '../../src/problem.ts';

const COUNT = 2000;

type Gauss = (x: number[], p: { a: number; b: number }) => number;
const plane: Gauss = ([x, y], p) => Math.exp(-p.a * (x * x + y * y)) * Math.cos(p.b * x * y);
const params = Array.from({ length: COUNT }, (_, i) => ({ a: 1 + i / 200, b: (i % 100) / 10 }));

const ROWS: [string, CommonOptions][] = [
  ['auto 1e-6', { relTol: 1e-6 }],
  ['pagani 1e-6', { relTol: 1e-6, method: 'pagani' }],
  ['vegas+ 1e-3', { relTol: 1e-3, method: 'vegas+' }],
];

/** Seconds of the shortest of three scans, and the integrals that converged. */
export async function scanTimes(): Promise<void> {
  console.log(`\na scan of ${COUNT} integrals in 2 dimensions: s on the card, on the CPU beside it`);
  for (const [title, options] of ROWS) {
    const cells: string[] = [];
    for (const device of ['cuda', 'cpu'] as const) {
      let best = Infinity;
      let results: Result[] = [];
      for (let i = 0; i < 3; i++) {
        const begin = performance.now();
        results = await scan(plane as never, { dims: 2, params, device, ...options } as never);
        best = Math.min(best, performance.now() - begin);
      }
      const converged = results.filter(r => r.converged).length;
      const evaluations = results.reduce((n, r) => n + r.evaluations, 0);
      cells.push(`${(best / 1000).toFixed(2)} (${converged}, ${evaluations.toExponential(1)} evaluations)`);
    }
    console.log(title.padEnd(20), cells.join('  '));
  }
}
