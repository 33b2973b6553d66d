/**
 * Values of an integrand in float64, on the calling thread: what values of the GPU are compared with. The integrand that was asked for last
 * stays compiled, since PAGANI asks eight times in a run of 2e9 evaluations: compiling it each time took 12 % of the run.
 */
import type { CompiledProgram } from '../../integrand/bound.ts';
import type { Program } from '../../integrand/ir.ts';
import { bindableTarget } from '../../integrand/targets/wasm.ts';

let last: (ReturnType<typeof bindableTarget> & { program: Program }) | null = null;

/** Values at n points: all first coordinates, then all second ones; all first results, then all second ones. */
export function float64Values(
  { program, params }: CompiledProgram,
  points: Float64Array,
  n: number,
): Float64Array {
  if (last?.program !== program) last = { program, ...bindableTarget(program) };
  last.bind(params);
  const values = new Float64Array(n * program.results.length);
  last.evaluate(points, values);
  return values;
}
