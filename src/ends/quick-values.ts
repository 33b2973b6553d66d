/** Values of an integrand at a few points, on the calling thread, before a device would have started. */
import { dueTurn } from '../devices/event-loop.ts';
import { type BoundProgram, type PlainProgram, resultCount } from '../integrand/bound.ts';
import type { PlainValue } from '../integrand/plain.ts';
import { javascriptTarget } from '../integrand/targets/javascript.ts';
import { type EvaluatePoints, evaluatorOf } from '../tasks/evaluate.ts';

/** `isLate`: the run has to end; plain functions are not called any more, and values that are not known are NaN. */
export function quickValues(bound: BoundProgram, isLate: () => boolean): EvaluatePoints {
  return bound.kind === 'compiled' ? compiledValues(bound) : plainValues(bound, isLate);
}

/** As JavaScript, which is ready in a tenth of a millisecond, where WebAssembly takes several. Some pages forbid it. */
function compiledValues(bound: Extract<BoundProgram, { kind: 'compiled' }>): EvaluatePoints {
  try {
    const evaluate = javascriptTarget(bound.program, bound.params);
    const count = resultCount(bound);
    return (points, n) => {
      const values = new Float64Array(n * count);
      evaluate(points, values);
      return values;
    };
  } catch {
    return evaluatorOf(bound);
  }
}

/** Calls a plain function at every point. A call that throws gives NaN: methods may never go where it throws. */
function plainValues(bound: PlainProgram, isLate: () => boolean): EvaluatePoints {
  const { dims, call } = bound;
  return async (points, n) => {
    const values = new Float64Array(n * resultCount(bound)).fill(Number.NaN);
    const waits: Promise<void>[] = [];
    for (let i = 0; i < n; i++) {
      await dueTurn();
      if (isLate()) break;
      const point = Array.from({ length: dims }, (_, d) => points[d * n + i]);
      const asked = new Promise<PlainValue>(resolve => resolve(call.f(point)));
      waits.push(
        asked
          .then(v => {
            if (typeof v !== 'object') values[i] = v;
            else for (let r = 0; r < v.length; r++) values[r * n + i] = v[r];
          })
          .catch(() => {}),
      );
    }
    await Promise.all(waits);
    return values;
  };
}
