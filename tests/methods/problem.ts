/** A problem as a method gets it, for tests that drive methods by hand. */
import type { Session } from '../../src/devices/device.ts';
import type { MethodProblem, Run } from '../../src/methods/method.ts';
import type { MethodName } from '../../src/methods/names.ts';
import { startMethod } from '../../src/methods/registry.ts';
import { keyOf } from '../../src/random/philox.ts';
import { cube } from '../integrands/entry.ts';

export function start(
  method: MethodName,
  session: Session,
  dims: number,
  over: Partial<MethodProblem> = {},
): Run {
  const problem: MethodProblem = {
    session,
    kind: 'cpu',
    epsilon: 2 ** -53,
    ranges: cube(dims),
    key: keyOf(1),
    relTol: 1e-3,
    absTol: 0,
    maxEvaluations: 1e6,
    maxIterations: 10_000,
    deadline: Infinity,
    signal: undefined,
    onNonFinite() {},
    ...over,
  };
  return startMethod(method, problem, {
    vegas: {},
    cubature: {},
    lattice: {},
    zmc: {},
  });
}
