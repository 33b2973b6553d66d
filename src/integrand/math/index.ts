/** The whole math library, for callers that cannot wait until the rarer functions are loaded. */
import { adding, specialMath } from './common.ts';
import { provideMath } from './now.ts';
import { special } from './special.ts';

export type { Helpers, Intrinsics, Kit, MathLibrary } from './kit.ts';
export { intrinsics } from './kit.ts';

provideMath();
const whole = adding(special);
specialMath.provide(whole);

/** Every function with the kit as its last argument, as the compiler reads it. */
export const library = whole.library;
/** The same functions for plain JavaScript, where they take their mathematical arguments only. */
export const kit = whole.kit;
