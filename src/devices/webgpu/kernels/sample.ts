/**
 * The kernels of samples. A workgroup has one group of an iteration (tasks/pieces.ts), and each of its threads a range of the pieces
 * of the group. Each thread writes its sums; a second kernel adds those of FOLD threads, and the host the rest. Which pieces a
 * thread has depends on the task alone, so bits do not depend on how groups are spread over dispatches.
 *
 * Threads share nothing but counters of the histogram: barriers make SwiftShader several times as slow, and drivers compile longer.
 *
 * A coordinate comes from integers: word, stratum and bins give the number of the bin and what is left, and only then there is a
 * float32, the fraction of the bin. Weights w = f·Jacobian/unit of a piece are summed as differences from its first one, the
 * pivot: sums of them and of their products lose no digits to each other where w varies little. What pieces contribute to the sum is
 * an integer of 128 bits; variances are float32, since two digits of them are enough.
 *
 * The Jacobian is a product of as many factors as there are axes, of which each may be 1e-6: its mantissa and its exponent are apart.
 *
 * Squares for the histogram are integers of 64 bits. In large tasks their lower words are in workgroup memory, as many as fit, and
 * carries, which are rare, go to the buffer at once; in small ones all of them go to the buffer.
 */
import { PIECE } from '../../../tasks/pieces.ts';
import { FINITE, PHILOX, SUMS } from './numbers.ts';

export const THREADS = 256;

/** Words of the task, which is a uniform buffer, by their names: see sampling.ts. Those of axes are behind the others. */
export const TASK = {
  KEYS: 0,
  ITERATION: 20,
  STREAM: 21,
  BINS: 22,
  /** Samples of every cube; 0 where cubes have their own. */
  COUNT: 23,
  /** The number of the first piece of this dispatch. */
  FIRST_PIECE: 24,
  CUBES: 25,
  /** Squares are (w·ROOT)²·REST; ROOT is 0 where nothing is learned. In cubes with counts of their own times AVERAGE/count. */
  ROOT: 26,
  REST: 27,
  AVERAGE: 28,
  /** The number of the first group of this dispatch in the list of groups. */
  FIRST_GROUP: 29,
  /** Which results to learn from, a bit each. */
  LEADS: 30,
  /** Whether variances and means of pieces are wanted. */
  CUBES_WANTED: 31,
  AXES: 32,
} as const;
/** Words of an axis: its strata, and the ends of its range inside. */
export const AXIS = { STRATA: 0, LOW: 1, HIGH: 2, WORDS: 3 } as const;
/** Behind the axes, for each result: the power of two that f·Jacobian is multiplied with, beside the powers of the Jacobian. */
export const powersAt = (dims: number): number => TASK.AXES + AXIS.WORDS * dims;
export const TASK_VECTORS = 128;

/** What makes texts of the kernel differ. There are few, since a driver takes up to seconds for each. */
export interface SampleVariant {
  dims: number;
  results: number;
  /** Whether it can make a histogram. */
  adapt: boolean;
  /** Counters of the histogram in workgroup memory. */
  shared: number;
  /** Whether strata·bins needs more than 32 bits on some axis. */
  wide: boolean;
  /** Points of lattices through a smooth map, in the place of random ones; without a histogram. */
  lattice: boolean;
}

/** Threads whose sums the second kernel adds. */
export const FOLD = 16;

/** What a thread writes: sums of 4 words each; covariances, concentrations and squares; what was not finite, and what was too large. */
export interface RecordLayout {
  floats: number;
  /** Places of these. */
  wrong: number;
  firstWrong: number;
  overflows: number;
  words: number;
}

export function recordOf(results: number): RecordLayout {
  const floats = (results * (results + 1)) / 2 + results + 1;
  const wrong = 4 * results + floats;
  return { floats, wrong, firstWrong: wrong + 1, overflows: wrong + 2, words: wrong + 3 };
}

export function sampleKernel(integrand: string, variant: SampleVariant): string {
  const { dims, results, adapt, shared, wide, lattice } = variant;
  const pairs = (results * (results + 1)) / 2;
  const { floats, words, ...record } = recordOf(results);
  const evaluate = results > 1 ? 'integrand(&x, &w);' : 'w[0] = integrand(&x);';
  return /* wgsl */ `
@group(0) @binding(0) var<storage, read> params: array<f32>;
@group(0) @binding(1) var<uniform> words: array<vec4<u32>, ${TASK_VECTORS}>;
/**
 * Of each bin: its low edge, what float32 leaves of that, its width, the factor of the Jacobian. Of a smooth map (tasks/smooth-map.ts):
 * e, what float32 leaves of that, m, b; then a, and the factor of the Jacobian.
 */
@group(0) @binding(2) var<storage, read> edges: array<vec4<f32>>;
/** Of each group: cube, offset in it, sample (two words); then piece and number of pieces. */
@group(0) @binding(3) var<storage, read> groups: array<vec4<u32>>;
/** Pieces and samples before each cube. */
@group(0) @binding(4) var<storage, read> before: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> records: array<u32>;
${adapt ? '@group(0) @binding(7) var<storage, read_write> histogram: array<atomic<u32>>;' : ''}
${lattice ? '/** Whether words are folded; steps; words of shifts (random/lattice.ts). */\n@group(0) @binding(7) var<storage, read> lattice: array<u32>;' : ''}
/** Variance and mean of each piece, where cubes are wanted. */
@group(0) @binding(6) var<storage, read_write> ofPieces: array<vec2<f32>>;

${integrand}

${Object.entries({
  ...TASK,
  DIMS: dims,
  RESULTS: results,
  POWERS: powersAt(dims),
  PAIRS: pairs,
  FLOATS: floats,
})
  .map(([name, value]) => `const ${name} = ${value}u;`)
  .join('\n')}

fn taskWord(i: u32) -> u32 { return words[i >> 2u][i & 3u]; }
fn taskNumber(i: u32) -> f32 { return bitcast<f32>(taskWord(i)); }
${PHILOX}
${SUMS}
${FINITE}
${shared > 0 ? `var<workgroup> counters: array<atomic<u32>, ${shared}>;` : ''}

/** The first sample of piece j of a cube with n samples: the last piece but one lends two where a single one would be left. */
fn startOf(j: u32, n: u32) -> u32 {
  let start = ${PIECE}u * j;
  return select(min(start, n), start - 2u, j > 0u && n == start + 1u);
}

fn piecesOf(n: u32) -> u32 { return (n + ${PIECE - 1}u) / ${PIECE}u; }

fn countOf(cube: u32) -> u32 {
  var count = taskWord(COUNT);
  if (count == 0u) { count = before[cube + 1u].y - before[cube].y; }
  return count;
}

/** The last cube that begins with this piece or before. */
fn cubeOf(piece: u32) -> u32 {
  let count = taskWord(COUNT);
  var low = 0u;
  var high = taskWord(CUBES);
  if (count > 0u) {
    low = piece / piecesOf(count);
    high = low;
  }
  while (high > low + 1u) {
    let middle = low + (high - low) / 2u;
    if (before[middle].x <= piece) { low = middle; } else { high = middle; }
  }
  return low;
}
${wide ? QUOTIENT : ''}
/** 2^power, as a product of two factors that are float32. */
fn scaled(value: f32, power: i32) -> f32 {
  let half = clamp(power / 2, -126, 127);
  let rest = clamp(power - half, -126, 127);
  return value * bitcast<f32>(u32(half + 127) << 23u) * bitcast<f32>(u32(rest + 127) << 23u);
}
${adapt ? histogramText(shared) : ''}
@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let number = taskWord(FIRST_GROUP) + workgroup.x;
  let at = groups[2u * number];
  let pieces = groups[2u * number + 1u];
  let leads = taskWord(LEADS);
  let each = (pieces.y + ${THREADS - 1}u) / ${THREADS}u;
  let begin = lane * each;
  let end = min(pieces.y, begin + each);
  ${
    shared > 0
      ? `for (var i = lane; i < ${shared}u; i += ${THREADS}u) { atomicStore(&counters[i], 0u); }
  workgroupBarrier();`
      : ''
  }

  var total: array<vec4<u32>, RESULTS>;
  // covariances, concentrations, squares
  var spread: array<f32, FLOATS>;
  var wrong = 0u;
  var firstWrong = 0xffffffffu;
  var cube = 0u;
  var j = 0u;
  var full = 0u;
  var ofCube = 0xffffffffu;
  // of each axis: the bin of the lower end of the stratum, and what is left, in parts of the strata
  var bin: array<u32, DIMS>;
  var rest: array<u32, DIMS>;
  if (begin < end) {
    cube = cubeOf(pieces.x + begin);
    full = countOf(cube);
    let count = taskWord(COUNT);
    if (count > 0u) { j = (pieces.x + begin) % piecesOf(count); } else { j = pieces.x + begin - before[cube].x; }
  }
  for (var piece = begin; piece < end; piece++) {
    // with explicit zeros: SwiftShader keeps the numbers of the piece before where a \`var\` has none
    var pivot = array<f32, RESULTS>();
    var sum = array<f32, RESULTS>();
    var product = array<f32, PAIRS>();
    let start = startOf(j, full);
    let m = startOf(j + 1u, full) - start;
    // the number of its first sample among those of the group
    var own = start;
    if (taskWord(COUNT) > 0u) { own += (cube - at.x) * full - at.y; } else { own += before[cube].y - at.z; }
    if (cube != ofCube) {
      ofCube = cube;
      var left = cube;
      for (var d = 0u; d < DIMS; d++) {
        let strata = taskWord(AXES + ${AXIS.WORDS}u * d);
        let stratum = left % strata;
        left /= strata;
        ${
          wide
            ? `let parts = quotient(highProduct(stratum, taskWord(BINS)), stratum * taskWord(BINS), strata);
        bin[d] = parts.x;
        rest[d] = parts.y;`
            : `let parts = stratum * taskWord(BINS);
        bin[d] = parts / strata;
        rest[d] = parts % strata;`
        }
      }
    }
    for (var i = 0u; i < m; i++) {
      let sampleLow = at.z + own + i;
      let sampleHigh = at.w + u32(sampleLow < at.z);
      var x: array<f32, DIMS>;
      var w: array<f32, RESULTS>;
      ${adapt ? 'var inBin: array<u32, DIMS>;' : ''}
      var jacobian = 1.0;
      var power = 0;
      var random: vec4<u32>;
      for (var d = 0u; d < DIMS; d++) {
        let bins = taskWord(BINS);
        let low = taskNumber(AXES + ${AXIS.WORDS}u * d + ${AXIS.LOW}u);
        let high = taskNumber(AXES + ${AXIS.WORDS}u * d + ${AXIS.HIGH}u);
        ${lattice ? LATTICE_PLACE : RANDOM_PLACE}
        let bits = bitcast<u32>(jacobian);
        power += i32(bits >> 23u) - 127;
        jacobian = bitcast<f32>((bits & 0x7fffffu) | 0x3f800000u);
        ${adapt ? 'inBin[d] = d * bins + b;' : ''}
      }
      ${evaluate}
      for (var r = 0u; r < RESULTS; r++) {
        var weight = w[r];
        if (isFinite(weight)) { weight = jacobian * scaled(weight, power + bitcast<i32>(taskWord(POWERS + r))); }
        if (!isFinite(weight)) {
          weight = 0.0;
          wrong++;
          firstWrong = min(firstWrong, own + i);
        }
        w[r] = weight;
      }
      if (i == 0u) {
        for (var r = 0u; r < RESULTS; r++) { pivot[r] = w[r]; }
      } else {
        var pair = 0u;
        for (var r = 0u; r < RESULTS; r++) {
          let off = w[r] - pivot[r];
          sum[r] += off;
          for (var s = 0u; s <= r; s++) {
            product[pair] += off * (w[s] - pivot[s]);
            pair++;
          }
        }
      }
      ${
        adapt
          ? `let root = taskNumber(ROOT);
      if (root > 0.0) {
        var square = 0.0;
        for (var r = 0u; r < RESULTS; r++) {
          if (((leads >> r) & 1u) == 1u) { square += (w[r] * root) * (w[r] * root) * taskNumber(REST); }
        }
        if (taskWord(COUNT) == 0u) { square *= taskNumber(AVERAGE) / f32(full); }
        spread[FLOATS - 1u] += square;
        let counted = rounded(square);
        for (var d = 0u; d < DIMS; d++) { count(inBin[d], counted); }
      }`
          : ''
      }
    }
    let samples = f32(m);
    // where all cubes have as many samples, the host divides by that number
    var share = 1.0;
    if (taskWord(COUNT) == 0u) { share = 1.0 / f32(full); }
    var variance = 0.0;
    var mean = 0.0;
    var pair = 0u;
    for (var r = 0u; r < RESULTS; r++) {
      if (taskWord(COUNT) > 0u) {
        total[r] = add128(total[r], add128(fixed128(pivot[r], m), fixed128(sum[r], 1u)));
      } else {
        total[r] = add128(total[r], add128(fixed128(pivot[r] * (samples * share), 1u), fixed128(sum[r] * share, 1u)));
      }
      for (var s = 0u; s <= r; s++) {
        var squares = product[pair] - sum[r] * (sum[s] / samples);
        if (s == r) { squares = max(0.0, squares); }
        let error = squares / (samples - 1.0) * samples * (share * share);
        spread[pair] += error;
        if (s == r) {
          spread[PAIRS + r] += error * error;
          if (((leads >> r) & 1u) == 1u) {
            let average = pivot[r] + sum[r] / samples;
            variance += squares / (samples - 1.0);
            mean += ${results > 1 ? 'average * average' : 'average'};
          }
        }
        pair++;
      }
    }
    if (taskWord(CUBES_WANTED) == 1u) {
      ${results > 1 ? 'mean = sqrt(mean);' : ''}
      ofPieces[pieces.x + piece - taskWord(FIRST_PIECE)] = (samples / f32(full)) * vec2<f32>(variance, mean);
    }
    j++;
    if (j == piecesOf(full) && piece + 1u < end) {
      j = 0u;
      cube++;
      full = countOf(cube);
    }
  }
  let out = (workgroup.x * ${THREADS}u + lane) * ${words}u;
  for (var r = 0u; r < RESULTS; r++) {
    for (var q = 0u; q < 4u; q++) { records[out + 4u * r + q] = total[r][q]; }
  }
  for (var k = 0u; k < FLOATS; k++) { records[out + 4u * RESULTS + k] = bitcast<u32>(spread[k]); }
  records[out + ${record.wrong}u] = wrong;
  records[out + ${record.firstWrong}u] = firstWrong;
  records[out + ${record.overflows}u] = u32(tooLarge);
  ${
    shared > 0
      ? `workgroupBarrier();
  for (var i = lane; i < ${shared}u; i += ${THREADS}u) {
    let counted = atomicLoad(&counters[i]);
    if (counted > 0u && atomicAdd(&histogram[2u * i], counted) + counted < counted) { atomicAdd(&histogram[2u * i + 1u], 1u); }
  }`
      : ''
  }
}
`;
}

/** A coordinate and its factor of the Jacobian, from a random word in a stratum. */
const RANDOM_PLACE = /* wgsl */ `if ((d & 3u) == 0u) {
          random = philox(vec4<u32>(sampleLow, (d >> 2u) + 256u * sampleHigh, taskWord(ITERATION), taskWord(STREAM)));
        }
        let word = random[d & 3u];
        let strata = taskWord(AXES + ${AXIS.WORDS}u * d);
        // (rest + word·bins/2^32)/strata bins above
        let parts = rest[d] + highProduct(word, bins);
        let above = parts / strata;
        let b = min(bin[d] + above, bins - 1u);
        let fraction = (f32(parts - above * strata) + f32(word * bins) * 0x1p-32) / f32(strata);
        let edge = edges[d * bins + b];
        x[d] = clamp(edge.x + (edge.y + fraction * edge.z), low, high);
        jacobian *= edge.w;`;

/** The same from a word of a lattice, through a smooth map. */
const LATTICE_PLACE = /* wgsl */ `var word = lattice[1u + DIMS * (cube + 1u) + d] + sampleLow * lattice[1u + d];
        if (lattice[0] == 1u) { word = (word << 1u) ^ u32(bitcast<i32>(word) >> 31u); }
        let s = f32(word * bins) * 0x1p-32;
        let curve = 2u * (d * bins + highProduct(word, bins));
        let first = edges[curve];
        let second = edges[curve + 1u];
        let bent = first.w + s * second.x;
        x[d] = clamp(first.x + (first.y + s * (first.z + s * bent)), low, high);
        jacobian *= second.y * (first.z + s * (bent + bent + s * second.x));`;

/** Quotient and remainder of a number of two words, by one: for axes with so many strata that strata·bins exceeds 32 bits. */
const QUOTIENT = /* wgsl */ `
fn quotient(high: u32, low: u32, by: u32) -> vec2<u32> {
  var rest = 0u;
  var result = 0u;
  for (var i = 63; i >= 0; i--) {
    let digit = select(low >> u32(i), high >> u32(i - 32), i >= 32) & 1u;
    let above = rest >> 31u;
    rest = (rest << 1u) | digit;
    result = result << 1u;
    if (above == 1u || rest >= by) {
      rest -= by;
      result |= 1u;
    }
  }
  return vec2<u32>(result, rest);
}
`;

/** A square as an integer of two words, and how a counter is raised by it. */
const histogramText = (shared: number) => /* wgsl */ `
fn rounded(value: f32) -> vec2<u32> {
  let bits = bitcast<u32>(clamp(value, 0x1p23, 0x1p54));
  let up = (bits >> 23u) - 150u;
  let digits = (bits & 0x7fffffu) | 0x800000u;
  let low = select(digits << (up & 31u), 0u, up >= 32u);
  let high = select(select(digits >> (32u - up), 0u, up == 0u), digits << (up & 31u), up >= 32u);
  return select(vec2<u32>(low, high), vec2<u32>(u32(value + 0.5), 0u), value < 0x1p23);
}

fn count(counter: u32, value: vec2<u32>) {
  var above = value.y;
  ${
    shared > 0
      ? `if (counter < ${shared}u) {
    let old = atomicAdd(&counters[counter], value.x);
    above += u32(old + value.x < old);
  } else {
    let old = atomicAdd(&histogram[2u * counter], value.x);
    above += u32(old + value.x < old);
  }`
      : `let old = atomicAdd(&histogram[2u * counter], value.x);
  above += u32(old + value.x < old);`
  }
  if (above > 0u) { atomicAdd(&histogram[2u * counter + 1u], above); }
}
`;

/** The kernel that adds the records of FOLD threads: those of a group become THREADS/FOLD of them. */
export function foldKernel(results: number): string {
  const { floats, wrong, firstWrong, overflows, words } = recordOf(results);
  return /* wgsl */ `
/** The records of this dispatch, and where its first one goes. */
@group(0) @binding(0) var<uniform> size: vec4<u32>;
@group(0) @binding(1) var<storage, read> records: array<u32>;
@group(0) @binding(2) var<storage, read_write> found: array<u32>;
${SUMS}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
  if (thread.x >= size.x) { return; }
  let first = thread.x * ${FOLD * words}u;
  let out = (size.y + thread.x) * ${words}u;
  for (var r = 0u; r < ${results}u; r++) {
    var sum = vec4<u32>();
    for (var i = 0u; i < ${FOLD}u; i++) {
      let at = first + i * ${words}u + 4u * r;
      sum = add128(sum, vec4<u32>(records[at], records[at + 1u], records[at + 2u], records[at + 3u]));
    }
    for (var q = 0u; q < 4u; q++) { found[out + 4u * r + q] = sum[q]; }
  }
  for (var k = ${4 * results}u; k < ${4 * results + floats}u; k++) {
    var sum = 0.0;
    for (var i = 0u; i < ${FOLD}u; i++) { sum += bitcast<f32>(records[first + i * ${words}u + k]); }
    found[out + k] = bitcast<u32>(sum);
  }
  var wrong = 0u;
  var firstWrong = 0xffffffffu;
  var overflows = 0u;
  for (var i = 0u; i < ${FOLD}u; i++) {
    let at = first + i * ${words}u;
    wrong += records[at + ${wrong}u];
    firstWrong = min(firstWrong, records[at + ${firstWrong}u]);
    overflows += records[at + ${overflows}u];
  }
  found[out + ${wrong}u] = wrong;
  found[out + ${firstWrong}u] = firstWrong;
  found[out + ${overflows}u] = overflows;
}
`;
}
