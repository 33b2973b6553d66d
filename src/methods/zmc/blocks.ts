/**
 * Blocks are the parts of a box whose axes are each cut into `perAxis` equal parts. Their numbers run fastest along the
 * first axis, on the device, in the tree and here.
 *
 * A box with very many blocks is sampled in slabs, which are parts of it along its last axes, so that the lists of means
 * and variances per block have a bounded size.
 */
export type Box = readonly (readonly [number, number])[];

/** Blocks per slab, at most, where mean and variance of each block are kept. */
export const MAX_KEPT_BLOCKS = 2 ** 18;
/** Blocks per slab, at most, where only the sum over the blocks is kept. */
export const MAX_SUMMED_BLOCKS = 2 ** 30;

export interface Slab {
  box: Box;
  /** Parts of each axis. */
  strata: number[];
  /** The number of its first block; its other blocks have the numbers that follow. */
  first: number;
  blocks: number;
}

/** The slabs of a box, in the order of their blocks. */
export function* slabsOf(box: Box, perAxis: number, most = MAX_KEPT_BLOCKS): Generator<Slab> {
  let whole = 0; // the number of axes along which a slab has all parts
  while (whole < box.length && perAxis ** (whole + 1) <= most) whole++;
  const blocks = perAxis ** whole;
  const slabs = perAxis ** (box.length - whole);
  const strata = box.map((_, d) => (d < whole ? perAxis : 1));
  for (let slab = 0; slab < slabs; slab++) {
    const part = box.map((range, d) =>
      d < whole ? range : partOf(range, Math.floor(slab / perAxis ** (d - whole)) % perAxis, perAxis),
    );
    yield { box: part, strata, first: slab * blocks, blocks };
  }
}

/** The block of a box that has this number. */
export function blockOf(box: Box, perAxis: number, block: number): Box {
  return box.map((range, d) => partOf(range, Math.floor(block / perAxis ** d) % perAxis, perAxis));
}

function partOf([low, high]: readonly [number, number], k: number, parts: number): [number, number] {
  const edge = (i: number) => (i === parts ? high : low + (high - low) * (i / parts));
  return [edge(k), edge(k + 1)];
}
