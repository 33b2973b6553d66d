/**
 * The WebGPU target: turns a program into WGSL text, in float32.
 *
 * The text defines `integrand` for a kernel. It reads params, tables and constant arrays from one storage buffer that the
 * kernel declares, `@group(0) @binding(0) var<storage, read> params: array<f32>;`, and nothing else of the kernel's. All
 * names that it defines at module scope are `integrand` or begin with `q_`; kernels use other names.
 *
 * What float32 loses: coordinates, params and constants are rounded to 24 bits, and every operation rounds again. Numbers
 * beyond 3.4e38 or below 1.2e-38 are replaced by these ends of the range (wgsl/literals.ts), and `unheldNumbers` lists
 * them for the device. Results below 1.2e-38 may be flushed to 0.
 *
 * Functions of `Math` are those of ../math32/, because WGSL's own may be off by 2^-11.
 *
 * A running kernel cannot be interrupted, and drivers reset cards whose kernels run for seconds. So loops that may run long
 * (../stop-checks.ts) count their turns: an evaluation that takes more than TURN_LIMIT of them returns NaN and adds 1 to the
 * private variable `q_overruns`, by which a kernel tells such a NaN from others. The limit holds for one evaluation, so
 * that the result does not depend on which thread evaluates which points.
 */
import type { Id, Program } from '../ir.ts';
import { mathText } from '../math32/index.ts';
import { stopChecksOf } from '../stop-checks.ts';
import { usualCalls } from './usual.ts';
import { functionBody, RARE_INTEGRAND } from './wgsl/body.ts';
import { layout } from './wgsl/layout.ts';

export { TURN_LIMIT } from './wgsl/body.ts';
export { type Unheld, unheldNumbers, wgslParams } from './wgsl/layout.ts';

export interface WgslText {
  /**
   * WGSL that defines `fn integrand(x: ptr<function, array<f32, D>>) -> f32` with D the number of coordinates. With K > 1
   * results it is `fn integrand(x: ptr<function, array<f32, D>>, out: ptr<function, array<f32, K>>)`, which writes every
   * element of `out`. Also `var<private> q_overruns: u32`: the evaluations that were ended because they took too many turns.
   */
  source: string;
  /** The length of the params buffer, in float32 numbers. */
  length: number;
}

export function toWgsl(program: Program): WgslText {
  const { offsets, length } = layout(program);
  const write = (usual: ReadonlySet<Id>) => functionBody(program, offsets, stopChecksOf(program), usual);
  const usual = usualCalls(program, false);
  const { body, helpers } = write(usual);
  const several = program.results.length > 1;
  const x = `x: ptr<function, array<f32, ${program.dims}>>`;
  const out = `, out: ptr<function, array<f32, ${program.results.length}>>`;
  const head = several ? `fn integrand(${x}${out}) {` : `fn integrand(${x}) -> f32 {`;
  const rare = usual.size > 0 ? [`fn ${RARE_INTEGRAND}(${x}) -> f32 {\n${write(new Set()).body}\n}`] : [];
  const text = [...helpers, ...rare, `${head}\n${body}\n}`].join('\n');
  return { source: `${mathText(text)}\n${text}\n`, length };
}
