/** Sine, cosine and tangent with what they are made of; common.ts adds them to the math library when they are loaded. */
import { reduceHuge, reduceQuarter, reduceSmall } from './reduce.ts';
import { cos, cosHuge, cosineOf, sin, sinCosPairs, sineOf, sinHuge, tan } from './trig.ts';

export const trigonometric = {
  unary: { sin, cos, tan, sinHuge, cosHuge, reduceSmall, reduceQuarter, reduceHuge },
  binary: { sinCosPairs },
  ternary: { sineOf, cosineOf },
};
