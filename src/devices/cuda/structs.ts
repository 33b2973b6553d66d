/** The structs that the host passes to kernels, and those that kernels fill for it. */
import { ROUNDS } from '../../random/philox.ts';
import { RESULTS_PER_PASS } from '../../tasks/correlation.ts';
import { MAX_PAIRS } from '../../tasks/witness.ts';
import { Struct } from './struct.ts';

/** The sums of an iteration; all members are 0 before it. */
export const SAMPLE_RESULT = new Struct('SampleResult', {
  integral: 'double',
  variance: 'double',
  /** The sum of the histogram's increments along one axis. */
  increments: 'double',
  concentration: 'double',
  /** The number of values that were not finite. */
  wrong: 'u64',
  /** The number of the first sample with such a value, all bits inverted: atomicMax then finds the first one. */
  first: 'u64',
  evaluations: 'u64',
  /** The number of blocks that have ended. */
  blocks: 'u64',
  /** The number of leaves that warps have taken after their first one. */
  taken: 'u64',
});

const SAMPLE_MEMBERS = {
  /** bins/strata per axis. */
  scales: ['double', 'DIMS'],
  strata: ['u32', 'DIMS'],
  /** 2^32/strata per axis, rounded down. */
  inverses: ['u32', 'DIMS'],
  /** The keys of the rounds of Philox. */
  keys: ['u32', 2 * ROUNDS],
  iteration: 'u32',
  stream: 'u32',
  bins: 'u32',
  cubes: 'u32',
  /** Samples of every cube; 0 when each has its own number in `counts`. */
  count: 'u32',
  /** Pieces per cube, when all cubes have the same count. */
  pieces: 'u32',
  /** Lanes that share a piece, a power of two. */
  team: 'u32',
  /** A group has 2^groupBits samples and 2^leafBits leaves. */
  groupBits: 'u32',
  leafBits: 'u32',
  firstLeaf: 'u32',
  leaves: 'u32',
  /** The number of samples in all, unless `totals` is given. */
  samples: 'u64',
  /** Two numbers: all pieces, all samples. */
  totals: 'const u64*',
  /** The Jacobian's constant part. */
  volume: 'double',
  /** The factor of w² in the histogram. */
  scale: 'double',
  /** Which samples it counts (tasks/counted.ts). */
  limit: 'u32',
  blockBits: 'u32',
  edges: 'const double*',
  params: 'const double*',
  /** Samples of each cube. */
  counts: 'const u32*',
  /** The number of the first piece of each cube; cubes + 1 numbers. */
  firstPiece: 'const u32*',
  firstSample: 'const double*',
  /** Two numbers per group, and for the end: its first piece, and the cube of that piece or of the one before. */
  groupStarts: 'const u32*',
  /** SUMS numbers per leaf, and behind them SUMS numbers per subtree of leaves. */
  sums: 'double*',
  /** The mean of each piece times its share of the cube's samples; null when not wanted. */
  means: 'double*',
  variances: 'double*',
  result: 'SampleResult*',
  histogram: 'u64*',
  /** Where a copy of the result for the host goes; null when there is no such place. */
  report: 'SampleResult*',
} as const;

/** An iteration of samples, or a range of its leaves; see kernels/sample.cu. */
export const SAMPLE_TASK = new Struct('SampleTask', SAMPLE_MEMBERS);

/** The same for several results, which kernels know as SampleTask too; see kernels/several-leaf.cu. */
const SEVERAL_MEMBERS = {
  ...SAMPLE_MEMBERS,
  /** 1/unit of each result. */
  inverseUnits: ['double', RESULTS_PER_PASS],
  /** 1 for results that map and strata learn from, 0 for others. */
  leads: ['double', RESULTS_PER_PASS],
} as const;
export const SEVERAL_TASK = new Struct('SeveralTask', SEVERAL_MEMBERS);

/** Points of lattices; see kernels/lattice-points.cu. */
export const LATTICE = new Struct('Lattice', {
  /** The last place of each axis. */
  ends: ['double', 'DIMS'],
  /** What is taken off the place in a bin as bits: 2^20 − bins/2^33. */
  corner: 'double',
  /** DIMS words per shift. */
  shifts: 'const u32*',
  steps: ['u32', 'DIMS'],
});

/** Tasks with points of lattices, which kernels know as SampleTask too. Their `edges` have two numbers per edge, the edge and the slope there. */
export const LATTICE_TASK = new Struct('LatticeTask', { ...SAMPLE_MEMBERS, lattice: LATTICE });
export const SEVERAL_LATTICE_TASK = new Struct('SeveralLatticeTask', {
  ...SEVERAL_MEMBERS,
  lattice: LATTICE,
});

/** The allocation of samples to cubes by their variances; see kernels/allocate.cu. */
export const ALLOCATE = new Struct('Allocate', {
  cubes: 'u32',
  least: 'u32',
  rest: 'double',
  variances: 'const double*',
  params: 'const double*',
  /** The largest variance, as the bits of a float64, which grow with a positive number; 0 before. */
  largest: 'u64*',
  shares: 'double*',
  /** Sums over groups of 32 shares. */
  groups: 'double*',
  total: 'double*',
  counts: 'u32*',
  /** The number of the first piece of each cube; cubes + 1 numbers. */
  firstPiece: 'u32*',
  firstSample: 'double*',
  /** Samples or pieces per block of cubes; later the number of the first one. */
  blocks: 'u64*',
  /** Two numbers: all pieces, all samples. */
  totals: 'u64*',
  /** Two numbers per group of the task, and for the end; see SAMPLE_TASK. */
  groupStarts: 'u32*',
  groupBits: 'u32',
  groupCount: 'u32',
});

/** The addition of the pieces of each cube; see kernels/allocate.cu. */
export const FOLD = new Struct('Fold', {
  pieces: 'const double*',
  cubes: 'double*',
  counts: 'const u32*',
  firstPiece: 'const u32*',
  firstSample: 'const double*',
  /** Samples and pieces per cube; 0 when each cube has its own numbers. */
  count: 'u32',
  each: 'u32',
  n: 'u32',
  /** A group has 2^groupBits samples. */
  groupBits: 'u32',
});

/** What kernels/heavy.cu finds; all members are 0 before it. */
export const HEAVY_RESULT = new Struct('HeavyResult', {
  /** The sum of |mean| over all cubes. */
  sum: 'double',
  /** The number of cubes that matter. */
  count: 'u32',
  /** The number of blocks that have ended. */
  blocks: 'u32',
});

/** Cubes of two samples each, of which those are listed that matter; see kernels/heavy.cu. */
export const HEAVY = new Struct('Heavy', {
  dims: 'u32',
  cubes: 'u32',
  /** Bins per axis of the map. */
  bins: 'u32',
  iteration: 'u32',
  stream: 'u32',
  /** The keys of the rounds of Philox. */
  keys: ['u32', 2 * ROUNDS],
  unit: 'double',
  least: 'double',
  far: 'double',
  means: 'const double*',
  variances: 'const double*',
  edges: 'const double*',
  /** Three numbers per axis: strata, where its range begins, how long that is. */
  axes: 'const double*',
  /** The sum of |mean| over the cubes of each block. */
  sums: 'double*',
  result: 'HeavyResult*',
  /** The cubes that matter, their weights, and the smaller Jacobian of their two points. */
  list: 'u32*',
  weights: 'double*',
  jacobians: 'double*',
});

/** The map for the next iteration; see kernels/refine.cu. */
export const REFINE = new Struct('Refine', {
  bins: 'u32',
  axes: 'u32',
  /** One map for all axes. */
  shared: 'u32',
  /** 1 for α = 0.5, where the damping is the square root of that for α = 1. */
  root: 'u32',
  floor: 'double',
  /** The kernel sets it to 0, unless the map is shared. */
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
  /** The inner range of each axis (integrand/inner-range.ts), which no point leaves. */
  innerLow: ['double', 'DIMS'],
  innerHigh: ['double', 'DIMS'],
  /** The mantissa of the box's volume. */
  mantissa: 'double',
  /** The squared ratio of the generators of the two orbits of fourth differences. */
  ratio: 'double',
  coefficients: ['double', 3],
  exponent: 'int',
  /** Whether the error combines several null rules with the coefficients. */
  graded: 'int',
  points: 'u32',
  count: 'u32',
  /** The VALUES different coordinates of the rule's points, in half-widths. */
  places: 'const double*',
  /** For each point the indices of its coordinates in `places`: four axes per word, `room` words for each four axes. */
  words: 'const u32*',
  /** The end of each run of points. */
  ends: 'const u32*',
  /** Weights per run: 32, one per lane, for each of the rules. */
  weights: 'const double*',
  /** The number of points, with those that are read ahead. */
  room: 'u64',
  /** PAIRS lists of CANDIDATES candidates, each with scale and norm; filled up with zeros. */
  pairs: 'const double*',
  /** `count` numbers per axis; in a pool, `DIMS` numbers per region. */
  centres: 'const double*',
  levels: 'const unsigned char*',
  params: 'const double*',
  values: 'double*',
  errors: 'double*',
  axes: 'unsigned char*',
  /** The number of values that were not finite, and the first of them as region · points + point. */
  wrong: 'u64*',
});

/** The numbers of a pool that the host reads. */
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
  /** The number of blocks that have ended, in kernels that add over all blocks. */
  ended: 'u64',
  /** The number of regions that may be finished, and their sums. */
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
  /** The task; in its lists the axes of a region are neighbours, because a warp reads them together. */
  t: REGION_TASK,
  /** The number of regions, and how many of them are halved. */
  count: 'u64',
  n: 'u64',
  /** The number of nodes in the tree of halvings. */
  nodes: 'u64',
  roots: 'u64',
  rootLevel: 'u32',
  /** Why regions are listed: see PURPOSE in pool.ts. */
  purpose: 'u32',
  threshold: 'double',
  unit: 'double',
  /** The weight of differences in the two-level error; see tasks/pool/errors.ts. */
  weight: 'double',
  /** A region may be finished if its error is at most `relative` times its value, or less than `below`. */
  relative: 'double',
  below: 'double',
  /** Images that are looked at are 2^-thin of whole ones. */
  thin: 'u32',
  found: 'Found*',
  flags: 'unsigned char*',
  depths: 'unsigned short*',
  /** The leaf of each region in the tree. */
  nodeOf: 'u32*',
  /** The tree of halvings, one word per node; see innerNode in kernels/types.cu. */
  tree: 'u64*',
  buckets: 'u32*',
  /** Where the host reads how many regions have errors in each bucket. */
  survey: 'u32*',
  /** Selected regions. */
  list: 'u32*',
  blocks: 'u64*',
  parentValues: 'double*',
  parentErrors: 'double*',
  /** Six numbers per block. */
  sums: 'double*',
  /** For each region that small ones look at: the largest |value| of a neighbour, two sums over all (aroundOf in kernels/types.cu), and whose face. */
  best: 'u64*',
  around: 'u64*',
  face: 'u64*',
  /** Where a copy of FOUND for the host goes; null when there is no such place. */
  report: 'Found*',
});

/** Witnesses for a list of regions; see kernels/witness.cu. */
export const WITNESS = new Struct('Witness', {
  t: REGION_TASK,
  /** Witnesses per region: byVolume/2^depth + each. */
  byVolume: 'double',
  each: 'double',
  /** Nodes of the model along an axis, and weights of its mean. */
  nodes: ['double', MAX_PAIRS],
  meanWeights: ['double', MAX_PAIRS],
  /** Where the corners of a pair of axes are. */
  pairNode: 'double',
  /** Where the corners are to which the model rises and falls most. */
  corner: 'double',
  /** A corner farther from the values of the model than this times their range is a surprise. */
  cornerRange: 'double',
  /** How far the outermost node is from a face, and what the model is believed to; see LADDER in tasks/witness.ts. */
  gap: 'double',
  doubt: 'double',
  /** A surprise is beyond `surprise` times the range of f, and `noise` times its largest value. */
  surprise: 'double',
  noise: 'double',
  /** The least unit of residuals, and the largest residual in that unit. */
  leastUnit: 'double',
  largestResidual: 'double',
  /** Squares of spreads are added in this unit. */
  unit: 'double',
  keys: ['u32', 20],
  steps: ['u32', 'DIMS'],
  round: 'u32',
  stream: 'u32',
  /** Chunks per region, and witnesses per chunk. */
  chunks: 'u32',
  perChunk: 'u32',
  /** Where few of many regions have witnesses: how many, and which. */
  heard: 'u64*',
  list: 'u32*',
  /** The number of the first region in the list of the task. */
  first: 'u64',
  count: 'u64',
  /** How far apart in lists the axes of a region are, and the regions. */
  across: 'u64',
  along: 'u64',
  /** Five numbers per chunk: two sums, as in `surprised`, the largest |residual|, as in `axes`. */
  chunkSums: 'double*',
  /** Numbers of each region: the mean of its model, the unit of its sums, and what else kernels/witness.cu says. */
  means: 'double*',
  deviations: 'double*',
  spreads: 'double*',
  /** As `surprises`, `missing` and `axes` in tasks/witness.ts. */
  surprised: 'unsigned char*',
  missing: 'double*',
  axes: 'unsigned char*',
  /** Seven numbers per block, how many blocks have ended, and seven numbers in all; see TOTALS in witness.ts. */
  sums: 'double*',
  ended: 'u64*',
  totals: 'double*',
});

/** Mirror images of small regions behind their faces; see kernels/borders.cu. */
export const IMAGES = new Struct('Images', {
  count: 'u64',
  /** `count` numbers per axis. */
  centres: 'double*',
  levels: 'unsigned char*',
  values: 'const double*',
  /** 0 when the images are not evaluated: then each counts as much as the region that it is the image of. */
  looks: 'u32',
  /** Of an image 2^-thin is evaluated, next to the face. */
  thin: 'u32',
});
