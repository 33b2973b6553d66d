/** Values of an integrand at a few points, on the calling thread, before a device would have started. */
import type { BoundProgram, PlainProgram } from './integrand/bound.ts';
import { javascriptTarget } from './integrand/targets/javascript.ts';
import { type EvaluatePoints, evaluatorOf } from './tasks/pointwise.ts';

/** Milliseconds of calls of a plain function after which timers and messages get a turn. */
const TURN_MS = 20;

/** `isLate`: the run has to end; plain functions are not called any more, and values that are not known are NaN. */
export function quickValues(bound: BoundProgram, isLate: () => boolean): EvaluatePoints {
  return bound.kind === 'compiled' ? compiledValues(bound) : plainValues(bound, isLate);
}

/** As JavaScript, which is ready in a tenth of a millisecond, where WebAssembly takes several. Some pages forbid it. */
function compiledValues(bound: Extract<BoundProgram, { kind: 'compiled' }>): EvaluatePoints {
  try {
    const evaluate = javascriptTarget(bound.program, bound.params);
    return (points, n) => {
      const values = new Float64Array(n);
      evaluate(points, values);
      return values;
    };
  } catch {
    return evaluatorOf(bound);
  }
}

/** Calls a plain function at every point. A call that throws gives NaN: methods may never go where it throws. */
function plainValues({ dims, call }: PlainProgram, isLate: () => boolean): EvaluatePoints {
  return async (points, n) => {
    const values = new Float64Array(n).fill(Number.NaN);
    const waits: Promise<void>[] = [];
    let turn = performance.now();
    for (let i = 0; i < n && !isLate(); i++) {
      const point = Array.from({ length: dims }, (_, d) => points[d * n + i]);
      const asked = new Promise<number>(resolve => resolve(call.f(point)));
      waits.push(
        asked
          .then(v => {
            values[i] = v;
          })
          .catch(() => {}),
      );
      if (performance.now() - turn < TURN_MS) continue;
      await new Promise(resolve => setTimeout(resolve, 0));
      turn = performance.now();
    }
    await Promise.all(waits);
    return values;
  };
}
