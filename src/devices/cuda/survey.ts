/**
 * Selects the regions of a pool with the largest errors, by how many regions have errors in each bucket, a sixteenth of an octave
 * wide. Kernels count them (kernels/pool.cu); the host needs no answer of the card to know the threshold, and how many regions reach it.
 */

/** Buckets that are counted, from that of the sum of all errors downwards: 64 octaves. */
export const TOLD = 2 ** 10;
/** Bits of the upper word of a float64 that do not tell its bucket. */
export const SHIFT = 16;

const number = new DataView(new ArrayBuffer(8));

function bucketOf(x: number): number {
  number.setFloat64(0, x);
  return number.getUint32(0) >>> SHIFT;
}

/** The smallest number in a bucket. */
function edgeOf(bucket: number): number {
  number.setUint32(0, bucket << SHIFT);
  number.setUint32(4, 0);
  return number.getFloat64(0);
}

export interface Selection {
  threshold: number;
  /** Regions whose error is at least that; null if counts do not tell. */
  count: number | null;
}

/**
 * The largest errors, as many as sum to `part` if each is the smallest number of its bucket; `sum` is that of all errors. If those that are
 * counted do not reach `part`, every error that is not 0 is selected.
 */
export function selectLargest(counts: Uint32Array, sum: number, part: number): Selection {
  const top = bucketOf(sum);
  let [reached, count] = [0, 0];
  for (let b = 0; b <= Math.min(top, TOLD - 1); b++) {
    if (counts[b] === 0) continue;
    const threshold = edgeOf(top - b);
    reached += counts[b] * threshold;
    count += counts[b];
    if (reached >= part) return { threshold, count };
  }
  return { threshold: Number.MIN_VALUE, count: null };
}
