/** Every kernel against the CPU device, whole runs of VEGAS+, and every method against known values. */
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import { SeveralCards } from '../../src/devices/cuda/several.ts';
import type { SampleTask } from '../../src/devices/device.ts';
import type { MethodName } from '../../src/problem.ts';
import { uniformMap } from '../../src/tasks/map.ts';
import { ruleFor } from '../../src/tasks/rules.ts';
import { catalogue } from '../../tests/integrands/catalogue.ts';
import type { Entry } from '../../tests/integrands/entry.ts';
import { cpu, cuda, entry, onCard, opened, relative, verdict } from './common.ts';

/** Sums of samples and of regions, on the card and on the CPU: 1e-12. */
export async function checks() {
  console.log(
    '\nkernels against the CPU: worst relative difference of sum, variance, cubes; bins that differ; regions',
  );
  for (const e of catalogue.filter(x => x.domain.flat().every(Number.isFinite))) {
    const [a, b] = [await cuda.open(opened(e)), await cpu.open(opened(e))];
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
      `${e.name.padEnd(20)} ${worst.toExponential(1)}  ${different} of ${bins}  ${regions.toExponential(1)}${verdict(ok, e.name)}`,
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
export async function runs() {
  console.log('\nVEGAS+ on the card and on the CPU: relative difference of value and error, evaluations');
  for (const name of ['f4_5', 'f6_6', 'roos_arnold_10', 'gaussian_4', 'f1_8']) {
    const e = entry(name);
    for (const vegas of [
      { evaluations: 50_000, iterations: 12, adapt: 6 },
      { evaluations: 2_000_000, iterations: 6, adapt: 4 },
      { evaluations: 300_000, iterations: 6, adapt: 4, beta: 1, maxStrata: 16 },
    ]) {
      const run = (device: string) => onCard(e, { method: 'vegas+', relTol: 0, vegas, device });
      const [x, y] = [await run('cuda'), await run('cpu')];
      const off = Math.abs(x.value - y.value) / y.error;
      const ok = off < 1e-9 && relative(x.error, y.error) < 1e-9 && x.evaluations === y.evaluations;
      console.log(
        `${name.padEnd(16)} ${off.toExponential(1)} errors  ${relative(x.error, y.error).toExponential(1)}  ${x.evaluations} ${y.evaluations}${verdict(ok, e.name)}`,
      );
    }
  }
}

/** The card opened twice, as two that share the work: the bits of one. */
export async function twice() {
  console.log('\nthe card as two: value and error to the bit');
  const both = new SeveralCards([new CudaDevice(0), new CudaDevice(0)]);
  for (const name of ['f4_5', 'gaussian_4', 'roos_arnold_10'])
    for (const method of ['vegas+', 'mcubes', 'zmc', 'two-phase'] as const) {
      const e = entry(name);
      const options = { method, relTol: 1e-3, maxEvaluations: 2e7, maxTime: 10_000 };
      const one = await onCard(e, options);
      const two = await onCard(e, { ...options, device: both });
      const ok = one.value === two.value && one.error === two.error;
      console.log(`${name.padEnd(15)} ${method.padEnd(10)} ${two}`.split('\n')[0], verdict(ok, e.name));
    }
}

/** Every method on the card. */
export async function methods() {
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
    const e = entry(name);
    for (const method of names) {
      const run = () =>
        onCard(e, {
          method,
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
        `off by ${(Math.abs(r.value / e.truth! - 1)).toExponential(1)}${verdict(ok, e.name)}`,
      );
    }
  }
}
