/** The functions of `Math` but for the exponentials, logarithms, sines and cosines; common.ts adds them when they are loaded. */
import { cbrt } from './cbrt.ts';
import { expm1 } from './expm1.ts';
import { cosh, sinh, tanh } from './hyperbolic.ts';
import { hypot } from './hypot.ts';
import { acosh, asinh, atanh } from './inverse-hyperbolic.ts';
import { acos, asin, asinTail, atan, atan2, atanRatio } from './inverse-trig.ts';
import { log1p, log1pPair } from './log1p.ts';
import { log10 } from './log10.ts';
import { mod } from './mod.ts';
import { logPair, pow } from './pow.ts';
import { clz32, fround, imul, round, sign } from './rounding.ts';

// biome-ignore format: one family per line
export const elementary = {
  unary: {
    expm1, log10, log1p,
    asin, acos, atan, asinTail,
    sinh, cosh, tanh, asinh, acosh, atanh,
    cbrt, round, sign, fround, clz32,
  },
  binary: { pow, logPair, log1pPair, atan2, atanRatio, mod, hypot, imul },
};
