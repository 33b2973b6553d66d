/** What a survey of a pool found (kernels/pool.ts), in numbers of the host: sums over regions, and how many have which errors. */
import type { Below } from '../../tasks/pool/threshold.ts';
import type { Volume } from '../../tasks/region.ts';
import { BUCKETS, FOUND, KEY_BIAS, KEYS, NO_KEY, SUM, SUM_SHIFT } from './kernels/pool-record.ts';

/** The least number with a key; numbers per volume, as in kernels/pool-record.ts. */
function edgeOf(key: number): number {
  const octave = Math.floor(key / KEYS);
  return 2 ** (octave - 127) * (1 + (key - KEYS * octave) / KEYS);
}

/** 2^-1000 to 2^1000. Witnesses ask for four per region: as powers they were 7 % of a run with 5e9 evaluations (_trial_). */
const POWERS = Float64Array.from({ length: 2001 }, (_, i) => 2 ** (i - 1000));

/** x·2^power times a volume, in steps that neither overflow nor underflow unless the result does. */
export function timesVolume(x: number, { mantissa, exponent }: Volume, power = 0): number {
  let y = x * mantissa;
  let n = exponent + power;
  for (; n > 1000; n -= 1000) y *= 2 ** 1000;
  for (; n < -1000; n += 1000) y *= 2 ** -1000;
  return y * POWERS[n + 1000];
}

export class Survey {
  readonly value: number;
  readonly error: number;
  readonly absolute: number;
  /** The errors of regions that cannot be halved, or of those to finish; and their number. */
  readonly stuck: number;
  readonly stuckCount: number;
  readonly before: number;
  readonly after: number;
  readonly signed: boolean;
  /** Regions in a list. */
  readonly listed: number;
  /** Values that were not finite, and the number of the first region with some. */
  readonly wrong: { count: number; first: number } | null;
  readonly #top: number;
  readonly #volume: Volume;
  readonly #counts: Uint32Array;

  constructor(words: Uint32Array, volume: Volume) {
    this.#volume = volume;
    this.#top = words[FOUND.TOP] === 0 ? 0 : words[FOUND.TOP] - KEY_BIAS;
    const power = Math.floor(this.#top / KEYS) - 150 - SUM_SHIFT;
    const sum = (number: number): number => {
      let all = 0n;
      for (let j = 7; j >= 0; j--) all = (all << 16n) + BigInt(words[FOUND.SUMS + 8 * number + j]);
      return timesVolume(Number(BigInt.asIntN(128, all)), volume, power);
    };
    this.value = sum(SUM.VALUE);
    this.error = sum(SUM.ERROR);
    this.absolute = sum(SUM.ABSOLUTE);
    this.stuck = sum(SUM.STUCK);
    this.before = sum(SUM.BEFORE);
    this.after = sum(SUM.AFTER);
    this.stuckCount = words[FOUND.STUCK];
    this.signed = words[FOUND.POSITIVE] > 0 && words[FOUND.NEGATIVE] > 0;
    this.listed = words[FOUND.LISTED];
    this.wrong =
      words[FOUND.WRONG] > 0 ? { count: words[FOUND.WRONG], first: ~words[FOUND.FIRST_WRONG] >>> 0 } : null;
    this.#counts = words.slice(FOUND.BUCKETS, FOUND.BUCKETS + BUCKETS);
  }

  /** The keys of the largest numbers, which sum to `part` at least, and how many have them; at least one. */
  largest(part: number): { threshold: number; count: number } {
    let [sum, count, threshold] = [0, 0, this.#keyOf(0)];
    for (let b = BUCKETS - 1; b >= 0; b--) {
      if (this.#counts[b] === 0) continue;
      threshold = this.#keyOf(b);
      count += this.#counts[b];
      sum += this.#counts[b] * this.#edge(b);
      if (sum >= part) break;
    }
    return { threshold, count };
  }

  /** The keys of the largest numbers, at most so many, unless already the first bucket has more. */
  most(limit: number): { threshold: number; count: number } {
    let [count, threshold] = [0, this.#keyOf(0)];
    for (let b = BUCKETS - 1; b >= 0; b--) {
      if (this.#counts[b] === 0) continue;
      if (count > 0 && count + this.#counts[b] > limit) break;
      threshold = this.#keyOf(b);
      count += this.#counts[b];
      if (count >= limit) break;
    }
    return { threshold, count };
  }

  /** The key up to which the smallest numbers sum to `part` at most; null when all do. */
  smallest(part: number): number | null {
    let sum = 0;
    for (let b = 0; b < BUCKETS; b++) {
      sum += this.#counts[b] * this.#edge(b + 1);
      if (sum > part) return this.#keyOf(b);
    }
    return null;
  }

  /** Numbers in buckets, and the range that these span. */
  get counted(): { count: number; least: number; largest: number } {
    let [count, first, last] = [0, -1, 0];
    for (let b = 0; b < BUCKETS; b++) {
      if (this.#counts[b] === 0) continue;
      count += this.#counts[b];
      if (first < 0) first = b;
      last = b;
    }
    return { count, least: first < 0 ? 0 : this.#edge(first), largest: first < 0 ? 0 : this.#edge(last + 1) };
  }

  /** How many numbers are in buckets below that of t, with an upper bound of their sum; and the key of that bucket. */
  below(t: number): Below & { threshold: number } {
    const found = { count: 0, error: 0, threshold: NO_KEY };
    for (let b = 0; b < BUCKETS && this.#edge(b + 1) <= t; b++) {
      found.count += this.#counts[b];
      found.error += this.#counts[b] * this.#edge(b + 1);
      found.threshold = this.#keyOf(b + 1);
    }
    return found;
  }

  #keyOf(bucket: number): number {
    return this.#top - (BUCKETS - 1) + bucket;
  }

  #edge(bucket: number): number {
    return timesVolume(edgeOf(this.#keyOf(bucket)), this.#volume);
  }
}
