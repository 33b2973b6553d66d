/**
 * How fast the deterministic methods are on the CPU, against single-threaded C: Cuba's Cuhre and Johnson's hcubature.
 *
 *   npm run bench:cubature -- [--rates] [--times] [--price] [--deep] [--auto] [--scan] [part of a name…]
 *
 * Rates: evaluations a second, on one core and on all, of `pagani` with a fixed budget.
 * Times: seconds to a tolerance, evaluations, and what the value is really off by; the last column is the better of the C
 * programs over `pagani`. `!` marks a false claim, `>` who did not get there within the limits.
 * Price: evaluations with witnesses and looks over those without them (`cubature: { witnesses: 0 }`), where both converge.
 * Deep: PAGANI's tolerances, 1e-3/5^k down to 1.024e-10, as far as a minute reaches; `pagani` alone.
 * Auto: seconds of `pagani`, `vegas+` and `auto` over every integrand with a known value, and their sums.
 * Scan: 10,000 two-dimensional integrals to 1e-6.
 *
 * A time is the best of several runs in turns, after a first one: other work on the machine slows all alike.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { integrate, type Result, scan } from '../src/index.ts';
import type { CommonOptions } from '../src/problem.ts';
import { catalogue } from '../tests/integrands/catalogue.ts';
import type { Entry } from '../tests/integrands/entry.ts';
import { CCubature } from './cubature-c.ts';

const NAMES = ['f1_8', 'f2_6', 'f3_3', 'f3_8', 'f4_5', 'f4_8', 'f5_5', 'f5_8', 'f6_6', 'f7_8', 'f8_8'];
const TOLERANCES = [1e-3, 4e-5, 1.6e-6, 6.4e-8];
const DEEP = Array.from({ length: 11 }, (_, k) => 1e-3 / 5 ** k);
const RATE_EVALUATIONS = 1e8;
/** Seconds that a run may take, that the repeats of a row may take, and how many there are at most. */
const LIMIT = { run: 6, deep: 60, repeats: 0.5, most: 5 };

const { values: options, positionals: filters } = parseArgs({
  allowPositionals: true,
  options: {
    rates: { type: 'boolean', default: false },
    times: { type: 'boolean', default: false },
    price: { type: 'boolean', default: false },
    deep: { type: 'boolean', default: false },
    auto: { type: 'boolean', default: false },
    scan: { type: 'boolean', default: false },
  },
});
const all = !Object.values(options).some(Boolean);
const wanted = (name: string) => filters.length === 0 || filters.some(f => name.includes(f));
const entries = NAMES.map(n => catalogue.find(e => e.name === n)!).filter(e => wanted(e.name));
console.log(`${cpus()[0].model.trim()}, ${cpus().length} cores, Node ${process.version}`);

const run = (e: Entry, more: Partial<CommonOptions>): Promise<Result> =>
  integrate(e.f as never, { domain: e.domain, params: e.params ?? {}, ...more });
const offBy = (e: Entry, value: number) => Math.abs(value / e.truth! - 1);
const seconds = (s: number) => (s < 0.1 ? s.toPrecision(2) : s.toFixed(2));
const row = (cells: string[], widths: number[]) =>
  console.log(cells.map((c, i) => c.padEnd(widths[i] ?? 0)).join('  '));

if (all || options.rates) await rates();
if (all || options.times) await times();
if (all || options.price) await price();
if (all || options.deep) await deep();
if (all || options.auto) await auto();
if (all || options.scan) await scans();
process.exit(0);

async function rates() {
  console.log(`\nEvaluations a second, pagani, ${RATE_EVALUATIONS.toExponential(0)} evaluations`);
  row(['', 'one core', 'all cores'], [6, 10]);
  for (const e of entries) {
    const rate = async (device: string) => {
      const r = await run(e, { method: 'pagani', device, relTol: 1e-14, maxEvaluations: RATE_EVALUATIONS });
      return (r.evaluations / r.elapsed) * 1000;
    };
    await rate('cpu');
    const [one, every] = [await rate('cpu:1'), await rate('cpu')];
    row([e.name, one.toExponential(1), every.toExponential(1)], [6, 10]);
  }
}

async function times() {
  const c = CCubature.start();
  if (typeof c === 'string') console.log(`no C programs: ${c}`);
  const widths = [6, 8, 30, 30, 30, 30, 30];
  console.log('\nSeconds to a tolerance / evaluations / really off by');
  row(['', '', 'Cuba Cuhre, C', 'hcubature, C', 'cuhre', 'two-phase', 'pagani', 'C / pagani'], widths);
  for (const e of entries) {
    const lost = new Set<string>();
    for (const relTol of TOLERANCES) {
      const cells: string[] = [];
      const best: Record<string, number> = {};
      for (const method of ['cuhre', 'hcubature'] as const) {
        if (typeof c === 'string' || lost.has(`C ${method}`)) {
          cells.push('');
          continue;
        }
        const r = await bestOf(() =>
          c.run(method, e.name, relTol, 2e9, { seconds: LIMIT.run }).then(x => ({ ...x!, time: x!.seconds })),
        );
        if (!r.converged) lost.add(`C ${method}`);
        else best[`C ${method}`] = r.time;
        cells.push(r.converged ? cell(e, relTol, r) : `>${seconds(r.time)}`);
      }
      for (const method of ['cuhre', 'two-phase', 'pagani'] as const) {
        if (lost.has(method)) {
          cells.push('');
          continue;
        }
        const r = await bestOf(async () => {
          const x = await run(e, { method, relTol, maxEvaluations: 1e10, maxTime: 1000 * LIMIT.run });
          return {
            time: x.elapsed / 1000,
            value: x.value,
            evaluations: x.evaluations,
            converged: x.converged,
          };
        });
        if (!r.converged) lost.add(method);
        else best[method] = r.time;
        cells.push(r.converged ? cell(e, relTol, r) : `>${seconds(r.time)}`);
      }
      const peers = Math.min(best['C cuhre'] ?? Infinity, best['C hcubature'] ?? Infinity);
      const ratio = best.pagani && peers < Infinity ? (peers / best.pagani).toFixed(1) : '';
      row([e.name, relTol.toExponential(), ...cells, ratio], widths);
      if (lost.size === 5 || (typeof c === 'string' && lost.size === 3)) break;
    }
  }
  if (typeof c !== 'string') c.stop();
}

async function price() {
  const methods = ['cuhre', 'two-phase', 'pagani'] as const;
  console.log('\nEvaluations with random points to confirm claims, and times those without');
  row(['', '', ...methods], [6, 8, 16, 16, 16]);
  for (const e of entries) {
    const lost = new Set<string>();
    for (const relTol of TOLERANCES) {
      const cells: string[] = [];
      for (const method of methods) {
        const of = (more?: Partial<CommonOptions>) =>
          run(e, { method, relTol, maxEvaluations: 1e9, maxTime: 1000 * LIMIT.run, ...more });
        const plain = lost.has(method) ? null : await of({ cubature: { witnesses: 0 } });
        const confirmed = plain?.converged ? await of() : null;
        if (!confirmed?.converged) lost.add(method);
        const { evaluations } = confirmed ?? {};
        cells.push(
          confirmed?.converged
            ? `${evaluations!.toExponential(1)} (${(evaluations! / plain!.evaluations).toFixed(2)})`
            : '',
        );
      }
      if (cells.some(Boolean)) row([e.name, relTol.toExponential(), ...cells], [6, 8, 16, 16, 16]);
    }
  }
}

interface Timed {
  time: number;
  value: number;
  evaluations: number;
  converged: boolean;
}

async function bestOf(once: () => Promise<Timed>): Promise<Timed> {
  let best = await once();
  for (let n = 0, spent = best.time; n < LIMIT.most && spent < LIMIT.repeats && best.converged; n++) {
    const next = await once();
    spent += next.time;
    if (next.time < best.time) best = next;
  }
  return best;
}

function cell(e: Entry, relTol: number, { time, evaluations, value }: Timed): string {
  const off = offBy(e, value);
  return `${seconds(time)} / ${evaluations.toExponential(1)} / ${off.toExponential(1)}${off > relTol ? ' !' : ''}`;
}

async function deep() {
  console.log('\nPAGANI down to 1.024e-10, a minute a row: seconds / evaluations / really off by / memory');
  for (const e of entries) {
    for (const relTol of DEEP) {
      const r = await run(e, { method: 'pagani', relTol, maxEvaluations: 1e11, maxTime: 1000 * LIMIT.deep });
      const time = r.elapsed / 1000;
      const text = cell(e, relTol, { ...r, time, converged: true } as Timed);
      const memory = `${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MiB`;
      row(
        [e.name, relTol.toExponential(), r.converged ? text : `${r.status} ${withError(r)}`, memory],
        [6, 9, 34],
      );
      if (!r.converged) break;
    }
  }
}

// a declaration: what runs stands above it
function withError(r: Result): string {
  return `at ${(r.error / Math.abs(r.value)).toExponential(1)} after ${seconds(r.elapsed / 1000)}`;
}

async function auto() {
  const methods = ['pagani', 'vegas+', 'auto'] as const;
  const sums = { best: 0, auto: 0, pagani: 0, 'vegas+': 0 };
  console.log(`\nSeconds, at most 1e9 evaluations and ${LIMIT.run} s; ! a false claim, (…) not converged`);
  for (const e of catalogue.filter(e => e.truth !== undefined && wanted(e.name))) {
    for (const method of methods) await run(e, { method, relTol: 1e-2, maxEvaluations: 3e5 }); // compiled, warm
    for (const relTol of [1e-3, 1e-5, 1e-7]) {
      const cells: string[] = [];
      const time: Record<string, number> = {};
      let choice = '';
      for (const method of methods) {
        const r = await run(e, { method, relTol, maxTime: 1000 * LIMIT.run });
        const limit = r.method === 'vegas+' ? Math.max(relTol, (4.5 * r.error) / Math.abs(r.value)) : relTol;
        const mark = r.converged && offBy(e, r.value) > limit ? ' !' : '';
        const text = seconds(r.elapsed / 1000);
        cells.push(r.converged ? text + mark : `(${text})`);
        if (r.converged) time[method] = r.elapsed / 1000;
        if (method === 'auto') choice = r.choice!;
      }
      const best = Math.min(time.pagani ?? Infinity, time['vegas+'] ?? Infinity);
      if (best < Infinity) {
        sums.best += best;
        for (const m of methods) sums[m] += time[m] ?? LIMIT.run;
      }
      row([e.name, relTol.toExponential(), ...cells, choice], [20, 6, 10, 10, 10]);
    }
  }
  console.log(`sums over rows that one of them reaches (a miss counts ${LIMIT.run} s):`, sums);
  console.log(`auto over the best of each row: ${(sums.auto / sums.best).toFixed(2)}`);
}

async function scans() {
  const params = Array.from({ length: 10_000 }, (_, i) => ({ a: 1 + i / 1000, b: (i % 100) / 10 }));
  const f = ([x, y]: number[], p: { a: number; b: number }) =>
    Math.exp(-p.a * (x * x + y * y)) * Math.cos(p.b * x * y);
  console.log('\n10,000 integrals in 2 dimensions to 1e-6');
  for (const method of ['auto', 'pagani', 'cuhre', 'two-phase'] as const) {
    const start = performance.now();
    const results = await scan(f as never, { dims: 2, params, relTol: 1e-6, method });
    const evaluations = results.reduce((n, r) => n + r.evaluations, 0);
    const converged = results.filter(r => r.converged).length;
    const time = seconds((performance.now() - start) / 1000);
    row(
      [method, `${time} s`, `${converged} converged`, `${evaluations.toExponential(1)} evaluations`],
      [10, 8],
    );
  }
}
