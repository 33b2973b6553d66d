/** The rules of rules.ts, all of them loaded: for devices other than the CPU, and for tasks from elsewhere. */

import { degree11 } from './rules/degree11.ts';
import { degree13 } from './rules/degree13.ts';
import { degree7, degree9, genzMalik } from './rules/families.ts';
import { gaussKronrod } from './rules/gauss-kronrod.ts';
import { provideRows, type Rule, type RuleName, ruleFor as ruleIfLoaded } from './rules.ts';

provideRows({
  degree13,
  degree11,
  degree9,
  degree7,
  'genz-malik': genzMalik,
  'gauss-kronrod': gaussKronrod,
});

/** The rule of that name; without a name, the one of the highest degree for that many axes. */
export const ruleFor = (dims: number, name?: RuleName): Rule => ruleIfLoaded(dims, name);
