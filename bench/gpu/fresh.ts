/**
 * One process of its own for first.ts: how long until the first result on the card, and where the time goes.
 *
 *   node fresh.mjs METHOD:N   integrand N, then N + 1 and N + 1 again
 */
import { listenToPhases, type Phase } from '../../src/devices/cuda/phases.ts';
import { type Integrand, integrate } from '../../src/index.ts';
import type { MethodName } from '../../src/problem.ts';

/** New integrands for the same kernels: of three dimensions, with one result. */
const INTEGRANDS: Integrand[] = [
  ([x, y, z]) => Math.exp(-x * y) * Math.cos(z),
  ([x, y, z]) => Math.exp(-x * z) * Math.sin(y + 1),
  ([x, y, z]) => Math.sqrt(1 + x * y * z) * Math.exp(-x),
  ([x, y, z]) => Math.log(2 + x * y) * Math.cos(x - z),
  ([x, y, z]) => Math.exp(-x * y - z) * Math.cos(z + x),
  ([x, y, z]) => Math.exp(-x * z - y) * Math.sin(y + 2),
  ([x, y, z]) => Math.sqrt(3 + x * y * z) * Math.exp(-y),
  ([x, y, z]) => Math.log(4 + x * y) * Math.cos(y - z),
];

async function fresh(what: string): Promise<void> {
  const [method, number] = what.split(':');
  const phases: Phase[] = [];
  listenToPhases(p => phases.push(p));
  const started = performance.now();
  const rows: string[] = [];
  const which = ['after the start of the process', 'for the next new integrand', 'for the same again'];
  for (const [i, title] of which.entries()) {
    phases.length = 0;
    const since = i === 0 ? 0 : performance.now();
    const f = INTEGRANDS[Number(number) + Math.min(i, 1)];
    const r = await integrate(f, { dims: 3, device: 'cuda', method: method as MethodName });
    const end = performance.now();
    rows.push(
      `    ${(end - since).toFixed(1)} ms ${title}: ${r.value} ± ${r.error}, ${r.evaluations} evaluations, ${r.device}`,
    );
    for (const p of phases.sort((a, b) => a.start - b.start))
      if (p.end - p.start >= 0.05 || p.name.startsWith('not linked'))
        rows.push(
          `      ${(p.start - since).toFixed(1).padStart(7)} + ${(p.end - p.start).toFixed(1)} ${p.name}`,
        );
  }
  console.log(`    ${started.toFixed(0)} ms until Quadrille was loaded\n${rows.join('\n')}`);
}

await fresh(process.argv[2]);
process.exit(0);
