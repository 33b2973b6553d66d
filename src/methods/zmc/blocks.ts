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

/** A part of a box whose borders are borders of blocks. */
export interface Grid {
  box: Box;
  /** Parts of each axis. */
  strata: number[];
  blocks: number;
}

export interface Slab extends Grid {
  /** The number of its first block; its other blocks have the numbers that follow. */
  first: number;
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

const partOf = (range: readonly [number, number], k: number, parts: number): [number, number] =>
  partsOf(range, [k, k + 1], parts);

/** Parts of a range from number `from` up to, but not including, `to`. */
function partsOf([low, high]: readonly [number, number], [from, to]: Span, parts: number): [number, number] {
  const edge = (i: number) => (i === parts ? high : low + (high - low) * (i / parts));
  return [edge(from), edge(to)];
}

/** Numbers of parts of an axis: the first, and the one behind the last. */
type Span = readonly [from: number, to: number];

/**
 * The blocks of a box that are not cut, each in one of the grids. Devices add up whole grids of blocks, so what is added may
 * have no holes. A cut block costs at most a few grids: those beside the smallest grid around all cut blocks, and the same again
 * in halves of that one.
 */
export function* uncutGrids(
  box: Box,
  perAxis: number,
  cut: readonly number[],
  most = MAX_SUMMED_BLOCKS,
): Generator<Grid> {
  const places = cut.map(block => box.map((_, d) => Math.floor(block / perAxis ** d) % perAxis));
  const all = box.map((): Span => [0, perAxis]);
  for (const spans of uncutSpans(all, places, most))
    yield {
      box: box.map((range, d) => partsOf(range, spans[d], perAxis)),
      strata: spans.map(([from, to]) => to - from),
      blocks: sizeOf(spans),
    };
}

const sizeOf = (spans: readonly Span[]) => spans.reduce((n, [from, to]) => n * (to - from), 1);

/** `cut`: the places of cut blocks, all of them within the spans. */
function* uncutSpans(
  spans: readonly Span[],
  cut: readonly (readonly number[])[],
  most: number,
): Generator<readonly Span[]> {
  const blocks = sizeOf(spans);
  if (cut.length === blocks) return;
  if (cut.length === 0 && blocks <= most) {
    yield spans;
    return;
  }
  const inner = [...spans];
  for (const [d, [from, to]] of cut.length > 0 ? spans.entries() : []) {
    const low = cut.reduce((m, at) => Math.min(m, at[d]), to);
    const high = cut.reduce((m, at) => Math.max(m, at[d] + 1), from);
    if (low > from) yield* uncutSpans(inner.with(d, [from, low]), [], most);
    if (high < to) yield* uncutSpans(inner.with(d, [high, to]), [], most);
    inner[d] = [low, high];
  }
  if (sizeOf(inner) < blocks) {
    yield* uncutSpans(inner, cut, most);
    return;
  }
  const widths = inner.map(([from, to]) => to - from);
  const longest = widths.indexOf(Math.max(...widths));
  const [from, to] = inner[longest];
  const middle = (from + to) >> 1;
  for (const half of [
    [from, middle],
    [middle, to],
  ] as const)
    yield* uncutSpans(
      inner.with(longest, half),
      cut.filter(at => at[longest] >= half[0] && at[longest] < half[1]),
      most,
    );
}
