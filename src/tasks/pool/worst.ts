/** Selects the regions to halve next: those with the largest errors, as many as make up a part of the whole error. */

/** With fewer regions errors are sorted; from this many on they are summed in buckets of a sixteenth of an octave each. */
const MIN_BUCKETED = 4096;
/** A bucket is the upper word of a float64 without its lowest 16 bits: 11 bits of exponent and 4 of mantissa. */
const SHIFT = 16;
const BUCKETS = 2 ** (31 - SHIFT);

/** A threshold t such that the errors ≥ t sum to at least `part`, and not to much more. */
export function errorFrom(errors: Float64Array, count: number, part: number): number {
  if (count < MIN_BUCKETED) {
    const sorted = errors.slice(0, count).sort();
    return sorted[lastNeeded(sorted, part)];
  }
  // the upper word of a positive float64, read as an integer, grows with the number
  const words = new Uint32Array(errors.buffer, errors.byteOffset, 2 * count);
  const sums = new Float64Array(BUCKETS);
  for (let i = 0; i < count; i++) sums[words[2 * i + 1] >>> SHIFT] += errors[i];
  const edge = new Float64Array(1);
  new Uint32Array(edge.buffer)[1] = lastNeeded(sums, part) << SHIFT;
  return edge[0];
}

/** The largest index i such that the numbers from i to the end sum to at least `part` and are not all 0; otherwise 0. */
function lastNeeded(numbers: Float64Array, part: number): number {
  let i = numbers.length - 1;
  for (let sum = numbers[i]; i > 0 && (sum < part || sum === 0); sum += numbers[i]) i--;
  return i;
}

/** The numbers of the regions with an error ≥ t; if there are more than `most`, those with the largest errors. */
export function regionsFrom(errors: Float64Array, count: number, t: number, most: number): Uint32Array {
  let n = 0;
  for (let i = 0; i < count; i++) if (errors[i] >= t) n++;
  const which = new Uint32Array(n);
  for (let i = 0, at = 0; i < count; i++) if (errors[i] >= t) which[at++] = i;
  if (n <= most) return which;
  return which
    .sort((a, b) => errors[b] - errors[a] || a - b)
    .slice(0, most)
    .sort();
}
