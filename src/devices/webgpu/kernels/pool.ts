/**
 * The kernels of a pool of regions in the memory of a GPU, around the one that evaluates (pool-regions.ts): a step lists regions by their
 * errors, halves them, and surveys all. See tasks/pool/host-pool.ts for the same with lists of the host.
 *
 * Lists are in the order of regions, and sums are integers: nothing depends on the order of threads. A survey also counts regions in
 * buckets by their errors, so that the host chooses the next ones without asking again.
 */
import {
  AROUND,
  BUCKETS,
  declare,
  FINEST,
  FLAG,
  FOUND,
  KEY_BIAS,
  NOTE_TOP,
  PLACED,
  type PoolBuffer,
  RECORD,
  STATE,
  SUM,
} from './pool-record.ts';

/** Threads of a workgroup, and regions that a thread of a listing kernel has. */
export const WIDTH = 256;
const EACH = 8;
export const LISTED_PER_BLOCK = WIDTH * EACH;
/** Workgroups of a survey, at most: pieces of 16 bits are added in words. */
export const MAX_SURVEYORS = 1024;

/** Why regions are listed, or surveyed. */
export const PURPOSE = {
  /** Errors from the threshold on. */
  HALVING: 0,
  /** Wide regions whose small neighbours have more than they have. */
  LOOKS: 1,
  /** Finished regions among the first n; regions behind them that stay. */
  GAPS: 2,
  MOVES: 3,
  /** Those with the largest values. */
  VALUES: 4,
} as const;

export interface PoolKernel {
  text: string;
  /** In the order of bindings. */
  buffers: readonly PoolBuffer[];
  /** Whether the integrand is in it, whose params come first. */
  integrand?: boolean;
}

/** A kernel; without a number of dimensions it is the same for all. */
const kernel = (dims: number | null, buffers: readonly PoolBuffer[], text: string): PoolKernel => ({
  buffers,
  text: `${declare(buffers)}${dims === null ? STATE : RECORD(dims)}${text}`,
});

/** One thread per item; workgroups are in rows of 32,768. */
const MAIN = (body: string) => /* wgsl */ `
@compute @workgroup_size(${WIDTH})
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let k = (workgroup.x + 32768u * workgroup.y) * ${WIDTH}u + thread;
  ${body}
}
`;

/** The box, every axis halved \`rootLevel\` times; the first axis is fastest. */
export const begin = (dims: number): PoolKernel =>
  kernel(
    dims,
    ['task', 'places', 'levels', 'state', 'tree'],
    MAIN(/* wgsl */ `
  if (k < task.count) {
    let level = task.rootLevel;
    var rest = k;
    for (var d = 0u; d < DIMS; d++) {
      let cell = rest & ((1u << level) - 1u);
      places[k * DIMS + d] = vec2<u32>(0u, (2u * cell + 1u) << (31u - level));
      rest >>= level;
    }
    for (var w = 0u; w < LEVEL_WORDS; w++) { levels[k * LEVEL_WORDS + w] = 0x01010101u * level; }
    state[k] = vec4<u32>(0u, 0u, (level * DIMS) << 16u, k);
    tree[k] = vec2<u32>(k, 0u);
  }`),
  );

const MAY_FINISH = /* wgsl */ `
/** Whether a region may be finished: its error is small relative to its value, or below PAGANI's threshold. */
fn mayFinish(own: vec4<u32>) -> bool {
  let small = bitcast<f32>(own.y) <= task.relative * abs(bitcast<f32>(own.x));
  return keyOf(own.y, depthOf(own)) < task.threshold || (task.relative > 0.0 && small);
}
`;

/** Whether a region goes to the list. */
const LISTED = /* wgsl */ `${MAY_FINISH}
fn isListed(i: u32) -> bool {
  let own = state[i];
  switch (task.purpose) {
    case ${PURPOSE.GAPS}u: { return i < task.n && mayFinish(own); }
    case ${PURPOSE.MOVES}u: { return i >= task.n && !mayFinish(own); }
    case ${PURPOSE.VALUES}u: { return keyOf(own.x, depthOf(own)) >= task.threshold; }
    default: { return !has(own, ${FLAG.STUCK}u) && keyOf(own.y, depthOf(own)) >= task.threshold; }
  }
}
`;

/** Where small neighbours have more than the region is believed to have beside them, in units of 2^(power − 182) (borders.ts), and than the factor in the same units. */
export const LOOKED_AT = /* wgsl */ `${AROUND(word => word)}
fn isListed(i: u32) -> bool {
  let own = state[i];
  let scale = power2(clamp(task.power - 182 + i32(depthOf(own)), -126, 127));
  let near = besideOf(i);
  return best[i] != 0u && near > task.factor && near * scale > believed(i, own);
}
`;

/** The listing of regions: the number of each block, where each block's begin, the list. */
export function listing(test: string = LISTED, more: readonly PoolBuffer[] = []): PoolKernel[] {
  // nothing is added to these two here
  const own = (buffers: readonly PoolBuffer[], text: string) => {
    const made = kernel(null, buffers, text);
    return { ...made, text: made.text.replaceAll(/(best|around): array<atomic<u32>>/g, '$1: array<u32>') };
  };
  const listed = /* wgsl */ `${test}
/** Which of the EACH regions of a thread are listed, as bits. */
fn listedOf(first: u32) -> u32 {
  var bits = 0u;
  for (var j = 0u; j < ${EACH}u; j++) {
    if (first + j < task.count) { bits |= u32(isListed(first + j)) << j; }
  }
  return bits;
}
`;
  const counts = own(
    ['task', 'state', 'blocks', ...more],
    `${listed}
var<workgroup> all: atomic<u32>;
@compute @workgroup_size(${WIDTH})
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  if (thread == 0u) { atomicStore(&all, 0u); }
  workgroupBarrier();
  let own = countOneBits(listedOf((workgroup.x * ${WIDTH}u + thread) * ${EACH}u));
  if (own > 0u) { atomicAdd(&all, own); }
  workgroupBarrier();
  if (thread == 0u) { blocks[workgroup.x] = atomicLoad(&all); }
}
`,
  );
  const starts = kernel(
    null,
    ['task', 'blocks', 'found'],
    /* wgsl */ `
var<workgroup> sums: array<u32, ${WIDTH}>;
@compute @workgroup_size(${WIDTH})
fn main(@builtin(local_invocation_index) thread: u32) {
  let all = (task.count + ${LISTED_PER_BLOCK - 1}u) / ${LISTED_PER_BLOCK}u;
  let share = (all + ${WIDTH - 1}u) / ${WIDTH}u;
  let first = min(all, thread * share);
  let last = min(all, first + share);
  var sum = 0u;
  for (var b = first; b < last; b++) { sum += blocks[b]; }
  sums[thread] = sum;
  workgroupBarrier();
  if (thread == 0u) {
    var before = 0u;
    for (var t = 0u; t < ${WIDTH}u; t++) {
      let own = sums[t];
      sums[t] = before;
      before += own;
    }
    atomicStore(&found[${FOUND.LISTED}], before);
  }
  workgroupBarrier();
  var at = sums[thread];
  for (var b = first; b < last; b++) {
    let own = blocks[b];
    blocks[b] = at;
    at += own;
  }
}
`,
  );
  const write = own(
    ['task', 'state', 'blocks', 'list', ...more],
    `${listed}
var<workgroup> counts: array<u32, ${WIDTH}>;
@compute @workgroup_size(${WIDTH})
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let first = (workgroup.x * ${WIDTH}u + thread) * ${EACH}u;
  let bits = listedOf(first);
  counts[thread] = countOneBits(bits);
  workgroupBarrier();
  if (thread == 0u) {
    var before = task.listAt + blocks[workgroup.x];
    for (var t = 0u; t < ${WIDTH}u; t++) {
      let own = counts[t];
      counts[t] = before;
      before += own;
    }
  }
  workgroupBarrier();
  var at = counts[thread];
  for (var j = 0u; j < ${EACH}u; j++) {
    if (((bits >> j) & 1u) == 1u) {
      list[at] = first + j;
      at++;
    }
  }
}
`,
  );
  return [counts, starts, write];
}

/** Halves region k of the list: one half takes its place, the other goes to the end. */
export const halve = (dims: number): PoolKernel =>
  kernel(
    dims,
    ['task', 'places', 'levels', 'state', 'list', 'parents', 'tree'],
    MAIN(/* wgsl */ `
  if (k < task.n) {
    let own = list[k];
    let other = task.count + k;
    let was = state[own];
    let axis = axisOf(was);
    let word = axis >> 2u;
    let shift = 8u * (axis & 3u);
    let level = (levels[own * LEVEL_WORDS + word] >> shift) & 255u;
    for (var d = 0u; d < DIMS; d++) { places[other * DIMS + d] = places[own * DIMS + d]; }
    for (var w = 0u; w < LEVEL_WORDS; w++) {
      let both = levels[own * LEVEL_WORDS + w] + select(0u, 1u << shift, w == word);
      levels[own * LEVEL_WORDS + w] = both;
      levels[other * LEVEL_WORDS + w] = both;
    }
    // the lowest bit of the centre moves down by one, which is the upper half; without it, the lower one
    let place = places[own * DIMS + axis];
    let bit = 62u - level;
    let next = vec2<u32>(select(1u << (bit & 31u), 0u, bit >= 32u), select(0u, 1u << (bit & 31u), bit >= 32u));
    let old = vec2<u32>(select(1u << ((bit + 1u) & 31u), 0u, bit >= 31u), select(0u, 1u << ((bit + 1u) & 31u), bit >= 31u));
    places[own * DIMS + axis] = (place ^ old) | next;
    places[other * DIMS + axis] = place | next;
    parents[k] = was.xy;
    let leaf = task.nodes + 2u * k;
    tree[was.w] = vec2<u32>(leaf, (level << 8u) | (axis + 1u));
    tree[leaf] = vec2<u32>(own, 0u);
    tree[leaf + 1u] = vec2<u32>(other, 0u);
    let words = (depthOf(was) + 1u) << 16u;
    state[own] = vec4<u32>(0u, 0u, words, leaf);
    state[other] = vec4<u32>(0u, 0u, words, leaf + 1u);
  }`),
  );

/** The two-level error of both halves of region k of the list; see tasks/pool/errors.ts. Halves have half of the volume. */
export const twoLevel = (weight: number): PoolKernel =>
  kernel(
    null,
    ['task', 'state', 'list', 'parents', 'found'],
    `${NOTE_TOP}
fn note(slot: u32, was: vec4<u32>, error: f32) {
  let value = bitcast<f32>(was.x);
  state[slot].y = bitcast<u32>(error);
  noteTop(keyOf(bitcast<u32>(error), depthOf(was)));
  if (value > error && atomicLoad(&found[${FOUND.POSITIVE}]) == 0u) { atomicStore(&found[${FOUND.POSITIVE}], 1u); }
  if (-value > error && atomicLoad(&found[${FOUND.NEGATIVE}]) == 0u) { atomicStore(&found[${FOUND.NEGATIVE}], 1u); }
}
${MAIN(/* wgsl */ `
  if (k < task.n) {
    let own = state[list[k]];
    let other = state[task.count + k];
    let whole = bitcast<f32>(parents[k].x);
    let difference = ${2 * weight} * abs((0.5 * bitcast<f32>(own.x) - 0.5 * whole) + (0.5 * bitcast<f32>(other.x) - 0.5 * whole));
    let errors = vec2<f32>(bitcast<f32>(own.y), bitcast<f32>(other.y));
    let sum = errors.x + errors.y;
    var factor = 1.0;
    if (sum > 0.0) { factor = min(0x1p100, 1.0 + 2.0 * difference / sum); }
    note(list[k], own, errors.x * factor + difference);
    note(task.count + k, other, errors.y * factor + difference);
  }`)}`,
  );

/**
 * Adds over all regions, and over those that were halved; \`count\` is the number of regions before they were. Counts regions in
 * buckets by their errors, or by their |values| where small regions look across borders.
 */
export const survey = (): PoolKernel =>
  kernel(
    null,
    ['task', 'state', 'list', 'parents', 'found'],
    `${PLACED}${MAY_FINISH}
var<workgroup> counts: array<atomic<u32>, ${BUCKETS}>;
var<workgroup> pieces: array<atomic<u32>, ${8 * SUM.COUNT}>;

@compute @workgroup_size(${WIDTH})
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(num_workgroups) all: vec3<u32>,
) {
  let top = i32(atomicLoad(&found[${FOUND.TOP}])) - ${KEY_BIAS};
  let step = all.x * ${WIDTH}u;
  // loops over sums stay loops: SwiftShader takes 8 s to compile the same text six times
  var sums: array<vec4<u32>, ${SUM.COUNT}> = array<vec4<u32>, ${SUM.COUNT}>();
  var stuckCount = 0u;
  let finishing = task.purpose == ${PURPOSE.GAPS}u;
  for (var i = workgroup.x * ${WIDTH}u + thread; i < task.count + task.n; i += step) {
    let own = state[i];
    let depth = depthOf(own);
    let stuck = has(own, ${FLAG.STUCK}u);
    if (!finishing || mayFinish(own)) {
      // in the order of SUM
      var terms = array<u32, ${SUM.BEFORE}>(own.x, own.y, own.x & 0x7fffffffu, select(0u, own.y, stuck));
      stuckCount += u32(stuck || finishing);
      for (var s = 0u; s < ${SUM.BEFORE}u; s++) { sums[s] = add128(sums[s], placed(terms[s], depth, top)); }
    }
    var counted = !stuck;
    var bits = own.y;
    if (task.purpose >= ${PURPOSE.LOOKS}u) { bits = own.x; }
    if (task.purpose == ${PURPOSE.LOOKS}u) { counted = depth >= task.deep && !has(own, ${FLAG.SETTLED}u); }
    if (task.purpose == ${PURPOSE.VALUES}u) { counted = true; }
    let bucket = keyOf(bits, depth) - top + ${BUCKETS - 1};
    if (counted && bucket >= 0) { atomicAdd(&counts[min(bucket, ${BUCKETS - 1})], 1u); }
  }
  for (var k = workgroup.x * ${WIDTH}u + thread; k < task.n; k += step) {
    let depth = depthOf(state[list[k]]);
    var terms = array<u32, 3>(parents[k].y, state[list[k]].y, state[task.count + k].y);
    for (var s = 0u; s < 3u; s++) {
      let to = ${SUM.BEFORE}u + min(s, 1u);
      sums[to] = add128(sums[to], placed(terms[s], depth - u32(s == 0u), top));
    }
  }
  for (var s = 0u; s < ${SUM.COUNT}u; s++) {
    for (var w = 0u; w < 4u; w++) {
      let word = sums[s][w];
      if (word != 0u) {
        atomicAdd(&pieces[8u * s + 2u * w], word & 0xffffu);
        atomicAdd(&pieces[8u * s + 2u * w + 1u], word >> 16u);
      }
    }
  }
  if (stuckCount > 0u) { atomicAdd(&found[${FOUND.STUCK}], stuckCount); }
  workgroupBarrier();
  for (var b = thread; b < ${BUCKETS}u; b += ${WIDTH}u) {
    let count = atomicLoad(&counts[b]);
    if (count > 0u) { atomicAdd(&found[${FOUND.BUCKETS}u + b], count); }
  }
  if (thread < ${SUM.COUNT}u) {
    // pieces of 16 bits again: as many workgroups as there are add them without a carry
    var carry = 0u;
    for (var j = 0u; j < 8u; j++) {
      let piece = atomicLoad(&pieces[8u * thread + j]) + carry;
      atomicAdd(&found[${FOUND.SUMS}u + 8u * thread + j], piece & 0xffffu);
      carry = piece >> 16u;
    }
  }
}
`,
  );

/** Fills the gaps that finished regions have left: the list has n gaps, and behind them the n regions that move there. */
export const move = (dims: number): PoolKernel =>
  kernel(
    dims,
    ['task', 'places', 'levels', 'state', 'list'],
    MAIN(/* wgsl */ `
  if (k < task.n) {
    let to = list[k];
    let old = list[task.n + k];
    for (var d = 0u; d < DIMS; d++) { places[to * DIMS + d] = places[old * DIMS + d]; }
    for (var w = 0u; w < LEVEL_WORDS; w++) { levels[to * LEVEL_WORDS + w] = levels[old * LEVEL_WORDS + w]; }
    state[to] = state[old];
  }`),
  );

/**
 * Raises errors by what witnesses said; see tasks/pool/blame.ts. `said` has for each region of the list an error, in units of 2^power of
 * the box's volume, and the axis along which it is to be halved. Without a list, all regions have the same error.
 */
export const blame = (dims: number): PoolKernel =>
  kernel(
    dims,
    ['task', 'levels', 'state', 'list', 'said', 'found'],
    `${NOTE_TOP}
${MAIN(/* wgsl */ `
  if (k < task.n) {
    let everyone = task.purpose == 1u;
    let slot = select(list[k], k, everyone);
    let own = state[slot];
    let depth = depthOf(own);
    let guilt = select(bitcast<f32>(said[k].x), task.factor, everyone);
    if (guilt > 0.0) {
      let more = min(0x1p126, guilt * power2(clamp(task.power + i32(depth), -126, 126)));
      let error = bitcast<f32>(own.y) + more;
      var words = own.z;
      let axis = said[k].y;
      let level = (levels[slot * LEVEL_WORDS + (axis >> 2u)] >> (8u * (axis & 3u))) & 255u;
      if (!everyone && level < ${FINEST}u) { words = (words & 0xffffff00u) | axis; }
      state[slot] = vec4<u32>(own.x, bitcast<u32>(error), words, own.w);
      noteTop(keyOf(bitcast<u32>(error), depth));
    }
  }`)}`,
  );
