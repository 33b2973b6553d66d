/** What the host hands to kernels, and what they leave for it. */
import { ROUNDS } from '../../random/philox.ts';
import { Struct } from './struct.ts';

/** What an iteration came to; all 0 before. */
export const SAMPLE_RESULT = new Struct('SampleResult', {
  integral: 'double',
  variance: 'double',
  /** Of the histogram, along one axis. */
  increments: 'double',
  concentration: 'double',
  /** How many values were not finite. */
  wrong: 'u64',
  /** The number of the first sample that had one, all bits turned. */
  first: 'u64',
  evaluations: 'u64',
  /** Blocks that have ended. */
  blocks: 'u64',
  /** Leaves that were taken, beside the first of each warp. */
  taken: 'u64',
});

/** An iteration of samples, or a range of its leaves; see kernels/sample.cu. */
export const SAMPLE_TASK = new Struct('SampleTask', {
  /** bins/strata. */
  scales: ['double', 'DIMS'],
  strata: ['u32', 'DIMS'],
  /** 2^32/strata, rounded down. */
  inverses: ['u32', 'DIMS'],
  /** Of Philox' rounds. */
  keys: ['u32', 2 * ROUNDS],
  iteration: 'u32',
  stream: 'u32',
  bins: 'u32',
  cubes: 'u32',
  /** Samples of every cube; 0 when each has its own number in `counts`. */
  count: 'u32',
  /** Pieces of every cube, when all have the same count. */
  pieces: 'u32',
  /** Lanes that share a piece, a power of two. */
  team: 'u32',
  /** Samples of a group are 2^groupBits, its leaves 2^leafBits. */
  groupBits: 'u32',
  leafBits: 'u32',
  firstLeaf: 'u32',
  leaves: 'u32',
  /** Samples in all; where `totals` is given they are there. */
  samples: 'u64',
  /** Pieces and samples. */
  totals: 'const u64*',
  /** The Jacobian's constant part. */
  volume: 'double',
  /** Of w² in the histogram. */
  scale: 'double',
  edges: 'const double*',
  params: 'const double*',
  /** Samples of each cube. */
  counts: 'const u32*',
  /** Of each cube, cubes + 1 numbers. */
  firstPiece: 'const u32*',
  firstSample: 'const double*',
  /** Of each group, and of the end: its first piece, and the cube of that piece or the one before. */
  groupStarts: 'const u32*',
  /** SUMS numbers per leaf, and behind them those of subtrees of leaves. */
  sums: 'double*',
  /** Of each piece, times its share; null when not asked for. */
  means: 'double*',
  variances: 'double*',
  result: 'SampleResult*',
  histogram: 'u64*',
  /** A copy of the result for the host, where there is a place. */
  report: 'SampleResult*',
});

/** Samples of each cube by its variance; see kernels/allocate.cu. */
export const ALLOCATE = new Struct('Allocate', {
  cubes: 'u32',
  least: 'u32',
  rest: 'double',
  variances: 'const double*',
  params: 'const double*',
  /** As bits: those of positive numbers grow with them; 0 before. */
  largest: 'u64*',
  shares: 'double*',
  /** Sums of 32 shares. */
  groups: 'double*',
  total: 'double*',
  counts: 'u32*',
  /** cubes + 1 numbers. */
  firstPiece: 'u32*',
  firstSample: 'double*',
  /** Samples or pieces of every block of cubes, then where they begin. */
  blocks: 'u64*',
  /** Pieces, samples. */
  totals: 'u64*',
  /** Of each group of the task, and of the end; see SAMPLE_TASK. */
  groupStarts: 'u32*',
  groupBits: 'u32',
  groupCount: 'u32',
});

/** What the pieces of each cube add up to; see kernels/allocate.cu. */
export const FOLD = new Struct('Fold', {
  pieces: 'const double*',
  cubes: 'double*',
  counts: 'const u32*',
  firstPiece: 'const u32*',
  firstSample: 'const double*',
  /** Samples and pieces of every cube; 0 when each has its own numbers. */
  count: 'u32',
  each: 'u32',
  n: 'u32',
  /** Samples of a group are 2^groupBits. */
  groupBits: 'u32',
});

/** The map for the next iteration; see kernels/refine.cu. */
export const REFINE = new Struct('Refine', {
  bins: 'u32',
  axes: 'u32',
  /** One map for all axes. */
  shared: 'u32',
  /** The damping is a square root: α is 0.5 instead of 1. */
  root: 'u32',
  floor: 'double',
  /** All 0 after it, unless it is shared. */
  histogram: 'u64*',
  edges: 'const double*',
  params: 'const double*',
  refined: 'double*',
  /** 4·(bins + 1) + 2·MOST_PIECES·bins + 1 numbers per axis. */
  scratch: 'double*',
});

/** A list of regions, and the rule that is applied to them; see kernels/regions.cu. */
export const REGION_TASK = new Struct('RegionTask', {
  low: ['double', 'DIMS'],
  high: ['double', 'DIMS'],
  /** Of the box's volume. */
  mantissa: 'double',
  /** Of the two orbits' generators, squared. */
  ratio: 'double',
  coefficients: ['double', 3],
  exponent: 'int',
  /** Whether null rules are combined with these coefficients. */
  graded: 'int',
  points: 'u32',
  count: 'u32',
  /** The VALUES coordinates that its points have, in half-widths. */
  places: 'const double*',
  /** Which of them a point has: four axes per word, `room` words for each four. */
  words: 'const u32*',
  /** Where the points of each run end. */
  ends: 'const u32*',
  /** Of the points of a run: 32 for each of the rules. */
  weights: 'const double*',
  /** `points` and as much as is read ahead. */
  room: 'u64',
  /** Candidates: scale, norm; PAIRS lists of CANDIDATES, filled up with zeros. */
  pairs: 'const double*',
  /** `count` numbers per axis, unless it is of a pool. */
  centres: 'const double*',
  levels: 'const unsigned char*',
  params: 'const double*',
  values: 'double*',
  errors: 'double*',
  axes: 'unsigned char*',
  /** How many values were not finite, and the first of them: region · points + point. */
  wrong: 'u64*',
});

/** What the host reads of a pool. */
export const FOUND = new Struct('Found', {
  value: 'double',
  error: 'double',
  absolute: 'double',
  stuck: 'double',
  before: 'double',
  after: 'double',
  wrong: 'u64',
  first: 'u64',
  stuckCount: 'u64',
  positive: 'u64',
  negative: 'u64',
  wanted: 'u64',
  threshold: 'double',
  /** Blocks that have ended, of kernels that add up. */
  ended: 'u64',
  /** Of regions that may be finished: how many, and their sums. */
  finished: 'double',
  finishedValue: 'double',
  finishedError: 'double',
  finishedAbsolute: 'double',
  /** The smallest and the largest error of all regions. */
  leastError: 'double',
  largestError: 'double',
});

/** The pool of regions of a run of PAGANI; see kernels/pool.cu. */
export const POOL = new Struct('Pool', {
  /** Its lists have a region's axes side by side: a warp reads them. */
  t: REGION_TASK,
  /** Regions, and how many of them are halved. */
  count: 'u64',
  n: 'u64',
  /** Of the tree of halvings. */
  nodes: 'u64',
  roots: 'u64',
  rootLevel: 'u32',
  /** What regions are listed for: see LISTS in pool.ts. */
  purpose: 'u32',
  threshold: 'double',
  unit: 'double',
  /** Of differences in the two-level error. */
  weight: 'double',
  /** What finishes a region: an error of at most so much times its value, or below so much. */
  relative: 'double',
  below: 'double',
  found: 'Found*',
  flags: 'unsigned char*',
  depths: 'unsigned short*',
  /** Of each region. */
  nodeOf: 'u32*',
  /** Of halvings, a word per node; see innerNode. */
  tree: 'u64*',
  buckets: 'u32*',
  /** Selected regions. */
  list: 'u32*',
  blocks: 'u64*',
  parentValues: 'double*',
  parentErrors: 'double*',
  /** Six numbers per block. */
  sums: 'double*',
  /** Of each region that others look at: the largest neighbour, their sum, and whose face. */
  best: 'u64*',
  around: 'u64*',
  face: 'u64*',
  /** A copy of what was found for the host, where there is a place. */
  report: 'Found*',
});

/** Images of small regions behind their faces; see kernels/borders.cu. */
export const IMAGES = new Struct('Images', {
  count: 'u64',
  /** `count` numbers per axis. */
  centres: 'double*',
  levels: 'unsigned char*',
  values: 'const double*',
  /** Without means to look, each image has as much as what it is the image of. */
  looks: 'u32',
});
