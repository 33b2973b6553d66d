/**
 * Blocks: a box whose axes are each cut into `perAxis` equal parts. They are numbered with the first axis fastest,
 * everywhere: on the device, in the tree and here.
 *
 * A box with very many blocks is sampled in slabs, parts of it along its last axes, so that what is known of each
 * block at one time has a bounded size.
 */
export type Box = readonly (readonly [number, number])[];

/** Blocks that a slab has at most, where something is known of each; and where only their sum is. */
const LARGEST = 2 ** 18;
export const LARGEST_SUMMED = 2 ** 30;

export interface Slab {
  box: Box;
  /** Parts of each axis. */
  strata: number[];
  /** The number of its first block; the others follow. */
  first: number;
  blocks: number;
}

/** The slabs of a box, in the order of their blocks. */
export function* slabsOf(box: Box, perAxis: number, largest = LARGEST): Generator<Slab> {
  let whole = 0; // axes that a slab has all parts of
  while (whole < box.length && perAxis ** (whole + 1) <= largest) whole++;
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
