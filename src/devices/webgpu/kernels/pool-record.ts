/**
 * Regions of a pool in the memory of a GPU, as kernels see them. Integers say where a region is: its centre is a fraction of the box on
 * each axis, of 64 bits, and bit n from the top tells in which half of the n-th halving it lies. Halving sets one bit.
 *
 * Values and errors are float32 numbers per volume, where the volume of the box is 1: those of a region that was halved `depth` times
 * are to be multiplied by 2^-depth. So neither underflows, however deep a region is. `keyOf` orders them all: eighths of an octave.
 */
import { MOST_UNEVEN } from '../../../tasks/pool/borders.ts';
import { ADD128 } from './numbers.ts';

/** The finest level of an axis: the centre of a finer region would not be known to 2^-12 of its half-width. */
export const FINEST = 48;

/** Flags of a region: no region beside it is much wider; smaller ones have looked at it and miss nothing; too small to be halved. */
export const FLAG = { SETTLED: 1, CLEARED: 2, STUCK: 4 } as const;

/** Words of `found`: the largest key of all so far, which stays; then what is cleared before a step. */
export const FOUND = {
  TOP: 0,
  /** Values that were not finite, and ~(the number of the first region with some). */
  WRONG: 1,
  FIRST_WRONG: 2,
  /** Whether values above their errors have either sign. */
  POSITIVE: 3,
  NEGATIVE: 4,
  /** Regions that cannot be halved; regions in a list. */
  STUCK: 5,
  LISTED: 6,
  SUMS: 16,
  BUCKETS: 64,
} as const;
/** Sums of a survey, each of 128 bits in pieces of 16. */
export const SUM = { VALUE: 0, ERROR: 1, ABSOLUTE: 2, STUCK: 3, BEFORE: 4, AFTER: 5, COUNT: 6 } as const;
/** Keys of an octave. */
export const KEYS = 8;
/**
 * Buckets of a survey, one per key: the uppermost one has the largest. They span 64 octaves. SwiftShader takes 3 ms to compile each of
 * them, since they are in workgroup memory.
 */
export const BUCKETS = 2 ** 9;
export const FOUND_BYTES = 4 * (FOUND.BUCKETS + BUCKETS);
/** A key in `found` is larger by this, so that it is positive. */
export const KEY_BIAS = 2 ** 24;
/** The key of 0. */
export const NO_KEY = -(2 ** 23);
/** Bits of the largest key's digits in a sum: 24 + 72 + 31 for the number of regions + 1 for the sign = 128. */
export const SUM_SHIFT = 72;

/** Words of the task, which all kernels of a step share. */
export const TASK = /* wgsl */ `
struct Task {
  /** Regions in the pool, and how many of them are halved or listed. */
  count: u32,
  n: u32,
  /** What this dispatch does of a longer list. */
  first: u32,
  end: u32,
  purpose: u32,
  /** The least key. */
  threshold: i32,
  /** Nodes of the tree of halvings, and how often each axis was halved at the start. */
  nodes: u32,
  rootLevel: u32,
  /** Where in the list a second list begins. */
  listAt: u32,
  /** Regions halved less often are not small. */
  deep: u32,
  /** Regions with errors up to this part of their |value| are finished. */
  relative: f32,
  /** What errors are raised by, or a power of 2 that Σ |values| is below. */
  factor: f32,
  power: i32,
  /** Of an image 2^-thin is evaluated, next to the face. */
  thin: u32,
  unused1: u32,
  unused2: u32,
}
`;

/** Buffers that several kernels have, by name: declarations without their bindings. */
const DECLARED = {
  task: 'var<uniform> task: Task;',
  places: 'var<storage, read_write> places: array<vec2<u32>>;',
  levels: 'var<storage, read_write> levels: array<u32>;',
  /** Value, error, axis | flags << 8 | depth << 16, leaf of the tree. */
  state: 'var<storage, read_write> state: array<vec4<u32>>;',
  list: 'var<storage, read_write> list: array<u32>;',
  blocks: 'var<storage, read_write> blocks: array<u32>;',
  /** Value and error of a region that was halved. */
  parents: 'var<storage, read_write> parents: array<vec2<u32>>;',
  tree: 'var<storage, read_write> tree: array<vec2<u32>>;',
  found: 'var<storage, read_write> found: array<atomic<u32>>;',
  best: 'var<storage, read_write> best: array<atomic<u32>>;',
  around: 'var<storage, read_write> around: array<atomic<u32>>;',
  face: 'var<storage, read_write> face: array<atomic<u32>>;',
  imagePlaces: 'var<storage, read_write> imagePlaces: array<vec2<u32>>;',
  imageLevels: 'var<storage, read_write> imageLevels: array<u32>;',
  imageState: 'var<storage, read_write> imageState: array<vec4<u32>>;',
  /** Of the witnesses of a pool (kernels/pool-witness.ts). */
  hearing: 'var<uniform> hearing: array<vec4<u32>, 3>;',
  pointValues: 'var<storage, read_write> pointValues: array<f32>;',
  models: 'var<storage, read_write> models: array<f32>;',
  heard: 'var<storage, read_write> heard: array<u32>;',
  witnessSums: 'var<storage, read_write> witnessSums: array<u32>;',
  rule: 'var<storage, read_write> rule: array<u32>;',
  said: 'var<storage, read_write> said: array<vec2<u32>>;',
} as const;
export type PoolBuffer = keyof typeof DECLARED;

/** Declares buffers; the first has the number `from`. */
export const declare = (buffers: readonly PoolBuffer[], from = 0): string =>
  `${TASK}${buffers.map((name, i) => `@group(0) @binding(${from + i}) ${DECLARED[name]}\n`).join('')}`;

/** What the words of a region say, in kernels that do not read where it is. */
export const STATE = /* wgsl */ `
fn depthOf(own: vec4<u32>) -> u32 { return own.z >> 16u; }
fn axisOf(own: vec4<u32>) -> u32 { return own.z & 255u; }
fn has(own: vec4<u32>, flag: u32) -> bool { return (own.z & (flag << 8u)) != 0u; }

/** How large a number per volume is: its exponent and three of its digits. */
fn keyOf(bits: u32, depth: u32) -> i32 {
  let size = bits & 0x7fffffffu;
  return select(i32(size >> ${23 - Math.log2(KEYS)}u) - ${KEYS} * i32(depth), ${NO_KEY}, size < 0x800000u);
}

/** 2^n, or 0 where float32 has no such number. */
fn power2(n: i32) -> f32 { return bitcast<f32>(u32(clamp(n + 127, 0, 254)) << 23u); }
`;

export const RECORD = (dims: number): string => /* wgsl */ `
const DIMS = ${dims}u;
const LEVEL_WORDS = ${Math.ceil(dims / 4)}u;
${STATE}`;

/**
 * Of a region that small ones look at (tasks/pool/borders.ts): Σ |values| of these, two words in units of 2^(power − 182) per volume, and Σ of
 * their volumes, as parts of its own, in 2^-VOLUME_BITS. What it is believed to have where 2^-thin of all their images are, at most.
 */
export const VOLUME_BITS = 24;
export const AROUND = (read: (word: string) => string): string => /* wgsl */ `
fn besideOf(home: u32) -> f32 { return f32(${read('around[3u * home + 1u]')}) * 0x1p32 + f32(${read('around[3u * home]')}); }
fn believed(home: u32, own: vec4<u32>) -> f32 {
  let part = ${MOST_UNEVEN}.0 * f32(${read('around[3u * home + 2u]')}) * power2(-${VOLUME_BITS} - i32(task.thin));
  return min(1.0, part) * abs(bitcast<f32>(own.x)) + bitcast<f32>(own.y);
}
`;

/** Notes a key as the largest; most are not, and reading is cheap. */
export const NOTE_TOP = /* wgsl */ `
fn noteTop(key: i32) {
  let biased = u32(key + ${KEY_BIAS});
  if (key > ${NO_KEY} && biased > atomicLoad(&found[${FOUND.TOP}])) { atomicMax(&found[${FOUND.TOP}], biased); }
}
`;

/** A number per volume as an integer of 128 bits, in units that depend on the largest key. */
export const PLACED = /* wgsl */ `${ADD128}
fn placed(bits: u32, depth: u32, top: i32) -> vec4<u32> {
  let power = (bits >> 23u) & 0xffu;
  let digits = select((bits & 0x7fffffu) | 0x800000u, 0u, power == 0u);
  let to = ${SUM_SHIFT} + i32(power) - i32(depth) - (top >> ${Math.log2(KEYS)}u);
  let up = u32(clamp(to, 0, ${SUM_SHIFT}));
  let down = u32(clamp(-to, 0, 31));
  let shift = up & 31u;
  let low = (digits >> down) << shift;
  let high = select((digits >> down) >> (32u - shift), 0u, shift == 0u);
  let word = up >> 5u;
  let numbers = vec4<u32>(0u, 1u, 2u, 3u);
  var sum = select(vec4<u32>(), vec4<u32>(low), numbers == vec4<u32>(word));
  sum |= select(vec4<u32>(), vec4<u32>(high), numbers == vec4<u32>(word + 1u));
  return select(sum, negative128(sum), (bits >> 31u) == 1u);
}
`;
