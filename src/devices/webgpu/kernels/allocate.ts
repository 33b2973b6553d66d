/**
 * Samples of each cube by its variance (tasks/strata.ts), where VEGAS+ has its variances on the GPU: the host would read a million of
 * them, and write as many counts, in each iteration: about 80 ms beside an H200.
 *
 * Variances of pieces become those of cubes: `foldKernel` adds 64 neighbours, and again 64 such sums, and `cubesKernel` adds for each
 * cube the largest of these that lie inside; one thread would take long for a cube of a million pieces. Then
 *
 * - `sharesKernel`: q = ⌊2^31·(variance/largest)^(β/2)⌋ of each cube, and the sum of all q in two words, an integer without order;
 * - `countsKernel`: least + ⌊q·rest/Σq⌋ samples, and pieces and samples before each cube in its block of cubes;
 * - `blocksKernel`: the same before each block, and in all;
 * - `shiftKernel`: the same before each cube;
 * - `groupsKernel`: where the groups of the task begin.
 *
 * Shares are rounded to float32, so that a count may now and then differ by one from the host's. What must hold
 * is that the counts add up to no more than was asked for: groups are counted by that. Σq is exact, the quotient rest/Σq is taken
 * 2^-20 smaller, far more than roundings of a count add, and counts are rounded down.
 */
import { PIECES } from './pieces.ts';

/** Threads of a workgroup, cubes of a thread, and cubes of a block. */
export const ALLOCATE_THREADS = 256;
const PER_THREAD = 4;
export const BLOCK_CUBES = ALLOCATE_THREADS * PER_THREAD;
/** Variances of pieces that are added at a time, as a power of two. */
export const FOLD_BITS = 6;

/** Words of what all kernels read. */
export const ALLOCATE = {
  CUBES: 0,
  LEAST: 1,
  REST: 2,
  GROUPS: 3,
  GROUP_BITS: 4,
  COUNT: 5,
  WORDS: 8,
} as const;
/** Words of what kernels tell each other: the largest variance as bits, and the sum of all shares. */
export const STATE_WORDS = 4;

const TASK = /* wgsl */ `
@group(0) @binding(0) var<uniform> task: array<vec4<u32>, 2>;
${Object.entries(ALLOCATE)
  .filter(([name]) => name !== 'WORDS')
  .map(([name, at]) => `fn ${name.toLowerCase()}() -> u32 { return task[${at >> 2}].${'xyzw'[at & 3]}; }`)
  .join('\n')}
`;

/** Adds 2^FOLD_BITS numbers each. */
export const foldVariances = (stride: 1 | 2): string => /* wgsl */ `
@group(0) @binding(0) var<uniform> size: vec4<u32>;
@group(0) @binding(1) var<storage, read> numbers: array<f32>;
@group(0) @binding(2) var<storage, read_write> sums: array<f32>;

@compute @workgroup_size(${ALLOCATE_THREADS})
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
  let first = thread.x << ${FOLD_BITS}u;
  if (first < size.x) {
    var sum = 0.0;
    for (var i = first; i < min(size.x, first + ${2 ** FOLD_BITS}u); i++) { sum += numbers[${stride}u * i]; }
    sums[thread.x] = sum;
  }
}
`;

/** The variance of each cube, and the largest of all. */
export const CUBES_KERNEL = /* wgsl */ `
${TASK}
@group(0) @binding(1) var<storage, read> ofPieces: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> some: array<f32>;
@group(0) @binding(3) var<storage, read> many: array<f32>;
@group(0) @binding(4) var<storage, read> before: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> variances: array<f32>;
@group(0) @binding(6) var<storage, read_write> state: array<atomic<u32>>;
${PIECES}
var<workgroup> largest: atomic<u32>;

@compute @workgroup_size(${ALLOCATE_THREADS})
fn main(@builtin(global_invocation_id) thread: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  if (lane == 0u) { atomicStore(&largest, 0u); }
  workgroupBarrier();
  if (thread.x < cubes()) {
    var at = thread.x * piecesOf(count());
    var end = at + piecesOf(count());
    if (count() == 0u) {
      at = before[thread.x].x;
      end = before[thread.x + 1u].x;
    }
    var sum = 0.0;
    while (at < end) {
      if ((at & ${2 ** (2 * FOLD_BITS) - 1}u) == 0u && at + ${2 ** (2 * FOLD_BITS)}u <= end) {
        sum += many[at >> ${2 * FOLD_BITS}u];
        at += ${2 ** (2 * FOLD_BITS)}u;
      } else if ((at & ${2 ** FOLD_BITS - 1}u) == 0u && at + ${2 ** FOLD_BITS}u <= end) {
        sum += some[at >> ${FOLD_BITS}u];
        at += ${2 ** FOLD_BITS}u;
      } else {
        sum += ofPieces[at].x;
        at++;
      }
    }
    variances[thread.x] = sum;
    // bits of numbers that are not negative are ordered as they are; what is not finite counts as the largest number
    atomicMax(&largest, min(bitcast<u32>(sum) & 0x7fffffffu, 0x7f7fffffu));
  }
  workgroupBarrier();
  if (lane == 0u) { atomicMax(&state[0], atomicLoad(&largest)); }
}
`;

/** The largest of variances that the host wrote. */
export const LARGEST_KERNEL = /* wgsl */ `
${TASK}
@group(0) @binding(1) var<storage, read> variances: array<f32>;
@group(0) @binding(2) var<storage, read_write> state: array<atomic<u32>>;
var<workgroup> largest: atomic<u32>;

@compute @workgroup_size(${ALLOCATE_THREADS})
fn main(@builtin(global_invocation_id) thread: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  if (lane == 0u) { atomicStore(&largest, 0u); }
  workgroupBarrier();
  if (thread.x < cubes()) {
    atomicMax(&largest, min(bitcast<u32>(variances[thread.x]) & 0x7fffffffu, 0x7f7fffffu));
  }
  workgroupBarrier();
  if (lane == 0u) { atomicMax(&state[0], atomicLoad(&largest)); }
}
`;

/** β/2 = 3/8 by square roots; see the head of this file. */
export const SHARES_KERNEL = /* wgsl */ `
${TASK}
@group(0) @binding(1) var<storage, read> variances: array<f32>;
@group(0) @binding(2) var<storage, read_write> shares: array<u32>;
@group(0) @binding(3) var<storage, read_write> state: array<atomic<u32>>;
var<workgroup> low: atomic<u32>;
var<workgroup> high: atomic<u32>;

@compute @workgroup_size(${ALLOCATE_THREADS})
fn main(@builtin(global_invocation_id) thread: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  if (lane == 0u) {
    atomicStore(&low, 0u);
    atomicStore(&high, 0u);
  }
  workgroupBarrier();
  if (thread.x < cubes()) {
    let largest = bitcast<f32>(atomicLoad(&state[0]));
    var share = 1.0;
    if (largest > 0.0) {
      let root = sqrt(sqrt(clamp(variances[thread.x] / largest, 0.0, 1.0)));
      share = root * sqrt(root);
    }
    let own = u32(clamp(share, 0.0, 1.0) * 0x1p31);
    shares[thread.x] = own;
    let old = atomicAdd(&low, own);
    if (old + own < old) { atomicAdd(&high, 1u); }
  }
  workgroupBarrier();
  if (lane == 0u) {
    let own = atomicLoad(&low);
    let old = atomicAdd(&state[1], own);
    atomicAdd(&state[2], atomicLoad(&high) + u32(old + own < old));
  }
}
`;

/** Sums of the threads before each one, in a workgroup: each step adds the numbers of threads twice as far away. */
const SCAN = /* wgsl */ `
var<workgroup> row: array<vec2<u32>, ${ALLOCATE_THREADS}>;

/** The sum of the numbers up to this lane. */
fn scan(lane: u32, own: vec2<u32>) -> vec2<u32> {
  var sum = own;
  row[lane] = sum;
  workgroupBarrier();
${Array.from({ length: Math.log2(ALLOCATE_THREADS) }, (_, k) => {
  const step = 2 ** k;
  return `  if (lane >= ${step}u) { sum += row[lane - ${step}u]; }
  workgroupBarrier();
  row[lane] = sum;
  workgroupBarrier();`;
}).join('\n')}
  return sum;
}
`;

export const COUNTS_KERNEL = /* wgsl */ `
${TASK}
@group(0) @binding(1) var<storage, read> shares: array<u32>;
@group(0) @binding(2) var<storage, read> state: array<u32>;
@group(0) @binding(3) var<storage, read_write> before: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> blocks: array<vec2<u32>>;
${PIECES}
${SCAN}
fn countOf(cube: u32, scale: f32) -> vec2<u32> {
  var own = vec2<u32>();
  if (cube < cubes()) {
    var n = least();
    if (state[0] == 0u) { n += rest() / cubes(); } else { n += u32(f32(shares[cube]) * scale); }
    own = vec2<u32>(piecesOf(n), n);
  }
  return own;
}

@compute @workgroup_size(${ALLOCATE_THREADS})
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let total = f32(state[2]) * 0x1p32 + f32(state[1]);
  let scale = f32(rest()) / total * (1.0 - 0x1p-20);
  let first = workgroup.x * ${BLOCK_CUBES}u + lane * ${PER_THREAD}u;
  var own = vec2<u32>();
  for (var i = 0u; i < ${PER_THREAD}u; i++) { own += countOf(first + i, scale); }
  let sum = scan(lane, own);
  var at = sum - own;
  for (var i = 0u; i < ${PER_THREAD}u; i++) {
    if (first + i < cubes()) { before[first + i] = at; }
    at += countOf(first + i, scale);
  }
  if (lane == ${ALLOCATE_THREADS - 1}u) { blocks[workgroup.x] = sum; }
}
`;

/** One workgroup: each thread has as many blocks as it takes. */
export const BLOCKS_KERNEL = /* wgsl */ `
${TASK}
@group(0) @binding(1) var<storage, read_write> blocks: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> before: array<vec2<u32>>;
${SCAN}
@compute @workgroup_size(${ALLOCATE_THREADS})
fn main(@builtin(local_invocation_index) lane: u32) {
  let n = (cubes() + ${BLOCK_CUBES - 1}u) / ${BLOCK_CUBES}u;
  let each = (n + ${ALLOCATE_THREADS - 1}u) / ${ALLOCATE_THREADS}u;
  let first = min(n, lane * each);
  let end = min(n, first + each);
  var own = vec2<u32>();
  for (var i = first; i < end; i++) { own += blocks[i]; }
  let sum = scan(lane, own);
  var at = sum - own;
  for (var i = first; i < end; i++) {
    let block = blocks[i];
    blocks[i] = at;
    at += block;
  }
  if (lane == ${ALLOCATE_THREADS - 1}u) { before[cubes()] = sum; }
}
`;

export const SHIFT_KERNEL = /* wgsl */ `
${TASK}
@group(0) @binding(1) var<storage, read> blocks: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> before: array<vec2<u32>>;

@compute @workgroup_size(${ALLOCATE_THREADS})
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
  if (thread.x < cubes()) { before[thread.x] += blocks[thread.x / ${BLOCK_CUBES}u]; }
}
`;

/** Of each group, and of the end of the last: the last cube that begins with its first sample or before; see kernels/sample.ts. */
export const GROUPS_KERNEL = /* wgsl */ `
${TASK}
@group(0) @binding(1) var<storage, read> before: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> starts: array<vec4<u32>>;

@compute @workgroup_size(${ALLOCATE_THREADS})
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
  if (thread.x <= groups()) {
    let sample = thread.x << group_bits();
    var low = 0u;
    var high = cubes();
    while (high > low + 1u) {
      let middle = low + (high - low) / 2u;
      if (before[middle].y <= sample) { low = middle; } else { high = middle; }
    }
    starts[thread.x] = vec4<u32>(low, sample - before[low].y, sample, 0u);
  }
}
`;
