/**
 * Structs for launches of samples (kernels/sample.cu) with what iterations of the same strata, bins and key have in common, half of its numbers:
 * what changes from iteration to iteration is set in a copy.
 */
import { roundKeys } from '../../random/philox.ts';
import type { SampleTask } from '../../tasks/sample.ts';
import type { Layout } from './struct.ts';

interface Frame extends Pick<SampleTask, 'strata' | 'bins' | 'key'> {
  layout: Layout<string>;
  bytes: Uint8Array;
}

/** Frames that are remembered: iterations that learn, that measure, and witnesses of both take turns. */
const MOST_FRAMES = 6;

export class SampleFrames {
  readonly #known: Frame[] = [];

  /** A copy of the frame of a task. */
  of(layout: Layout<string>, { strata, bins, key }: SampleTask): Uint8Array {
    const known = this.#known.find(
      f =>
        f.layout === layout && f.bins === bins && f.key === key && f.strata.every((n, d) => n === strata[d]),
    );
    if (known) return known.bytes.slice();
    const bytes = layout.pack({
      scales: strata.map(n => bins / n),
      strata,
      inverses: strata.map(n => Math.min(2 ** 32 - 1, Math.floor(2 ** 32 / n))),
      keys: roundKeys(key),
      bins,
    });
    this.#known.unshift({ layout, strata, bins, key, bytes });
    this.#known.length = Math.min(this.#known.length, MOST_FRAMES);
    return bytes.slice();
  }
}
