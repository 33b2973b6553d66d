/** Functions of the math library that few integrands use; common.ts has the others, and adds these when they are loaded. */
import { eighthTurnBack, j0, j1 } from './bessel.ts';
import { erf, erfc, erfinv } from './erf.ts';

export const special = { unary: { erf, erfc, erfinv, j0, j1 }, binary: { eighthTurnBack } };
