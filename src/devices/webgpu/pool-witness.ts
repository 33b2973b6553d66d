/**
 * Witnesses for the regions of a pool on a GPU (kernels/pool-witness.ts). The host knows which regions were heard only by their number in
 * the list; it reads a few numbers of each, and concludes in float64 as tasks/testimony.ts does.
 */
import { STREAM } from '../../random/philox.ts';
import { DEVIATING } from '../../tasks/pool/blame.ts';
import { Sum } from '../../tasks/pool/errors.ts';
import type { WitnessDraw, WitnessStep } from '../../tasks/pool/pool.ts';
import { type Volume, volumeOf } from '../../tasks/region.ts';
import type { Rule } from '../../tasks/rules.ts';
import { leastWitnesses } from '../../tasks/witness.ts';
import { listing, type PoolKernel } from './kernels/pool.ts';
import { FOUND, FOUND_BYTES } from './kernels/pool-record.ts';
import { type WitnessKernels, witnessKernels } from './kernels/pool-witness.ts';
import { CHUNK, HEARD, HEARING, isHeard, WITNESS_SUM_WORDS, witnessSizes } from './kernels/witness-record.ts';
import type { PoolKernels } from './pool-kernels.ts';
import type { PoolLists } from './pool-lists.ts';
import { timesVolume } from './pool-sums.ts';
import type { WebGpuProgram } from './program.ts';

/** Regions that are heard at a time: their models are in memory together. */
const AT_A_TIME = 2 ** 14;
/** Up to this many regions in the pool, each has several chunks of witnesses. */
const FEW_REGIONS = 64;
/**
 * Residuals are in units of the largest |f| that a region knows, at least of this part of the mean |f| over the box: what is below is
 * rounding in float32.
 */
const LEAST_UNIT = 2 ** -24;

/** What witnesses said of the regions in the list, one after the other. */
export interface Said {
  count: number;
  deviations: Float64Array;
  spreads: Float64Array;
  missing: Float64Array;
  surprises: Uint8Array;
  axes: Uint8Array;
}

export interface PoolTestimony extends WitnessStep {
  said: Said;
  /** The number in the list of the first region with a value that is not finite; nonFinite is for the caller to make. */
  wrong: { count: number; first: number } | null;
}

export class PoolWitness {
  readonly #program: WebGpuProgram;
  readonly #lists: PoolLists;
  readonly #kernels: PoolKernels;
  readonly #rule: Rule;
  readonly #own: WitnessKernels;
  readonly #known: PoolKernel;
  readonly #drawn: PoolKernel;
  readonly #heard: readonly PoolKernel[];

  constructor(program: WebGpuProgram, lists: PoolLists, kernels: PoolKernels, rule: Rule) {
    this.#program = program;
    this.#lists = lists;
    this.#kernels = kernels;
    this.#rule = rule;
    this.#own = witnessKernels(rule);
    this.#known = this.#own.knownPoints(program.text);
    this.#drawn = this.#own.witnesses(program.text);
    this.#heard = listing(isHeard(rule.dims), ['hearing']);
  }

  compile(): Promise<void> {
    const { fit, range } = this.#own;
    return this.#kernels.ready(fit, range, this.#known, this.#drawn, ...this.#heard);
  }

  /** Lets witnesses speak about the first `count` regions; the task has that number. */
  async hear(
    draw: WitnessDraw,
    ranges: readonly (readonly [number, number])[],
    count: number,
    signal: AbortSignal | undefined,
  ): Promise<PoolTestimony> {
    await this.compile();
    const { gpu } = this.#program;
    const [volume, sizes] = [volumeOf(ranges), witnessSizes(this.#rule.dims)];
    const words = new Uint32Array(HEARING.WORDS);
    const floats = new Float32Array(words.buffer);
    words.set(draw.key, HEARING.KEY);
    words[HEARING.ROUND] = draw.round;
    words[HEARING.STREAM] = STREAM.witness;
    const [byVolume, each] = [draw.witnesses / 2, draw.witnesses / 2 / count];
    floats[HEARING.BY_VOLUME] = byVolume;
    floats[HEARING.EACH] = each;
    const unit = (LEAST_UNIT * draw.absolute) / volume.mantissa / 2 ** volume.exponent;
    floats[HEARING.LEAST_UNIT] = Math.min(2 ** 120, Math.max(2 ** -120, unit));
    const chunks = count > FEW_REGIONS ? 1 : Math.max(1, Math.ceil((byVolume + each) / CHUNK));
    words[HEARING.CHUNKS] = chunks;
    const write = () =>
      gpu.device.queue.writeBuffer(this.#lists.of('hearing', words.byteLength), 0, words as never);
    write();
    gpu.submitAll(this.#kernels.listing(this.#heard, count));
    const found = this.#lists.get('found');
    const [listed] = await gpu.read([{ buffer: found, bytes: 4, from: 4 * FOUND.LISTED }]);
    const all = new Uint32Array(listed)[0];
    const testimony = new Testimony(all, volume, byVolume, each, leastWitnesses(this.#rule.dims));
    // the models of as many regions as fit
    const most = Math.min(AT_A_TIME, Math.floor(gpu.bindingBytes / 4 / (sizes.known + sizes.after)));
    const { fit, range } = this.#own;
    for (let first = 0; first < all; ) {
      const n = Math.min(most, all - first);
      this.#lists.of('pointValues', 4 * (sizes.known + sizes.after) * n);
      this.#lists.of('models', 4 * Math.max(1, sizes.coefficients) * n);
      const heard = this.#lists.of('heard', 4 * HEARD.WORDS * n);
      const sums = this.#lists.of('witnessSums', 4 * WITNESS_SUM_WORDS * n * chunks);
      words[HEARING.FIRST] = first;
      words[HEARING.COUNT] = n;
      words[HEARING.AFTER] = 0;
      write();
      gpu.submitAll([this.#kernels.threads(this.#known, sizes.known * n), this.#kernels.threads(fit, n)]);
      words[HEARING.AFTER] = 1;
      write();
      gpu.submitAll([
        this.#kernels.threads(this.#known, sizes.after * n),
        this.#kernels.threads(range, n),
        this.#kernels.groups(this.#drawn, n * chunks),
      ]);
      const read = await gpu.read([
        { buffer: heard, bytes: 4 * HEARD.WORDS * n },
        { buffer: sums, bytes: 4 * WITNESS_SUM_WORDS * n * chunks },
        { buffer: found, bytes: FOUND_BYTES },
      ]);
      signal?.throwIfAborted();
      testimony.add(first, n, chunks, sizes.known, new Uint32Array(read[0]), new Uint32Array(read[1]));
      testimony.noteWrong(new Uint32Array(read[2]));
      first += n;
    }
    return testimony.conclude();
  }
}

/** What all regions said. */
class Testimony {
  readonly #said: Said;
  readonly #volume: Volume;
  readonly #byVolume: number;
  readonly #each: number;
  readonly #least: number;
  #witnesses = 0;
  #models = 0;
  #wrong: { count: number; first: number } | null = null;
  /** Values that were not finite among points of models, in all. */
  #ofModels = 0;

  constructor(count: number, volume: Volume, byVolume: number, each: number, least: number) {
    this.#volume = volume;
    this.#byVolume = byVolume;
    this.#each = each;
    this.#least = least;
    this.#said = {
      count,
      deviations: new Float64Array(count),
      spreads: new Float64Array(count),
      missing: new Float64Array(count),
      surprises: new Uint8Array(count),
      axes: new Uint8Array(count),
    };
  }

  /** Some regions, `chunks` sums of each. */
  add(first: number, n: number, chunks: number, known: number, heard: Uint32Array, sums: Uint32Array): void {
    const { deviations, spreads, missing, surprises, axes } = this.#said;
    const [heardNumbers, sumNumbers] = [new Float32Array(heard.buffer), new Float32Array(sums.buffer)];
    for (let i = 0; i < n; i++) {
      const own = HEARD.WORDS * i;
      const [witnesses, depth] = [heard[own + HEARD.WITNESSES], heard[own + HEARD.DEPTH]];
      let [sum, squares, farthest, axis] = [0, 0, 0, 0];
      let surprised = heard[own + HEARD.HIDING] >> 8;
      for (let chunk = 0; chunk === 0 || (chunk < chunks && chunk * CHUNK < witnesses); chunk++) {
        const at = WITNESS_SUM_WORDS * (i * chunks + chunk);
        sum += sumNumbers[at];
        squares += sumNumbers[at + 1];
        surprised |= sums[at + 3] >> 8;
        if (sumNumbers[at + 2] > farthest) [farthest, axis] = [sumNumbers[at + 2], sums[at + 3] & 255];
        if (sums[at + 4] > 0) this.#note(sums[at + 4], first + i);
      }
      const chance = Math.min(1, (this.#byVolume * 2 ** -depth + this.#each) / this.#least);
      const [mean, unit] = [heardNumbers[own + HEARD.MEAN], heardNumbers[own + HEARD.UNIT]];
      const variance = Math.max(0, squares - (sum * sum) / witnesses) / (witnesses - 1);
      const value = timesVolume(heardNumbers[own + HEARD.VALUE], this.#volume, -depth);
      const off = timesVolume(unit * (sum / witnesses) + mean, this.#volume, -depth) - value;
      const spread = timesVolume(unit * Math.sqrt(variance / witnesses), this.#volume, -depth);
      const at = first + i;
      missing[at] = timesVolume(heardNumbers[own + HEARD.HIDDEN], this.#volume, -depth) / chance;
      axes[at] = missing[at] > Math.abs(off) ? heard[own + HEARD.HIDING] & 255 : axis;
      deviations[at] = off / chance;
      // the region also counts for those that have no witnesses
      spreads[at] =
        chance < 1 ? Math.hypot((off / chance) * Math.sqrt(1 - chance), spread / Math.sqrt(chance)) : spread;
      surprises[at] = Math.min(1, surprised);
      this.#witnesses += witnesses;
      this.#models += known + 2 + heard[own + HEARD.RUNGS];
    }
  }

  /** Values that were not finite among the points of models. */
  noteWrong(found: Uint32Array): void {
    const more = found[FOUND.WRONG] - this.#ofModels;
    this.#ofModels = found[FOUND.WRONG];
    if (more > 0) this.#note(more, ~found[FOUND.FIRST_WRONG] >>> 0);
  }

  #note(count: number, region: number): void {
    this.#wrong ??= { count: 0, first: region };
    this.#wrong.count += count;
    this.#wrong.first = Math.min(this.#wrong.first, region);
  }

  conclude(): PoolTestimony {
    const said = this.#said;
    const [deviation, surprise, hidden] = [new Sum(), new Sum(), new Sum()];
    // squares relative to the largest, since they may overflow
    let [largest, squares] = [0, 0];
    for (const s of said.spreads) largest = Math.max(largest, s);
    for (let i = 0; i < said.count; i++) {
      deviation.add(said.deviations[i]);
      if (largest > 0) squares += (said.spreads[i] / largest) ** 2;
      if (said.surprises[i]) surprise.add(Math.abs(said.deviations[i]));
      hidden.add(said.missing[i]);
    }
    return {
      deviation: deviation.value,
      spread: largest * Math.sqrt(squares),
      surprise: surprise.value,
      missing: hidden.value,
      witnesses: this.#witnesses,
      evaluations: this.#witnesses + this.#models,
      nonFinite: null,
      said,
      wrong: this.#wrong,
    };
  }
}

/** By how much regions are guilty (tasks/pool/blame.ts), and Σ of that. */
export function guiltOf(
  { count, deviations, spreads, missing, surprises }: Said,
  who: 'surprised' | 'deviating',
) {
  const guilt = new Float64Array(count);
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const off = Math.abs(deviations[i]);
    if (who === 'surprised') guilt[i] = (surprises[i] ? off : 0) + missing[i];
    else guilt[i] = off > DEVIATING * spreads[i] ? off : 0;
    sum += guilt[i];
  }
  return { guilt, sum };
}
