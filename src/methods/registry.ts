/** Methods by their names. A new method is one line here, beside its folder. */
import { type AutoOptions, auto } from './auto/auto.ts';
import { cuhre } from './cubature/cuhre.ts';
import { pagani } from './cubature/pagani.ts';
import { twoPhase } from './cubature/two-phase.ts';
import type { MethodProblem, Run } from './method.ts';
import { vegas } from './vegas/vegas.ts';
import { type ZmcOptions, zmc } from './zmc/zmc.ts';

export interface MethodOptions extends AutoOptions {
  zmc: ZmcOptions;
}

type Method = (problem: MethodProblem, options: MethodOptions) => Run;

export const METHODS = {
  auto,
  'vegas+': (problem, options) => vegas(problem, 'vegas+', options.vegas),
  mcubes: (problem, options) => vegas(problem, 'mcubes', options.vegas),
  mcubes1d: (problem, options) => vegas(problem, 'mcubes1d', options.vegas),
  plain: (problem, options) => vegas(problem, 'plain', options.vegas),
  pagani: (problem, options) => pagani(problem, options.cubature),
  cuhre: (problem, options) => cuhre(problem, options.cubature),
  'two-phase': (problem, options) => twoPhase(problem, options.cubature),
  zmc: (problem, options) => zmc(problem, options.zmc),
} satisfies Record<string, Method>;

export type MethodName = keyof typeof METHODS;
