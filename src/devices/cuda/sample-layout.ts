/**
 * How an iteration of VEGAS is laid out on a card: how many lanes share a piece of a cube, how many leaves a group has (kernels/sample.cu), and
 * what is in shared memory. The layout depends on the task alone.
 */
import { PIECE, piecesOf } from '../../tasks/pieces.ts';
import { cubesOf, plan, type SampleTask, samplesOf } from '../../tasks/sample.ts';

/**
 * Lanes that should have work: about as many as a large card runs at a time. It is not the number of the card in use,
 * because the layout, and with it the bits of the sums, would then depend on the card.
 */
const BUSY_LANES = 2 ** 17;
/** Leaves per iteration, at most, as long as a leaf is no larger than a group. */
const MAX_LEAVES = 2 ** 16;
/** Steps of a team on a piece, at least, before the team is doubled: with fewer, lanes idle in the last step. */
const MIN_TEAM_STEPS = 6;
/** Copies of the smooth map of lattices, at most: as many as there are banks of 16 bytes. */
const MOST_REPLICAS = 8;
/** The typical number of samples per piece where cubes have many samples. */
const LONG_PIECE = 180;
/** Strata per axis, at most, whose numbers fit beside 32 random bits in the 53 bits of a float64. */
const MAX_PLAIN_STRATA = 2 ** 20;
/** Strata per axis, at most, whose numbers are bytes; and axes, at least, for which that saves more registers than one. */
const MAX_PACKED_STRATA = 2 ** 8;
const MIN_PACKED_AXES = 5;

export interface SampleLayout {
  cubes: number;
  /** The number of pieces, at most. */
  pieces: number;
  /** Lanes that share a piece. */
  team: number;
  /** A group has 2^groupBits samples and 2^leafBits leaves. */
  groupBits: number;
  leafBits: number;
  groups: number;
}

export function sampleLayout(task: SampleTask): SampleLayout {
  const { counts } = task;
  const cubes = cubesOf(task);
  const { groups, size } = plan(task);
  const samples = samplesOf(task);
  const uniform = typeof counts === 'number';
  const pieces = uniform ? cubes * piecesOf(counts) : cubes + Math.ceil(samples / (PIECE / 2));
  const average = Math.min(LONG_PIECE, samples / cubes);
  const items = uniform ? pieces : cubes + Math.ceil(samples / PIECE);
  let team = 1;
  while (team < 32 && (2 * MIN_TEAM_STEPS * team <= average || (team < average && items * team < BUSY_LANES)))
    team *= 2;
  const groupBits = Math.log2(size);
  // a round gives a piece to every team of a warp; a leaf has one round, or several when there are many
  const rounds = (items * team) / 32;
  const perGroup = rounds * Math.min(1, size / samples);
  const leafBits =
    rounds <= BUSY_LANES / 32
      ? Math.ceil(Math.log2(perGroup))
      : Math.floor(Math.log2(perGroup / Math.max(1, rounds / MAX_LEAVES)));
  return { cubes, pieces, team, groupBits, leafBits: Math.max(0, leafBits), groups };
}

/** What of an iteration fits into shared memory. */
export interface Fit {
  edgeBytes: number;
  histogramBytes: number;
  /** Constants that tell the kernel. */
  kernels: Record<string, boolean | number>;
}

/** Which of map and histogram fit into `room` bytes of shared memory: their bytes, and the constants that tell the kernel. */
export function fitFor({ bins, strata, adapt, lattice, edges }: SampleTask, room: number): Fit {
  const dims = strata.length;
  if (lattice) {
    const once = 16 * dims * (bins + 1);
    const copies = [MOST_REPLICAS, 4, 2, 1].find(n => n * once <= room);
    const kernels = {
      SHARED_EDGES: copies !== undefined,
      LATTICE: true,
      REPLICAS: copies ?? 1,
      BIN_BITS: Number.isInteger(Math.log2(bins)) ? Math.log2(bins) : 0,
      FOLDED: lattice.folded,
      GUARDED: mayReachEnd(edges as Float64Array, lattice.slopes, dims),
    };
    return { edgeBytes: once * (copies ?? 0), histogramBytes: 0, kernels };
  }
  const mapBytes = 8 * dims * (bins + 1);
  const edgeBytes = mapBytes <= room ? mapBytes : 0;
  const histogram = adapt ? 8 * dims * bins : 0;
  const histogramBytes = edgeBytes + histogram <= room ? histogram : 0;
  const kernels = {
    SHARED_EDGES: edgeBytes > 0,
    SHARED_HISTOGRAM: histogramBytes === histogram,
    ...(strata.some(n => n > MAX_PLAIN_STRATA) && { MANY_STRATA: true }),
    ...(dims >= MIN_PACKED_AXES && strata.every(n => n <= MAX_PACKED_STRATA) && { PACKED: true }),
  };
  return { edgeBytes, histogramBytes, kernels };
}

/** How far the last words of a lattice are from the end of the last bin, in 2^-32 of its width: half a bin per word. */
const LAST_WORD = 1 / 2;
/** Rounding errors of a smooth map, in last digits of the end: three products and sums, and a margin. */
const ROUNDING = 16 * 2 ** -53;

/** Whether rounding may move points of a lattice to the end of an axis. Where the number of bins is a power of two, words end before it. */
function mayReachEnd(edges: Float64Array, slopes: Float64Array, dims: number): boolean {
  const own = edges.length / dims;
  const bins = own - 1;
  if (!Number.isInteger(Math.log2(bins))) return true;
  return Array.from({ length: dims }, (_, d) => (d + 1) * own - 1).some(
    last =>
      slopes[last] * LAST_WORD * bins * 2 ** -32 <=
      ROUNDING * Math.max(Math.abs(edges[last]), Math.abs(edges[last - 1])),
  );
}
