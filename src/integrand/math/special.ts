/** Functions that `Math` lacks; common.ts adds them to the math library when they are loaded. */
import { eighthTurnBack, j0, j1 } from './bessel.ts';
import { erf, erfc, erfinv } from './erf.ts';
import { lgamma, lgammaUpper } from './gamma.ts';

export const special = {
  unary: { erf, erfc, erfinv, lgamma, j0, j1 },
  binary: { eighthTurnBack, lgammaUpper },
};
