/**
 * The NVIDIA target: turns a program into CUDA C++ text, in float64, for NVRTC or nvcc. The text includes no header.
 *
 * A function of `Math` becomes CUDA's own where that has JavaScript's special cases and the math library's accuracy;
 * one of HELPERS where CUDA's differs in special cases; and a function compiled from the math library where CUDA has
 * none or a less accurate one. The options of the CUDA compiler decide whether a product and a sum are fused into one
 * operation; only functions compiled from the math library forbid it, because fusing makes their results wrong.
 *
 * A running kernel cannot be interrupted. So loops that may run long read a stop flag now and then
 * (../stop-checks.ts), and the integrand returns NaN when the flag is set.
 */
import { type Program, walk } from '../ir.ts';
import { lowerLibrary } from '../lower/lower.ts';
import type { Bindings } from '../params.ts';
import { type StopChecks, stopChecksOf } from '../stop-checks.ts';
import { type FunctionContext, functionBody } from './cuda/body.ts';
import { FUNCTIONS, HELPERS, literal, STOPPED } from './cuda/operations.ts';
import { type ParamsLayout, paramsLayout } from './params-layout.ts';
import { usualCalls } from './usual.ts';

export interface CudaText {
  /**
   * CUDA C++ that defines `__device__ double integrand(const double* x, const double* __restrict__ params)`. It is
   * inlined, and reads x at constant indices wherever the program does, so a local array of the caller stays in
   * registers. An overload has a third argument, `unsigned& turns`: the turns since the stop flag was last read, which
   * it goes on counting from call to call. `stopped(params)` reads the flag.
   *
   * With several results both are `void`, and their last argument is `double* __restrict__ out`, which gets the results. It is
   * written at constant indices only, so that it may be in registers as well.
   */
  source: string;
  /** The length of the params buffer, in float64 numbers. */
  length: number;
}

const ARGUMENTS = 'const double* x, const double* __restrict__ params';
const OUT = ', double* __restrict__ out';
/** Coordinates that a function may take as numbers. */
const MOST_BY_VALUE = 32;

export function toCuda(program: Program): CudaText {
  const { offsets, length } = layout(program);
  const parts = libraryCalls(program).map(libraryFunction);
  const checks = stopChecksOf(program);
  const coordinate = (i: number) => `x[${i}]`;
  const context = { prefix: '', coordinate, offsets, fuses: true, checks };
  const body = functionBody(program, context);
  const several = program.results.length > 1;
  const [type, out, to] = several ? ['void', OUT, ', out'] : ['double', '', ''];
  const usual = program.dims <= MOST_BY_VALUE ? usualCalls(program, true) : new Set<number>();
  const taken = usual.size > 0 ? usualBody(program, { ...context, usual }) : body;
  parts.push(
    ...constantArrays(program, offsets, ''),
    ...(usual.size > 0 ? [rareIntegrand(program.dims, body)] : []),
    `__device__ __forceinline__ ${type} integrand(${ARGUMENTS}, unsigned& turns${out}) {\n${taken}\n}`,
    `__device__ __forceinline__ ${type} integrand(${ARGUMENTS}${out}) {\n  unsigned turns = 0;\n  return integrand(x, params, turns${to});\n}`,
  );
  const text = parts.join('\n');
  const used = Object.keys(HELPERS).filter(name => text.includes(`${name}(`));
  return { source: `${[STOPPED, ...used.map(name => HELPERS[name]), text].join('\n')}\n`, length };
}

/**
 * What an integrand calls at points where an argument is not usual (usual.ts): a function of its own, which takes numbers, so that kernels
 * keep registers for all others. Of the product of ten cosines 446 instructions are left in a turn of the loop over samples, of 625 (_trial_).
 */
const rareIntegrand = (dims: number, body: string): string =>
  `__device__ __noinline__ double rare_integrand(${numbered(dims, 'double x')}, const double* __restrict__ params) {
  const double x[] = {${numbered(dims, 'x')}};
  unsigned turns = 0;
${body}
}`;
const usualBody = (program: Program, context: FunctionContext): string =>
  `${functionBody(program, context)}\n  return rare_integrand(${numbered(program.dims, 'x[', ']')}, params);`;
const numbered = (dims: number, before: string, behind = ''): string =>
  Array.from({ length: dims }, (_, d) => `${before}${d}${behind}`).join(', ');

/**
 * The params buffer: first the bits of the address of the stop flag (0: there is none), then scalars and arrays at the
 * offsets that the text reads, with booleans as 1 and 0.
 */
export function cudaParams(program: Program, params: Bindings, stopFlag = 0): Float64Array {
  const { offsets, length } = layout(program);
  const buffer = new Float64Array(length);
  new BigUint64Array(buffer.buffer)[0] = BigInt(stopFlag);
  for (const [name, offset] of offsets) {
    const value = params.get(name) ?? program.constants[name];
    buffer.set(typeof value === 'object' ? value : [Number(value)], offset);
  }
  return buffer;
}

/**
 * After the stop flag and the params come the constant arrays that hold an infinity or NaN, for which NVRTC has no constant
 * expression.
 */
const layout = (program: Program): ParamsLayout =>
  paramsLayout(program, data => !data.every(Number.isFinite));

/** The library functions to compile for a program, also those that only other ones call; callees come first. */
function libraryCalls(program: Program): string[] {
  const names = new Set<string>();
  const visit = (p: Program) =>
    walk(p.body, s => {
      if (s.kind !== 'let' || s.op !== 'call' || s.fn in FUNCTIONS || names.has(s.fn)) return;
      visit(lowerLibrary(s.fn));
      names.add(s.fn);
    });
  visit(program);
  return [...names];
}

/** For functions of the math library, whose loops are short. */
const NO_STOP_CHECKS: StopChecks = { checked: new Map(), perCall: 0 };

function libraryFunction(name: string): string {
  const program = lowerLibrary(name);
  const prefix = `${name}_`;
  const args = Array.from({ length: program.dims }, (_, i) => `double x${i}`);
  const body = functionBody(program, {
    prefix,
    coordinate: i => `x${i}`,
    offsets: new Map(),
    fuses: false,
    checks: NO_STOP_CHECKS,
  });
  const text = `__device__ double lib_${name}(${args.join(', ')}) {\n${body}\n}`;
  return [...constantArrays(program, new Map(), prefix), text].join('\n');
}

/**
 * Arrays of constants, in global memory: they are read at indices known only at run time, which differ from thread to
 * thread, and `__constant__` memory serves the threads of a warp one address at a time.
 */
function constantArrays(program: Program, offsets: ReadonlyMap<string, number>, prefix: string): string[] {
  return Object.entries(program.constants).flatMap(([name, data], k) =>
    offsets.has(name) || data.length === 0
      ? []
      : `__device__ const double ${prefix}c${k}[] = {${data.map(literal).join(', ')}};`,
  );
}
