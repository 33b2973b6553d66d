/** All functions of `Math` at once, for callers that cannot wait until they are loaded. */
import { adding, elementaryMath, trigonometricMath } from './common.ts';
import { elementary } from './elementary.ts';
import { trigonometric } from './trigonometric.ts';

export function provideMath(): void {
  trigonometricMath.provide(adding(trigonometric));
  elementaryMath.provide(adding(elementary));
}
