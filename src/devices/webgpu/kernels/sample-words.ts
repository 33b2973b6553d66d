/** How the host tells the kernel of samples its task: the words of a uniform buffer (../sample-task.ts writes them). */

/** Words of the task, which is a uniform buffer, by their names. Those of axes are behind the others. */
export const TASK = {
  /** Places of slices (slices.ts) per iteration, where one dispatch has several. */
  PLACES: 0,
  /** Which samples the histogram counts (tasks/counted.ts). */
  LIMIT: 1,
  ITERATION: 2,
  STREAM: 3,
  BINS: 4,
  /** Samples of every cube; 0 where cubes have their own. */
  COUNT: 5,
  CUBES: 6,
  /** The number of the first piece whose variance is wanted. */
  FIRST_PIECE: 7,
  /** Squares are (w·ROOT)²·REST; ROOT is 0 where nothing is learned. In cubes with counts of their own times average/count. */
  ROOT: 8,
  REST: 9,
  /** The number of the first group of this dispatch in the list of groups, and windows of this dispatch. */
  FIRST_GROUP: 10,
  WINDOWS: 11,
  /** Windows of a group, and samples of a window, both as powers of two. */
  GROUP_BITS: 12,
  WINDOW_BITS: 13,
  /** Which results to learn from, a bit each. */
  LEADS: 14,
  /** Whether variances and means of pieces are wanted. */
  CUBES_WANTED: 15,
  /** Keys of the rounds of Philox, two words each. */
  KEYS: 16,
  /** Samples of the blocks that the histogram counts or leaves out, as a power of two. */
  BLOCK_BITS: 36,
  AXES: 40,
} as const;
/**
 * Words of an axis: its strata, the ends of its range inside, and 1/strata; the width of a bin whose factor of the Jacobian is 1, over the
 * strata; and what edges are counted from.
 */
export const AXIS = { STRATA: 0, LOW: 1, HIGH: 2, INVERSE: 3, STEP: 4, ORIGIN: 5, WORDS: 8 } as const;
/** Behind the axes, for each result: the power of two that f·Jacobian is multiplied with, beside the powers of the Jacobian. */
export const powersAt = (dims: number): number => TASK.AXES + AXIS.WORDS * dims;
export const TASK_VECTORS = 512;
