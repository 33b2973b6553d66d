/**
 * Cubature rules through WebGPU: evaluations per second of halving all regions of a pool, which the kernel of regions takes most of. The goal
 * is 2e11 in 8 dimensions.
 */
import { WebGpuDevice } from '../../src/devices/webgpu/webgpu.ts';
import { ruleFor } from '../../src/tasks/every-rule.ts';
import { entry, opened } from './entries.ts';

const HALVINGS = 5;

export async function webgpuRegions(
  names: readonly string[] = ['f1_8', 'f3_8', 'f4_8', 'f5_8', 'f4_5', 'f6_6'],
): Promise<void> {
  const device = new WebGpuDevice();
  console.log(
    '\nWebGPU: halving all regions of a pool: how many there are then, ms, evaluations per second; the best of two runs',
  );
  for (const name of names) {
    const e = entry(name);
    const session = await device.open(opened(e));
    const rule = ruleFor(e.dims);
    const best: number[] = Array(HALVINGS).fill(Infinity);
    const counts: number[] = [];
    for (let run = 0; run < 2; run++) {
      const pool = await session.pool!({ rule: rule.name, ranges: e.domain });
      await pool.start(Math.round(16 / e.dims));
      for (let i = 0; i < HALVINGS; i++) {
        await pool.select(Number.POSITIVE_INFINITY);
        const begin = performance.now();
        const { evaluated } = await pool.halve(2 ** 30);
        best[i] = Math.min(best[i], performance.now() - begin);
        counts[i] = evaluated;
      }
      pool.close();
    }
    session.close();
    const rate = (i: number) => ((counts[i] * rule.points) / best[i]) * 1000;
    console.log(
      name.padEnd(6),
      best.map((ms, i) => `${counts[i]}: ${ms.toFixed(2)} (${rate(i).toExponential(1)}/s)`).join('  '),
    );
  }
  await device.close();
}
