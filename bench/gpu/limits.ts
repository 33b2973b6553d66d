/** What has to end ends on a real card too: integrands that never do, signals, and runs beside each other; and scans. */
import { integrate, scan } from '../../src/index.ts';
import { verdict } from './common.ts';

const endless = ([x, y]: number[]) => {
  let t = x;
  while (t > 0.2) t = t < 1 ? t + 0.5 : t - 0.5;
  return t + y;
};
const smooth = ([x, y]: number[]) => Math.exp(-x - y);
const truth = (1 - Math.exp(-1)) ** 2;
const device = 'cuda';

export async function limits() {
  console.log('\nan integrand that never ends, 300 ms: status and ms; then a good one');
  for (const method of ['vegas+', 'plain', 'mcubes', 'zmc', 'two-phase', 'pagani'] as const) {
    await integrate(smooth, { dims: 2, method, device, relTol: 1e-2 });
    await integrate(endless, { dims: 2, method, device, maxTime: 1 }); // compiles
    const stuck = await integrate(endless, { dims: 2, method, device, maxTime: 300 });
    const next = await integrate(smooth, { dims: 2, method, device, relTol: 1e-2 });
    const ok = stuck.status === 'time' && stuck.elapsed < 2000 && Math.abs(next.value / truth - 1) < 0.05;
    console.log(
      `${method.padEnd(10)} ${stuck.status} ${stuck.elapsed.toFixed(0)}  ${next}${verdict(ok, method)}`,
    );
  }
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 300);
  const [stuck, beside] = await Promise.all([
    integrate(endless, { dims: 2, method: 'vegas+', device, signal: stop.signal }),
    integrate(smooth, { dims: 2, method: 'vegas+', device, relTol: 1e-2 }),
  ]);
  const both = stuck.status === 'aborted' && Math.abs(beside.value / truth - 1) < 0.05;
  console.log(`aborted beside another: ${stuck.status}; ${beside}${verdict(both, 'aborted')}`);

  console.log('\nscans of 2000 two-dimensional integrals: ms, worst pull or error in tolerances');
  const params = Array.from({ length: 2000 }, (_, i) => ({ a: 1 + i / 100 }));
  const f = ([x, y]: number[], p: { a: number }) => Math.exp(-p.a * (x + y));
  for (const [method, relTol] of [
    ['pagani', 1e-6],
    ['vegas+', 1e-2],
  ] as const) {
    const start = performance.now();
    const results = await scan(f as never, { dims: 2, method, relTol, params, device });
    const elapsed = performance.now() - start;
    const off = results.map(({ value, error }, i) => {
      const want = ((1 - Math.exp(-params[i].a)) / params[i].a) ** 2;
      return Math.abs(value - want) / (method === 'pagani' ? relTol * want : error);
    });
    const worst = Math.max(...off);
    const ok = results.every(r => r.converged) && worst < (method === 'pagani' ? 1 : 5);
    console.log(
      `${method.padEnd(10)} ${elapsed.toFixed(0)}  ${worst.toFixed(2)}${verdict(ok, `scan by ${method}`)}`,
    );
  }
}
