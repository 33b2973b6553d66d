/** Runs of methods on WebGPU, in a process that finds a driver: prints what each found as a line of JSON. Nothing is closed at the end. */

import { WebGpuDevice } from '../../src/devices/webgpu/webgpu.ts';
import { integrate, scan } from '../../src/index.ts';
import { CUT_BEHIND, cutBehind, cutOff } from '../claims/behind-borders.ts';
import { cornerTruth } from '../claims/corner-truth.ts';

const device = new WebGpuDevice();
const say = (name: string, found: object) => console.log(JSON.stringify({ name, ...found }));

/** 1/(π²·w²) of it is 1; smooth, in closed form. */
const peak = ([x, y]: number[]) => 1 / ((0.04 + (x - 0.4) * (x - 0.4)) * (0.04 + (y - 0.4) * (y - 0.4)));
const truth = (5 * (Math.atan(3) + Math.atan(2))) ** 2;
/** Float32 has 1e-4 of it: 1000.3 and 1000.2 are rounded to 6e-5. */
const cancelling = ([x, y]: number[]) => 1000.3 + x * y - 1000.2;

for (const method of ['vegas+', 'mcubes', 'lattice', 'pagani', 'two-phase', 'zmc', 'auto'] as const) {
  const r = await integrate(cancelling, { dims: 2, device, method, relTol: 1e-6, maxEvaluations: 1e9 });
  const { value, error, status, evaluations, warnings } = r;
  say(`noise of ${method}`, { off: Math.abs(value - 0.35), error, status, evaluations, warnings });
}

const fixed = { dims: 2, method: 'plain', vegas: { evaluations: 20_000, iterations: 3 } } as const;
const [single, double] = [await integrate(peak, { ...fixed, device }), await integrate(peak, fixed)];
say('the same seed', { single: single.value, double: double.value, error: double.error });

say('cuhre', {
  message: await integrate(peak, { dims: 2, device, method: 'cuhre' }).then(
    () => null,
    e => e.message,
  ),
});

const params = [{ a: 1 }, { a: 4 }];
const scanned = await scan(([x], p: { a: number }) => p.a * x, { params, dims: 1, device, relTol: 1e-3 });
say('scan', { values: scanned.map(r => r.value) });

const tiny = await integrate(([x], p: { a: number; b: number }) => x + p.a + p.b / 1e39, {
  dims: 1,
  device,
  params: { a: 1e-60, b: 1e39 },
  relTol: 1e-2,
});
say('numbers beyond float32', { warnings: tiny.warnings });

for (const size of [1e20, 1e30, 1e-25]) {
  const options = { dims: 2, device, params: { size }, method: 'vegas+', relTol: 1e-2 } as const;
  const r = await integrate(([x, y], p: { size: number }) => p.size * (x + y), options);
  say(`an integral of ${size}`, { value: r.value / size, error: r.error / size, status: r.status });
}

const smooth = await integrate(peak, {
  dims: 2,
  device,
  method: 'lattice',
  relTol: 1e-4,
  maxEvaluations: 4e6,
});
say('lattice', { off: Math.abs(smooth.value - truth), error: smooth.error, status: smooth.status });

for (const p of [1.5, 1.7, 1.9])
  for (const relTol of [3e-4, 1e-4]) {
    const corner = ([a, b, c, d, e]: number[], q: { p: number }) => (a + b + c + d + e) ** -q.p;
    const r = await integrate(corner, { dims: 5, params: { p }, device, method: 'pagani', relTol });
    const off = Math.abs(r.value / cornerTruth(5, p) - 1) / relTol;
    say(`a corner, p ${p}, to ${relTol}`, { off, status: r.status });
  }

for (const behind of CUT_BEHIND) {
  const { params, truth } = cutBehind(behind);
  const r = await integrate(cutOff, { dims: 4, params, device, method: 'pagani', relTol: 1e-3 });
  say(`a step ${behind} behind a border`, { off: Math.abs(r.value / truth - 1) / 1e-3, status: r.status });
}

const aborting = new AbortController();
setTimeout(() => aborting.abort(), 50);
const aborted = await integrate(peak, {
  dims: 2,
  device,
  method: 'plain',
  relTol: 1e-9,
  maxEvaluations: 1e12,
  signal: aborting.signal,
});
say('aborted', { status: aborted.status });

const running = integrate(peak, { dims: 2, device, method: 'plain', relTol: 1e-9, maxEvaluations: 1e12 });
setTimeout(async () => (await device.gpu()).device.destroy(), 50);
say('lost', {
  message: await running.then(
    () => null,
    e => `${e.name}: ${e.message}`,
  ),
  again: (await integrate(peak, { dims: 2, device, relTol: 1e-3 })).status,
});
