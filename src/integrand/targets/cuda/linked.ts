/**
 * The integrand as a function that kernels are linked with, instead of text that is compiled into each of them. A kernel
 * is given the declaration in the integrand's place and does not depend on the integrand any more; the definition stands
 * behind the integrand's own text. Both are compiled with `--fmad=false`, so no product is fused with a sum across the
 * call, and the linked kernels give the same bits as those with the integrand inside.
 */
import { STOPPED } from './operations.ts';

/** C's name of the function: the only symbol that both parts have in common. */
const NAME = 'quadrille_integrand';

export interface LinkedTexts {
  /** Stands in front of kernels, with the overloads of `integrand` that they call. */
  declaration: string;
  /** Stands behind the text of an integrand of that shape. */
  definition: string;
}

/**
 * Up to this many coordinates are passed as numbers, which stay in registers; more as a pointer to local memory. Through memory alone,
 * PAGANI took 1.7 to 2.9 times as long as with the integrand inside (_trial_, f4 8D and f2 6D on an H200).
 */
const MOST_BY_VALUE = 8;

export interface Shape {
  dims: number;
  results: number;
}

export function linkedTexts({ dims, results }: Shape): LinkedTexts {
  const several = results > 1;
  const [type, out, to] = several ? ['void', ', double* __restrict__ out', ', out'] : ['double', '', ''];
  const each = (text: (d: number) => string) => Array.from({ length: dims }, (_, d) => text(d)).join(', ');
  const byValue = dims <= MOST_BY_VALUE;
  const taken = byValue ? each(d => `double x${d}`) : 'const double* x';
  const given = byValue ? each(d => `x[${d}]`) : 'x';
  const prototype = `extern "C" __device__ ${type} ${NAME}(${taken}, const double* params, unsigned* turns${out})`;
  const overload = (turns: string, body: string) =>
    `__device__ __forceinline__ ${type} integrand(const double* x, const double* __restrict__ params${turns}${out}) {\n${body}}`;
  return {
    declaration: [
      STOPPED,
      `${prototype};`,
      overload(', unsigned& turns', `  return ${NAME}(${given}, params, &turns${to});\n`),
      overload('', `  unsigned turns = 0;\n  return ${NAME}(${given}, params, &turns${to});\n`),
      '',
    ].join('\n'),
    definition: [
      `${prototype} {`,
      ...(byValue ? [`  const double x[] = {${each(d => `x${d}`)}};`] : []),
      `  return integrand(x, params, *turns${to});`,
      '}\n',
    ].join('\n'),
  };
}
