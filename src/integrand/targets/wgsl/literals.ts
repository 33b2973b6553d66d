/**
 * Numbers as float32, and as WGSL text.
 *
 * A finite number that float32 cannot hold becomes the nearest one that it can: 1e300 becomes 3.4e38, and 1e-60 becomes
 * 2^-126, because subnormal numbers may be flushed to 0. So `x < 1e300` still holds for all finite x, and a guard such as
 * `1/(x + 1e-60)` does not divide by 0. `isHeld` says whether that happened.
 */

/** The largest finite float32. */
const MAX = 3.4028234663852886e38;
/** The smallest normal float32. */
const MIN = 2 ** -126;

/** The float32 that stands for a number; infinities and NaN stand for themselves. */
export function toFloat32(value: number): number {
  if (isHeld(value)) return Math.fround(value);
  return Math.sign(value) * (Math.abs(value) > 1 ? MAX : MIN);
}

/** Whether float32 has the number up to rounding; false where it would become an infinity, 0 or subnormal. */
export function isHeld(value: number): boolean {
  const size = Math.abs(value);
  return !(size > 0 && size < Infinity) || (size >= MIN && Number.isFinite(Math.fround(value)));
}

/** A run-time NaN: WGSL refuses constant expressions that are NaN or infinite. math32/kit.ts defines q_zero. */
export const NAN = 'q_bits(0x7fc00000u)';

export function literal(value: number | boolean): string {
  if (typeof value === 'boolean') return String(value);
  if (Number.isNaN(value)) return NAN;
  if (Math.abs(value) === Infinity) return value > 0 ? 'q_bits(0x7f800000u)' : 'q_bits(0xff800000u)';
  if (Object.is(value, -0)) return 'q_bits(0x80000000u)';
  const single = toFloat32(value);
  const digits = shortest(Math.abs(single));
  return single < 0 ? `(-${digits})` : digits;
}

/** The shortest decimal that float32 rounds to the given float32; not above MAX, which WGSL would refuse. */
function shortest(single: number): string {
  for (let digits = 1; digits < 10; digits++) {
    const text = String(Number(single.toPrecision(digits)));
    if (Math.fround(Number(text)) === single && Number(text) <= MAX)
      return `${/[.e]/.test(text) ? text : `${text}.0`}f`;
  }
  return `${single}f`;
}

const word = new Uint32Array(1);
const single = new Float32Array(word.buffer);

/** The bits of a float32 as a WGSL literal. */
export function bitsOf(value: number): string {
  single[0] = value;
  return `0x${word[0].toString(16).padStart(8, '0')}u`;
}
