/**
 * Covariances and correlations of several results, as lists of numbers. At most RESULTS_PER_PASS results are sampled together,
 * since their covariances are sums over samples as well: n results have n·(n + 1)/2 of them. More results are sampled in
 * several passes over the same points, in blocks of RESULTS_PER_PASS, and covariances are known within each block. Those of all pairs take
 * a pass for each pair of blocks of half the size: every two results are together in one of them.
 *
 * What belongs to pairs of results of a block is a lower triangle, row by row: (0,0), (1,0), (1,1), (2,0) and so on. Results
 * have correlations, not covariances, since the covariance of integrals of 1e-200 underflows.
 */

/** Results that are sampled together, at most. */
export const RESULTS_PER_PASS = 16;

/** The place of a pair of results of a block in its triangle. */
export const packedIndex = (a: number, b: number): number =>
  a >= b ? (a * (a + 1)) / 2 + b : (b * (b + 1)) / 2 + a;

/** How many pairs n results have, those of each with itself included. */
export const packedLength = (n: number): number => (n * (n + 1)) / 2;

/** The results of each pass. */
export function blocksOf(count: number, size = RESULTS_PER_PASS): number[][] {
  const blocks: number[][] = [];
  for (let r = 0; r < count; r++) {
    if (r % size === 0) blocks.push([]);
    blocks.at(-1)!.push(r);
  }
  return blocks;
}

/** The results of each pass if every two results are together in one. */
export function pairedBlocks(count: number): number[][] {
  if (count <= RESULTS_PER_PASS) return blocksOf(count);
  const halves = blocksOf(count, RESULTS_PER_PASS / 2);
  return halves.flatMap((own, i) => halves.slice(i + 1).map(other => [...own, ...other]));
}

/** The blocks whose correlations are in these lists: all results where there is a single list. */
export const blocksIn = (lists: readonly unknown[], count: number): number[][] =>
  lists.length === 1 ? blocksOf(count, count) : blocksOf(count);
