/** Cubes with large values where a map is wide, found by a device or by the host, against a plain search; a part of the device suite (suite.ts). */
import assert from 'node:assert/strict';
import type { Session } from '../../src/devices/device.ts';
import { witnessTask } from '../../src/methods/vegas/witness.ts';
import { type HeavyCubes, type HeavyLimits, heavyCubes } from '../../src/tasks/heavy.ts';
import type { PlainTask } from '../../src/tasks/sample.ts';
import { pointOfSample } from '../../src/tasks/sample-point.ts';
import { type Integrand, lowerFor, plainFor } from './program.ts';
import { type Check, isSingle, type Tried } from './suite.ts';
import { sampled } from './whole.ts';

const peaks: Integrand = (x: number[]) => {
  let [near, far] = [0, 0];
  for (let i = 0; i < x.length; i++) {
    near += (x[i] + 0.5) ** 2;
    far += (x[i] - 1) ** 2;
  }
  return Math.exp(-9 * near) - Math.exp(-2 * far);
};
const holes: Integrand = ([x, y]) => (x > 1.5 ? Math.sqrt(-1 - y * y) : 1 / (1.2 - x));

/** A map that is narrow below and wide above, in so many dimensions. */
function mapFor(dims: number, bins: number): Float64Array {
  return Float64Array.from({ length: dims * (bins + 1) }, (_, i) => {
    const d = Math.floor(i / (bins + 1));
    return -1 - d + (3 + d) * ((i % (bins + 1)) / bins) ** (2 + d / 4);
  });
}

/** Bins are looked for one after the other. */
function plainJacobian(map: Float64Array, bins: number, point: readonly number[]): number {
  return point.reduce((product, x, d) => {
    const edges = map.subarray(d * (bins + 1), (d + 1) * (bins + 1));
    let bin = 0;
    while (bin < bins - 1 && edges[bin + 1] <= x) bin++;
    return product * bins * (edges[bin + 1] - edges[bin]);
  }, 1);
}

async function found(
  session: Session,
  task: PlainTask,
  limits: HeavyLimits & { map: Float64Array },
): Promise<HeavyCubes> {
  if (session.heavy) return session.heavy(task, limits);
  return heavyCubes(task, await sampled(session, task), limits, async () => limits.map);
}

const check = (name: string, f: Integrand, dims: number, samples: number, bins: number): Check => ({
  name: `heavy cubes: ${name}, as a plain search finds them`,
  run: async (tried: Tried) => {
    const { device, plain } = tried;
    const session = await device.open(plain ? plainFor(f, dims, {}) : lowerFor(f, dims, {}));
    try {
      const ranges = Array.from({ length: dims }, (_, d): [number, number] => [-1 - d, 2]);
      const task = witnessTask(ranges, samples, { key: [3, 4], iteration: 6, unit: 0.25 }) as PlainTask;
      const map = mapFor(dims, bins);
      const { means, variances, evaluations } = await sampled(session, task);
      const weights = Array.from(means!, (m, c) => 0.25 * (Math.abs(m) + Math.sqrt(variances![c] / 2)));
      const sorted = [...weights].sort((a, b) => a - b);
      const jacobians = weights.map((_, cube) =>
        Math.min(...[0, 1].map(i => plainJacobian(map, bins, pointOfSample(task, 2, 2 * cube + i)))),
      );
      const least = sorted[Math.floor(weights.length / 3)];
      const far = jacobians.map((j, c) => j * weights[c]).sort((a, b) => a - b)[weights.length >> 1];
      const want = weights.flatMap((w, c) => (w > least && jacobians[c] > far / w ? [c] : []));
      const own = await found(session, task, { ranges, map, bins, least, far });
      assert.equal(own.evaluations, evaluations);
      assert.ok(want.length > 10, `${want.length} matter`);
      // a point beside an edge, or a weight beside a limit, may be on either side of it
      const [here, there] = [new Set(own.cubes), new Set(want)];
      const others = want.filter(c => !here.has(c)).length + own.cubes.filter(c => !there.has(c)).length;
      assert.ok(others <= 1 + (isSingle(tried) ? 0.01 * want.length : 0), `${others} cubes differ`);
      assert.deepEqual(
        [...own.cubes].sort((a, b) => a - b),
        own.cubes,
      );
      own.cubes.forEach((cube, i) => {
        if (!there.has(cube)) return;
        assert.ok(Math.abs(own.weights[i] - weights[cube]) < 1e-12 * weights[cube], `weight of ${cube}`);
        assert.ok(
          Math.abs(own.jacobians[i] - jacobians[cube]) < 1e-9 * jacobians[cube],
          `Jacobian of ${cube}`,
        );
      });
      const sum = means!.reduce((a, m) => a + Math.abs(m), 0);
      assert.ok(Math.abs(own.sum - sum) < 1e-12 * sum, `the sum of means: ${own.sum} is ${sum}`);
      const none = await found(session, task, { ranges, map, bins, least: 2 * sorted.at(-1)!, far });
      assert.deepEqual([none.cubes, none.weights, none.jacobians], [[], [], []]);
      assert.equal(none.nonFinite?.count, own.nonFinite?.count);
      assert.equal((own.nonFinite?.count ?? 0) > 0, f === holes);
    } finally {
      session.close();
    }
  },
});

export const heavy: Check[] = [
  check('in one dimension', peaks, 1, 2000, 64),
  check('with values that are not finite', holes, 2, 900, 16),
  check('in three dimensions', peaks, 3, 50_000, 1024),
  check('in nine dimensions', peaks, 9, 20_000, 100),
];
