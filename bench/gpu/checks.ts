/** The device suite, whole runs of VEGAS+ beside the CPU's, and every method against known values. */
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import { Spread } from '../../src/devices/spread.ts';
import type { MethodName } from '../../src/problem.ts';
import { SUITE } from '../../tests/devices/suite.ts';
import { cuda, entry, onCard, relative, verdict } from './common.ts';

/** What every device has to do: the checks that the tests run on the emulator. */
export async function checks() {
  const start = performance.now();
  let passed = 0;
  for (const { name, run } of SUITE) {
    try {
      await run({ device: cuda });
      passed++;
    } catch (e) {
      console.log(`${name}: ${(e as Error).message.split('\n')[0]}${verdict(false, name)}`);
    }
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`\nthe device suite: ${passed} of ${SUITE.length} checks passed, ${seconds} s`);
}

/**
 * How far apart card and CPU may be, in errors. The card refines its map to rounding only, and what differs in a last digit grows tenfold with
 * each iteration that learns: on the CPU alone, moving all edges by 2^-52 of themselves after each refinement moves the value of
 * gaussian_4 with β = 1 by 4e-11 to 1.6e-8 errors (three seeds, two patterns), and that of f4_5 by 8e-12 to 3e-10 (_trial_).
 */
const SAME_RUN = 1e-7;

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
      const ok = off < SAME_RUN && relative(x.error, y.error) < SAME_RUN && x.evaluations === y.evaluations;
      console.log(
        `${name.padEnd(16)} ${off.toExponential(1)} errors  ${relative(x.error, y.error).toExponential(1)}  ${x.evaluations} ${y.evaluations}${verdict(ok, e.name)}`,
      );
    }
  }
}

/** The card opened twice, as two that share the work: the bits of one. */
export async function twice() {
  console.log('\nthe card as two: value and error to the bit');
  const both = new Spread([new CudaDevice(0), new CudaDevice(0)]);
  for (const name of ['f4_5', 'gaussian_4', 'roos_arnold_10'])
    for (const method of ['vegas+', 'mcubes', 'zmc', 'two-phase'] as const) {
      const e = entry(name);
      // no maxTime: with a deadline iterations are planned by the clock
      const options = { method, relTol: 1e-3, maxEvaluations: 2e7 };
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
