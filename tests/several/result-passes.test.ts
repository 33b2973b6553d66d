/** Units of several results, and correlations where errors are raised. */
import { describe, expect, test } from 'vitest';
import type { Estimate } from '../../src/methods/combine.ts';
import { withErrors } from '../../src/methods/raised-errors.ts';
import { ResultPasses } from '../../src/methods/result-passes.ts';
import { PeakWitnesses, witnessTask } from '../../src/methods/vegas/witness.ts';
import { heavyCubes } from '../../src/tasks/heavy.ts';
import { uniformMap } from '../../src/tasks/map.ts';

const several = { count: 2, goals: [0, 1], leads: [0, 1], names: ['constant', 'peak'] };

/** 10,000 samples have come to a constant of 1, known to this error, and to 1.000(1) for the peak. */
const estimateWith = (error: number): Estimate => {
  const each = [
    { value: 1, error, evaluations: 10_000 },
    { value: 1, error: 1e-3, evaluations: 10_000 },
  ];
  return { ...each[0], results: { each, correlations: [[1, 0, 1]] } };
};

describe('witnesses of two goals', () => {
  /** The boxes that speak against the estimate when one of 100 witnesses meets a value of the peak. */
  const against = async (now: Estimate, value: number) => {
    const passes = new ResultPasses(several, 2 ** -53);
    const [pass] = passes.forWitnesses(now);
    const ranges = [[0, 1]] as const;
    const task = witnessTask(ranges, 100, { key: [1, 2], iteration: 0, unit: 1 });
    const witnesses = new PeakWitnesses(ranges);
    const means = new Float64Array(50).fill(Math.hypot(1 / pass.units[0], 1 / pass.units[1]));
    means[20] = Math.hypot(1 / pass.units[0], value / pass.units[1]);
    const sums = { means, variances: new Float64Array(50), evaluations: 100, nonFinite: null };
    const one = passes.asOne(now)!;
    const map = uniformMap(ranges, 1);
    const limits = { ...witnesses.limits(task, one), map, bins: 1 };
    witnesses.add(task, await heavyCubes(task, sums as never, limits, async () => map), one);
    return witnesses.against(one);
  };
  test.each([1e-16, 1e-9, 1e-3])(
    'a constant known to %d does not hide a value of 1,000 of the other, and one of 10 speaks against nothing',
    async error => {
      expect(await against(estimateWith(error), 1000)).toEqual([[[0.4, 0.42]]]);
      expect(await against(estimateWith(error), 10)).toEqual([]);
    },
  );
});

describe('units of results whose squares overflowed', () => {
  // float32 ends at 2^128: a step of 2^300 made 0 of all values of both results
  test.each([
    ['float64', 2 ** -53, 2 ** 300],
    ['float32', 2 ** -24, 2 ** 40],
  ])('in %s the unit grows by a step that leaves digits', (_, epsilon, step) => {
    const passes = new ResultPasses(several, epsilon);
    const [pass] = passes.passesFor(false);
    const sums = {
      sums: Float64Array.of(Infinity, 1),
      covariances: Float64Array.of(Infinity, 0, 1),
      concentrations: Float64Array.of(Infinity, 1),
    };
    expect(passes.outOfUnit({ passes: [{ pass, sums }], squares: 0 } as never)).toBe(true);
    expect(passes.units).toEqual([step, 1]);
  });
});

describe('errors that are raised for what samples do not show', () => {
  test('covariances stay, so that correlations fall: a ratio keeps what is hidden of both', () => {
    const estimates = {
      values: [2, 3, 4],
      errors: [0.1, 0.2, 0.3],
      correlations: [[1, 0.9, 1, -0.5, 0.4, 1]],
    };
    const raised = withErrors(estimates, [0.2, 0.2, 0.9]);
    expect(raised.errors).toEqual([0.2, 0.2, 0.9]);
    expect(raised.correlations![0].map(c => Number(c.toFixed(12)))).toEqual([
      1, 0.45, 1, -0.083333333333, 0.133333333333, 1,
    ]);
  });
  test('without raised errors nothing changes, to the bit', () => {
    const estimates = { values: [2, 3], errors: [0.1, 0.3], correlations: [[1, 0.9, 1]] };
    expect(withErrors(estimates, [0.1, 0.3])).toEqual(estimates);
  });
});
