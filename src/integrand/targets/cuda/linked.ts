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
  /** Stands behind the text of an integrand with as many results. */
  definition: string;
}

export function linkedTexts(results: number): LinkedTexts {
  const several = results > 1;
  const [type, out, to] = several ? ['void', ', double* __restrict__ out', ', out'] : ['double', '', ''];
  const prototype = `extern "C" __device__ ${type} ${NAME}(const double* x, const double* params, unsigned* turns${out})`;
  const overload = (turns: string, body: string) =>
    `__device__ __forceinline__ ${type} integrand(const double* x, const double* __restrict__ params${turns}${out}) {\n${body}}`;
  return {
    declaration: [
      STOPPED,
      `${prototype};`,
      overload(', unsigned& turns', `  return ${NAME}(x, params, &turns${to});\n`),
      overload('', `  unsigned turns = 0;\n  return ${NAME}(x, params, &turns${to});\n`),
      '',
    ].join('\n'),
    definition: `${prototype} {\n  return integrand(x, params, *turns${to});\n}\n`,
  };
}
