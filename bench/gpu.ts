/**
 * The GPU: every kernel against the CPU device, every method against known values, and how fast it is. For a machine with
 * an NVIDIA card and nothing else: `node scripts/gpu.mjs` bundles it with its kernels into one folder.
 *
 *   node suite.mjs [--checks] [--methods] [--times]
 */
import { parseArgs } from 'node:util';
import { CpuDevice } from '../src/devices/cpu/cpu.ts';
import { listCards } from '../src/devices/cuda/card.ts';
import { CudaDevice } from '../src/devices/cuda/cuda.ts';
import type { SampleTask } from '../src/devices/device.ts';
import { integrate } from '../src/index.ts';
import { lower } from '../src/integrand/lower/lower.ts';
import { bind } from '../src/integrand/params.ts';
import { read } from '../src/integrand/read.ts';
import { ruleFor } from '../src/methods/cubature/rules.ts';
import { uniformMap } from '../src/methods/vegas/map.ts';
import type { MethodName } from '../src/problem.ts';
import { catalogue } from '../tests/integrands/catalogue.ts';
import type { Entry } from '../tests/integrands/entry.ts';

const { values: options } = parseArgs({
  options: {
    checks: { type: 'boolean', default: false },
    methods: { type: 'boolean', default: false },
    times: { type: 'boolean', default: false },
  },
});
const all = !Object.values(options).some(Boolean);
for (const c of listCards())
  console.log(
    `${c.name}, ${(c.memory / 2 ** 30).toFixed(0)} GiB, compute ${c.computeCapability}, driver ${c.driver}`,
  );
const start = performance.now();
const cuda = new CudaDevice(0);
console.log(`opened in ${(performance.now() - start).toFixed(0)} ms`);
const cpu = new CpuDevice();
let failures = 0;

function open(e: Entry) {
  const program = lower(read(e.f as never), e.dims, e.params ?? {});
  return { kind: 'program', program, params: bind(program.params, e.params ?? {}) } as const;
}

const relative = (a: number, b: number) =>
  a === b ? 0 : Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b));

if (all || options.checks) {
  await checks();
  await runs();
}
if (all || options.methods) await methods();
if (all || options.times) await times();
console.log(failures === 0 ? 'all checks passed' : `${failures} FAILED`);
process.exit(failures === 0 ? 0 : 1);

function verdict(ok: boolean): string {
  if (!ok) failures++;
  return ok ? '' : '  FAILED';
}

/** Sums of samples and of regions, on the card and on the CPU: 1e-12. */
async function checks() {
  console.log(
    '\nkernels against the CPU: worst relative difference of sum, variance, cubes; bins that differ; regions',
  );
  for (const e of catalogue.filter(x => x.domain.flat().every(Number.isFinite))) {
    const [a, b] = [await cuda.open(open(e)), await cpu.open(open(e))];
    let [worst, bins, different] = [0, 0, 0];
    for (const task of tasks(e)) {
      const [x, y] = [await a.sample(task), await b.sample(task)];
      const rms = Math.sqrt(y.variance) + Math.abs(y.sum);
      worst = Math.max(worst, Math.abs(x.sum - y.sum) / (rms || 1), relative(x.variance, y.variance));
      for (const part of ['means', 'variances'] as const) {
        const [own, want] = [x[part], y[part]];
        if (!own || !want) continue;
        const most = want.reduce((m, v) => Math.max(m, Math.abs(v)), 1e-300);
        want.forEach((v, i) => {
          worst = Math.max(worst, Math.abs(v - own[i]) / most);
        });
      }
      y.histogram?.forEach((v, i) => {
        bins++;
        if (v !== x.histogram![i]) different++;
      });
    }
    const rule = ruleFor(e.dims);
    let regions = 0;
    if (e.dims <= 12) {
      const task = regionTask(e, rule);
      const [x, y] = [await a.regions(task), await b.regions(task)];
      const most = y.values.reduce((m, v) => Math.max(m, Math.abs(v)), 1e-300);
      for (let i = 0; i < task.count; i++) {
        regions = Math.max(regions, Math.abs(x.values[i] - y.values[i]) / most);
        if (Math.abs(x.errors[i] - y.errors[i]) > 1e-9 * y.errors[i] + 1e-13 * most)
          regions = Math.max(regions, 1);
      }
    }
    a.close();
    b.close();
    const ok = worst < 1e-11 && regions < 1e-12;
    console.log(
      `${e.name.padEnd(20)} ${worst.toExponential(1)}  ${different} of ${bins}  ${regions.toExponential(1)}${verdict(ok)}`,
    );
  }
}

function* tasks(e: Entry): Generator<SampleTask> {
  const base = { key: [7, 11] as const, iteration: 3, stream: 0, unit: 1 };
  const make = (
    perAxis: number,
    counts: number | Uint32Array,
    bins: number,
    more: Partial<SampleTask>,
  ): SampleTask => ({
    ...base,
    bins,
    edges: uniformMap(e.domain, bins),
    strata: e.domain.map((_, d) => (d < 4 ? perAxis : 1)),
    counts,
    adapt: null,
    ...more,
  });
  const cubes = 3 ** Math.min(4, e.dims);
  yield make(1, 20_000, 1, { cubes: true });
  yield make(3, 7, 50, { adapt: { scale: 2 ** 10, variances: true } });
  yield make(
    3,
    Uint32Array.from({ length: cubes }, (_, i) => (i === 1 ? 9001 : 2 + (i % 300))),
    64,
    {
      adapt: { scale: 1, variances: true },
    },
  );
}

function regionTask(e: Entry, rule: ReturnType<typeof ruleFor>) {
  const count = 37;
  const centres = new Float64Array(e.dims * count);
  const levels = new Uint8Array(e.dims * count);
  e.domain.forEach(([low, high], d) => {
    for (let i = 0; i < count; i++) {
      const level = (i + d) % 4;
      const k = (i * 7 + d * 3) % 2 ** level;
      levels[d * count + i] = level;
      centres[d * count + i] = low + ((high - low) * (2 * k + 1)) / 2 ** (level + 1);
    }
  });
  return { rule, ranges: e.domain, count, centres, levels };
}

/** A whole run of VEGAS+, with maps and samples of cubes that follow from each other: the same points on both. */
async function runs() {
  console.log('\nVEGAS+ on the card and on the CPU: relative difference of value and error, evaluations');
  for (const name of ['f4_5', 'f6_6', 'roos_arnold_10', 'gaussian_4', 'f1_8']) {
    const e = catalogue.find(x => x.name === name)!;
    for (const vegas of [
      { evaluations: 50_000, iterations: 12, adapt: 6 },
      { evaluations: 2_000_000, iterations: 6, adapt: 4 },
      { evaluations: 300_000, iterations: 6, adapt: 4, beta: 1, maxStrata: 16 },
    ]) {
      const options = {
        domain: e.domain,
        params: e.params ?? {},
        method: 'vegas+',
        relTol: 0,
        vegas,
      } as const;
      const run = (device: string) => integrate(e.f as never, { ...options, device });
      const [x, y] = [await run('cuda'), await run('cpu')];
      const off = Math.abs(x.value - y.value) / y.error;
      const ok = off < 1e-9 && relative(x.error, y.error) < 1e-9 && x.evaluations === y.evaluations;
      console.log(
        `${name.padEnd(16)} ${off.toExponential(1)} errors  ${relative(x.error, y.error).toExponential(1)}  ${x.evaluations} ${y.evaluations}${verdict(ok)}`,
      );
    }
  }
}

/** Every method on the card. */
async function methods() {
  console.log('\nmethods: value(error), truth, milliseconds');
  const names: MethodName[] = [
    'plain',
    'mcubes',
    'mcubes1d',
    'vegas+',
    'zmc',
    'cuhre',
    'two-phase',
    'pagani',
    'auto',
  ];
  for (const name of ['f4_5', 'f3_3', 'f6_6', 'f5_8', 'roos_arnold_10']) {
    const e = catalogue.find(x => x.name === name)!;
    for (const method of names) {
      const run = () =>
        integrate(e.f as never, {
          domain: e.domain,
          method,
          device: 'cuda',
          relTol: 1e-3,
          maxEvaluations: method === 'plain' ? 1e8 : 3e8,
          maxTime: 10_000,
        });
      await run();
      const r = await run();
      const pull = Math.abs(r.value - e.truth!) / r.error;
      const ok = !r.converged || r.warnings.length > 0 || pull < 5;
      console.log(
        `${name.padEnd(15)} ${method.padEnd(10)} ${r}`.split('\n')[0],
        `off by ${(Math.abs(r.value / e.truth! - 1)).toExponential(1)}${verdict(ok)}`,
      );
    }
  }
}

/** Twenty iterations of VEGAS+ as cuVegas runs them, and the kernels alone. */
async function times() {
  console.log(
    '\nVEGAS+, 20 iterations of which 10 adapt: ms at 1e7, 1e8, 1e9, 1e10 evaluations, relative error',
  );
  const names = [
    'roos_arnold_10',
    'linear_10',
    'exponential_10',
    'cosine_10',
    'morokoff_caflisch_8',
    'sine_exponential_2',
    'gaussian_4',
  ];
  for (const name of names) {
    const e = catalogue.find(x => x.name === name)!;
    const cells: string[] = [];
    for (const total of [1e5, 1e7, 1e8, 1e9, 1e10]) {
      const run = () =>
        integrate(e.f as never, {
          domain: e.domain,
          params: e.params ?? {},
          method: 'vegas+',
          device: 'cuda',
          relTol: 0,
          maxEvaluations: 2 * total,
          vegas: { evaluations: total / 20, iterations: 20, adapt: 10 },
        });
      await run();
      const r = await run();
      cells.push(`${r.elapsed.toFixed(1)} (${Math.abs(r.value / e.truth! - 1).toExponential(0)})`);
    }
    console.log(name.padEnd(20), cells.join('  '));
  }
  console.log('\nkernels: evaluations a second at 1e8 samples of two a cube, frozen and adapting');
  for (const name of ['roos_arnold_10', 'f4_8', 'f4_5', 'gaussian_4']) {
    const e = catalogue.find(x => x.name === name)!;
    const session = await cuda.open(open(e));
    const perAxis = Math.floor(5e7 ** (1 / e.dims));
    const strata = e.domain.map(() => perAxis);
    const cubes = perAxis ** e.dims;
    const counts = Math.max(2, Math.floor(1e8 / cubes));
    const task: SampleTask = {
      key: [1, 2],
      iteration: 0,
      stream: 0,
      unit: 1,
      bins: 1024,
      edges: uniformMap(e.domain, 1024),
      strata,
      counts,
      adapt: null,
    };
    const rate = async (t: SampleTask) => {
      await session.sample(t);
      const begin = performance.now();
      for (let i = 0; i < 5; i++) await session.sample(t);
      return ((5 * cubes * counts) / (performance.now() - begin)) * 1000;
    };
    const frozen = await rate(task);
    const adapting = await rate({ ...task, adapt: { scale: 2 ** 10, variances: false } });
    console.log(name.padEnd(20), frozen.toExponential(2), adapting.toExponential(2));
    const rule = ruleFor(e.dims);
    const count = Math.floor(2e9 / rule.points);
    const centres = new Float64Array(e.dims * count).fill(0.5);
    const levels = new Uint8Array(e.dims * count).fill(2);
    const regions = { rule, ranges: e.domain, count, centres, levels };
    await session.regions(regions);
    const begin = performance.now();
    await session.regions(regions);
    console.log(
      name.padEnd(20),
      'regions',
      (((count * rule.points) / (performance.now() - begin)) * 1000).toExponential(2),
    );
    session.close();
  }
}
