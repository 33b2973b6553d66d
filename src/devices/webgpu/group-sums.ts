/** Sums of groups, as the GPU leaves them, as nodes of the tree that every device adds (tasks/tree-sum.ts). */
import { nodeWidth } from '../../tasks/sample.ts';
import type { TreeSum } from '../../tasks/tree-sum.ts';
import { recordOf } from './kernels/fold.ts';
import { FRACTION_BITS } from './kernels/numbers.ts';

/** Groups of a subtree that is added here, in a typed array: TreeSum keeps lists, and splices them for each node. */
const BLOCK = 64;
/** What the words of a sum stand for. */
const [WORD_1, WORD_2, WORD_3, UNIT] = [2 ** 32, 2 ** 64, 2 ** 96, 2 ** -FRACTION_BITS];

export interface Totals {
  squares: number;
  /** Values that were not finite, the first group with one, and its number among the samples of the group. */
  wrong: number;
  firstGroup: number;
  firstWrong: number;
}

/** Adds the records of groups `first` to `first + count` to a tree. `share`: what sums have to be multiplied with. */
export function addGroups(
  tree: TreeSum,
  records: Uint32Array,
  first: number,
  count: number,
  results: number,
  share: number,
): Totals {
  const floats = new Float32Array(records.buffer, records.byteOffset, records.length);
  const { words, wrong, firstWrong, overflows } = recordOf(results);
  const width = nodeWidth(results);
  const rows = new Float64Array(width * count);
  const totals: Totals = { squares: 0, wrong: 0, firstGroup: 0, firstWrong: 0 };
  const [square, fourth] = [share ** 2, share ** 4];
  for (let g = 0; g < count; g++) {
    const at = g * words;
    const row = g * width;
    for (let r = 0; r < results; r++) {
      const w = at + 4 * r;
      const fixed =
        (records[w + 3] | 0) * WORD_3 + records[w + 2] * WORD_2 + records[w + 1] * WORD_1 + records[w];
      rows[row + r] = records[at + overflows] > 0 ? Infinity : fixed * UNIT * share;
    }
    const own = at + 4 * results;
    for (let i = 0; i < width - results; i++)
      rows[row + results + i] = floats[own + i] * (i < width - 2 * results ? square : fourth);
    totals.squares += floats[own + width - results];
    if (records[at + wrong] > 0 && totals.wrong === 0) {
      totals.firstGroup = first + g;
      totals.firstWrong = records[at + firstWrong];
    }
    totals.wrong += records[at + wrong];
  }
  for (let g = 0; g < count; ) {
    const whole = (first + g) % BLOCK === 0 && g + BLOCK <= count;
    if (whole) addPairs(rows, g * width, width);
    tree.add(first + g, rows.subarray(g * width, (g + 1) * width), first + g + (whole ? BLOCK : 1));
    g += whole ? BLOCK : 1;
  }
  return totals;
}

/** Adds BLOCK rows from `at` on as a binary tree; the first one becomes their sum. */
function addPairs(rows: Float64Array, at: number, width: number): void {
  for (let step = 1; step < BLOCK; step *= 2)
    for (let g = 0; g < BLOCK; g += 2 * step)
      for (let j = 0; j < width; j++) rows[at + g * width + j] += rows[at + (g + step) * width + j];
}
