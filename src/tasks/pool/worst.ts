/** Which regions to halve next: those with the largest errors, as many as make up a part of the whole error. */

/** From this many regions on errors are counted in buckets, a sixteenth of an octave each, instead of sorted. */
const MANY = 4096;
const SHIFT = 16;
const BUCKETS = 2 ** (31 - SHIFT);

/** An error t such that errors from t on add up to `part` at least, and not to much more. */
export function errorFrom(errors: Float64Array, count: number, part: number): number {
  if (count < MANY) {
    const sorted = errors.slice(0, count).sort();
    return sorted[lastNeeded(sorted, part)];
  }
  // the upper word of a positive float64, as an integer, grows with it
  const words = new Uint32Array(errors.buffer, errors.byteOffset, 2 * count);
  const sums = new Float64Array(BUCKETS);
  for (let i = 0; i < count; i++) sums[words[2 * i + 1] >>> SHIFT] += errors[i];
  const edge = new Float64Array(1);
  new Uint32Array(edge.buffer)[1] = lastNeeded(sums, part) << SHIFT;
  return edge[0];
}

/** From the end, where the numbers up to there add up to `part`. */
function lastNeeded(numbers: Float64Array, part: number): number {
  let i = numbers.length - 1;
  for (let sum = numbers[i]; i > 0 && (sum < part || sum === 0); sum += numbers[i]) i--;
  return i;
}

/** The numbers of regions with an error from t on, at most `most`: then the largest. */
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
