/** CUDA text in compilers: as host C++ with g++, where it can be run, and with nvcc. All texts make one file. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Program } from '../../../src/integrand/ir.ts';
import { lowerLibrary } from '../../../src/integrand/lower/lower.ts';
import { elementaryMath, specialMath } from '../../../src/integrand/math/common.ts';
import { cudaParams, toCuda } from '../../../src/integrand/targets/cuda.ts';
import type { Subject } from './subjects.ts';

/** Why a compiler cannot be used; undefined when it can. */
export function absent(compiler: string): string | undefined {
  return spawnSync(compiler, ['--version']).status === 0
    ? undefined
    : `there is no ${compiler} on this machine`;
}

await Promise.all([elementaryMath.load(), specialMath.load()]);

/** CUDA's words in C++. The functions that only CUDA has come from the math library. */
const SHIM = `
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>
#define __device__
#define __forceinline__ inline
#define __noinline__
static inline double __longlong_as_double(long long bits) { double x; memcpy(&x, &bits, 8); return x; }
static inline long long __double_as_longlong(double x) { long long bits; memcpy(&bits, &x, 8); return bits; }
static inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
static inline int __double2loint(double x) { return (int)__double_as_longlong(x); }
static inline double __hiloint2double(int hi, int lo) {
  return __longlong_as_double((long long)((unsigned long long)(unsigned)hi << 32 | (unsigned)lo));
}
static inline double __rsqrt_approx(double x) { return __hiloint2double(__double2hiint(1 / std::sqrt(x)), 0); }
static inline double __dmul_rn(double a, double b) { return a * b; }
namespace erfinv_text {
${toCuda(lowerLibrary('erfinv')).source}}
static double erfinv(double x) { return erfinv_text::integrand(&x, nullptr); }
`;

/** Reads params, a count and points of each text in turn; writes the values. */
const main = (entries: string[]) => `
struct Subject { double (*f)(const double*, const double*); int dims, params; };
static const Subject subjects[] = {${entries.join(', ')}};
static double next() { double x = 0; if (fread(&x, 8, 1, stdin) != 1) throw 1; return x; }
int main() {
  for (const Subject& s : subjects) {
    std::vector<double> params(s.params), x(s.dims);
    for (double& p : params) p = next();
    for (int n = (int)next(); n > 0; n--) {
      for (double& xi : x) xi = next();
      const double y = s.f(x.data(), params.data());
      fwrite(&y, 8, 1, stdout);
    }
  }
}
`;

/** A text without instructions of a card. */
const hostText = (source: string) =>
  source.replaceAll('asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));', 'y = __rsqrt_approx(x);');

/** Runs a compiler on a source in a folder of its own, which is gone once `use` has what it wants of it. */
function compiled<T>(
  source: string,
  command: string,
  args: string[],
  use: (folder: string, log: string) => T,
): T {
  const folder = mkdtempSync(join(tmpdir(), 'quadrille-cuda-'));
  const file = command === 'nvcc' ? 'all.cu' : 'all.cpp';
  try {
    writeFileSync(join(folder, file), source);
    const made = spawnSync(command, [...args, '-o', 'out', file], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    if (made.status !== 0) throw new Error(`${command}: ${made.error ?? made.stderr.slice(0, 2000)}`);
    return use(folder, made.stderr);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The values of each subject at its points, by the text compiled with g++; no fused operations, as in JavaScript. */
export function onHost(subjects: Subject[]): Float64Array[] {
  const texts = subjects.map(s => toCuda(s.program));
  const source = [
    SHIM,
    ...texts.map((t, k) => `namespace n${k} {\n${hostText(t.source)}}`),
    main(texts.map((t, k) => `{n${k}::integrand, ${subjects[k].program.dims}, ${t.length}}`)),
  ].join('\n');
  const input = Float64Array.from(
    subjects.flatMap(s => [...cudaParams(s.program, s.bindings), s.points.length, ...s.points.flat()]),
  );
  return compiled(source, 'g++', ['-O1', '-w', '-std=c++17', '-ffp-contract=off'], folder => {
    const ran = spawnSync(join(folder, 'out'), {
      input: new Uint8Array(input.buffer),
      maxBuffer: 1 << 28,
    });
    if (ran.status !== 0) throw new Error(`the compiled texts ended with ${ran.status ?? ran.signal}`);
    const values = new Float64Array(new Uint8Array(ran.stdout).buffer);
    let end = 0;
    return subjects.map(({ points }) => {
      end += points.length;
      return values.subarray(end - points.length, end);
    });
  });
}

/** A kernel around a text, with the point in a local array, as a device has it. */
export const kernel = (name: string, dims: number, source: string) => `${source}
extern "C" __global__ void kernel_${name}(const double* __restrict__ points, const double* __restrict__ params, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x[${dims}];
  for (int d = 0; d < ${dims}; d++) x[d] = points[d * n + i];
  out[i] = integrand(x, params);
}
`;

/** What ptxas says of a kernel. */
export interface Cost {
  registers: number;
  stack: number;
}

/** Compiles a kernel a subject with nvcc, and gives what each costs. */
export function withNvcc(subjects: Subject[], ...options: string[]): Map<string, Cost> {
  const source = subjects
    .map(({ name, program }) => `namespace ${name} {\n${kernel(name, program.dims, toCuda(program).source)}}`)
    .join('\n');
  return compiled(source, 'nvcc', ['-Xptxas', '-v', ...options], (_, log) => {
    const report =
      /entry function 'kernel_(\w+)'[\s\S]*?(\d+) bytes stack frame[\s\S]*?Used (\d+) registers/g;
    return new Map(
      [...log.matchAll(report)].map(([, name, stack, registers]) => [
        name,
        { stack: Number(stack), registers: Number(registers) },
      ]),
    );
  });
}

/** The PTX of one kernel, its text not inside a namespace. */
export const ptx = (dims: number, source: string) =>
  compiled(kernel('one', dims, source), 'nvcc', ['-arch=compute_75', '-ptx'], folder =>
    readFileSync(join(folder, 'out'), 'utf8'),
  );

/** The results of programs with several of them at the same points, as `evaluate` gives them: all first ones, then all second ones. */
export function severalOnHost(
  subjects: { program: Program; params: Float64Array }[],
  points: readonly (readonly number[])[],
): Float64Array[] {
  const parts = subjects.map(({ program }, k) => `namespace n${k} {\n${toCuda(program).source}}`);
  const runs = subjects.map(({ program: { dims, results }, params }, k) => {
    const given = `std::vector<double> params(${params.length}); for (double& p : params) p = next();`;
    const body = `double x[${dims}], out[${results.length}]; for (double& v : x) v = next();`;
    const end = `n${k}::integrand(x, params.data(), out); fwrite(out, 8, ${results.length}, stdout);`;
    return `{ ${given} for (int i = 0; i < ${points.length}; i++) { ${body} ${end} } }`;
  });
  const next = 'static double next() { double x = 0; if (fread(&x, 8, 1, stdin) != 1) throw 1; return x; }';
  const source = [SHIM, ...parts, next, `int main() { ${runs.join('\n')} }`].join('\n');
  const input = Float64Array.from(subjects.flatMap(s => [...s.params, ...points.flat()]));
  return compiled(source, 'g++', ['-O1', '-w', '-std=c++17', '-ffp-contract=off'], folder => {
    const ran = spawnSync(join(folder, 'out'), { input: new Uint8Array(input.buffer), maxBuffer: 1 << 28 });
    if (ran.status !== 0) throw new Error(`the compiled texts ended with ${ran.status ?? ran.signal}`);
    const values = new Float64Array(new Uint8Array(ran.stdout).buffer);
    let from = 0;
    return subjects.map(({ program }) => {
      const k = program.results.length;
      const rows = values.subarray(from, from + k * points.length);
      from += rows.length;
      return Float64Array.from(
        { length: rows.length },
        (_, i) => rows[(i % points.length) * k + Math.floor(i / points.length)],
      );
    });
  });
}
