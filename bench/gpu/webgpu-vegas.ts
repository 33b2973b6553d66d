/**
 * VEGAS+ through WebGPU, and where its time goes. For whole runs: milliseconds of an iteration, how often the host waited for the GPU and
 * for how long; the rest is the host's. For single iterations on an open session, as VEGAS+ has them after it has learned: what sampling,
 * refining and allotting take.
 */
import type { Session } from '../../src/devices/device.ts';
import { WebGpuDevice } from '../../src/devices/webgpu/webgpu.ts';
import { integrate, type Result } from '../../src/index.ts';
import { uniformMap } from '../../src/tasks/map.ts';
import { type Counts, type SampleTask, samplesOf, wholeOf } from '../../src/tasks/sample.ts';
import { strataFor } from '../../src/tasks/strata.ts';
import { entry, opened } from './entries.ts';

const NAMES = [
  'roos_arnold_10',
  'linear_10',
  'cosine_10',
  'morokoff_caflisch_8',
  'f4_8',
  'gaussian_4',
] as const;

export async function webgpuVegas(totals: readonly number[] = [1e5, 2e6, 1e8, 1e9, 1e10]): Promise<void> {
  const device = new WebGpuDevice();
  const gpu = await device.gpu();
  console.log(
    '\nWebGPU: VEGAS+, 20 iterations of which 10 adapt: ms (relative error), evaluations per second at the last',
  );
  const phases: string[] = [];
  for (const name of NAMES) {
    const e = entry(name);
    const cells: string[] = [];
    let rate = 0;
    for (const total of totals) {
      const vegas = { evaluations: total / 20, iterations: 20, adapt: 10 };
      const options = { domain: e.domain, params: e.params ?? {}, device, relTol: 0, vegas } as const;
      const run = () => integrate(e.f as never, { ...options, method: 'vegas+', maxEvaluations: 2 * total });
      await run();
      // as `timed` of common.ts does for CUDA: short runs are repeated until JavaScript is compiled
      const runs: { r: Result; waits: number; waited: number }[] = [];
      for (let sum = 0; runs.length < 3 || (sum < 800 && runs.length < 600); ) {
        const before = { ...gpu.waits };
        const r = await run();
        runs.push({ r, waits: gpu.waits.count - before.count, waited: gpu.waits.ms - before.ms });
        sum += r.elapsed;
      }
      const warm = runs.slice(runs.length >> 1).sort((a, b) => a.r.elapsed - b.r.elapsed);
      const { r, waits, waited } = warm[(warm.length - 1) >> 1];
      cells.push(`${r.elapsed.toFixed(1)} (${Math.abs(r.value / e.truth! - 1).toExponential(0)})`);
      phases.push(
        `${name.padEnd(20)} ${total.toExponential(0)}  ${(r.elapsed / 20).toFixed(2)} ms an iteration: ${(waited / 20).toFixed(2)} in ${(waits / 20).toFixed(1)} waits for the GPU, ${((r.elapsed - waited) / 20).toFixed(2)} on the host`,
      );
      rate = (r.evaluations / r.elapsed) * 1000;
    }
    console.log(name.padEnd(20), cells.join('  '), ` ${rate.toExponential(1)}/s`);
  }
  console.log(`\nWebGPU: VEGAS+, where the time of these runs went\n${phases.join('\n')}`);
  await device.close();
}

/** The median of five, in milliseconds. */
async function median(f: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const begin = performance.now();
    await f();
    times.push(performance.now() - begin);
  }
  return times.sort((a, b) => a - b)[2];
}

/** Phases of an iteration, on an open session. */
export async function webgpuPhases(
  sizes: readonly number[] = [5e3, 1e5, 5e6, 5e7, 4e8],
  names: readonly string[] = ['roos_arnold_10', 'morokoff_caflisch_8', 'f4_8', 'gaussian_4'],
): Promise<void> {
  const device = new WebGpuDevice();
  console.log(
    '\nWebGPU: an iteration of VEGAS+ in ms: samples that measure, that adapt, and of which a sixteenth is in the histogram (evaluations per second); refining; allotting with the wait for it; 1024 bins',
  );
  for (const name of names) {
    const e = entry(name);
    const session: Session = await device.open(opened(e));
    const gpu = await device.gpu();
    for (const evaluations of sizes) {
      const { perAxis } = strataFor(evaluations, e.dims, 4, 2 ** 20);
      const cubes = perAxis.reduce((a, b) => a * b, 1);
      const task: SampleTask = {
        key: [1, 2],
        iteration: 0,
        stream: 0,
        unit: 1,
        bins: 1024,
        edges: uniformMap(e.domain, 1024),
        strata: perAxis,
        counts: Math.max(2, Math.floor(evaluations / cubes)),
        adapt: null,
      };
      const scale = 2 ** Math.floor(Math.log2(2 ** 42 / evaluations));
      const adapt = { scale, variances: true, keep: true };
      const sample = (t: SampleTask) => session.sample(t, wholeOf(t));
      const learning = session.learning!;
      await sample({ ...task, adapt });
      const edges = await learning.refine({ alpha: 0.5, floor: 0.01, shared: false });
      const refining = await median(() => learning.refine({ alpha: 0.5, floor: 0.01, shared: false }));
      let counts: Counts = await learning.allocate(0.75, evaluations);
      let asked = evaluations;
      const allotting = await median(async () => {
        counts = await learning.allocate(0.75, --asked);
        await gpu.done();
      });
      const own = { ...task, edges, counts, iteration: 1 };
      const measuring = await median(() => sample(own));
      // the allocation is made from what the last adapting iteration left, and belongs to its counts
      const adapting = await median(() => sample({ ...own, adapt }));
      const counting = await median(() => sample({ ...own, adapt: { ...adapt, limit: 2 ** 28 } }));
      const each = (ms: number) => `${ms.toFixed(2)} (${((samplesOf(own) / ms) * 1000).toExponential(1)}/s)`;
      console.log(
        name.padEnd(20),
        evaluations.toExponential(0),
        `${each(measuring)}  ${each(adapting)}  ${each(counting)}  ${refining.toFixed(2)}  ${allotting.toFixed(2)}`,
      );
    }
    session.close();
  }
  await device.close();
}
