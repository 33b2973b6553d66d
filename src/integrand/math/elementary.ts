/** The functions of `Math` that fewer integrands use; common.ts has the others, and adds these when they are loaded. */
import { cbrt } from './cbrt.ts';
import { cosh, sinh, tanh } from './hyperbolic.ts';
import { acosh, asinh, atanh } from './inverse-hyperbolic.ts';
import { acos, asin, asinTail, atan, atan2, atanRatio } from './inverse-trig.ts';
import { mod } from './mod.ts';
import { logPair, pow } from './pow.ts';

// biome-ignore format: one family per line
export const elementary = {
  unary: {
    asin, acos, atan, asinTail,
    sinh, cosh, tanh, asinh, acosh, atanh,
    cbrt,
  },
  binary: { pow, logPair, atan2, atanRatio, mod },
};
