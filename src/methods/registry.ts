/** A method by its name. */
import type { Problem } from '../problem.ts';
import { cuhre } from './cubature/cuhre.ts';
import { pagani } from './cubature/pagani.ts';
import { twoPhase } from './cubature/two-phase.ts';
import type { MethodProblem, Outcome } from './method.ts';
import { vegas } from './vegas/vegas.ts';
import { zmc } from './zmc/zmc.ts';

export type SingleMethod = Exclude<Problem['method'], 'auto'>;

export function runMethod(
  task: MethodProblem,
  method: SingleMethod,
  options: Pick<Problem, 'vegas' | 'cubature' | 'zmc'>,
): Promise<Outcome> {
  switch (method) {
    case 'cuhre':
      return cuhre(task, options.cubature);
    case 'pagani':
      return pagani(task, options.cubature);
    case 'two-phase':
      return twoPhase(task, options.cubature);
    case 'zmc':
      return zmc(task, options.zmc);
    default:
      return vegas(task, method, options.vegas);
  }
}
