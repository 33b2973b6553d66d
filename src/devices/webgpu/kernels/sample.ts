/**
 * The kernel of samples. A thread has a window of samples: all pieces (tasks/pieces.ts) whose first sample lies in the window; in small tasks
 * it has a slice of a piece (slices.ts). A group of the task is a power of two of windows; how wide they are depends on the task alone, so bits
 * do not depend on how groups are spread over dispatches. Each thread writes its sums, and fold.ts adds those of a group.
 *
 * A thread takes one sample after another and ends a piece on the way, instead of looping over pieces and over samples in them: cubes
 * of VEGAS+ have different numbers of samples, and the threads of a GPU that run in step would wait for the largest piece each time.
 *
 * Threads share nothing but counters of the histogram: barriers make SwiftShader several times as slow, and drivers compile longer.
 *
 * A coordinate comes from integers: word, stratum and bins give the number of the bin and what is left, and only then there is a
 * float32, the fraction of the bin. Weights w = f·Jacobian/unit of a piece are summed as differences from its first one, the
 * pivot: sums of them and of their products lose no digits to each other where w varies little (piece-sums.ts).
 *
 * The Jacobian is a product of as many factors as there are axes, of which each may be 1e-6: mantissas are multiplied, and exponents added.
 *
 * Squares for the histogram are integers of 64 bits. In large tasks their lower words are in workgroup memory, as many as fit, and
 * carries, which are rare, go to the buffer at once; in small ones all of them go to the buffer.
 */
import { GOLDEN, PER_ITERATION } from '../../../tasks/counted.ts';
import { recordOf } from './fold.ts';
import { FINITE, HIGH_PRODUCT, SUMS } from './numbers.ts';
import { addPiece, SUMS_OF_WINDOW, writeWindow } from './piece-sums.ts';
import { drawing, LOWER_END, latticePlace, randomPlace } from './sample-places.ts';
import { AXIS, powersAt, TASK, TASK_VECTORS } from './sample-words.ts';
import { FIND_SLICE, FIRST_SLICE, writeSlice } from './slices.ts';
import { nextPiece, openWindow, WINDOWS } from './windows.ts';

/** Threads of a workgroup that every GPU allows; for those that allow more see `SampleVariant`. */
export const THREADS = 256;
export const MANY_THREADS = 512;

/** What makes texts of the kernel differ. There are few, since a driver takes up to seconds for each. */
export interface SampleVariant {
  dims: number;
  results: number;
  /** Whether it can make a histogram. */
  adapt: boolean;
  /** Counters of the histogram in workgroup memory. */
  shared: number;
  /**
   * Threads of a workgroup, which share these counters. With 512 there are half as many counters per thread, and what a GPU has of one memory for
   * them and for the first cache is left for the map: on an H200, in 10 dimensions with 1024 bins, 20.1 ms instead of 25.1 with 256 threads for
   * 4e8 samples, and 26.0 with 1024 threads (_trial_).
   */
  threads: number;
  /** Whether an axis has so many strata or bins that places take integer divisions: see `isWide`. */
  wide: boolean;
  /** Points of lattices through a smooth map, in the place of random ones; without a histogram. */
  lattice: boolean;
  /** Whether what is done for each axis is written out: see `forAxes`. */
  writtenOut: boolean;
  /** Whether slices of pieces are written, for the kernel of slices.ts, instead of sums of windows. */
  sliced: boolean;
}

/** Axes that are written out, at most. */
export const MOST_WRITTEN_OUT = 12;

/**
 * What is done for each axis: a loop, or for large tasks of few axes its turns one after the other. Arrays that are indexed by the
 * variable of a loop are in memory unless a driver unrolls the loop; with numbers for indices they are in registers. That is only for
 * short texts, and not the loop of Philox: a driver took 26 s for a kernel that was unrolled throughout.
 */
function forAxes({ dims, writtenOut }: SampleVariant, turn: (d: string, number?: number) => string): string {
  if (!writtenOut) return `for (var d = 0u; d < DIMS; d++) {\n${turn('d')}\n}`;
  return Array.from({ length: dims }, (_, d) => `{\n${turn(`${d}u`, d)}\n}`).join('\n');
}

/** A product of many mantissas between 1 and 2 is brought near 1 on the way. */
const MANY_AXES = `if ((d & 63u) == 63u) {
          power += i32(bitcast<u32>(jacobian) >> 23u) - 127;
          jacobian = bitcast<f32>((bitcast<u32>(jacobian) & 0x7fffffu) | 0x3f800000u);
        }`;

/** The lower end of a stratum. */
const lowerEndOf = (d: string) => `let parts = lowerEnd(stratum[${d}], bins, strata);
    bin[${d}] = parts.x;
    rest[${d}] = parts.y;`;

/** Whether coordinates take integer divisions of up to 64 bits instead of float32 products: see `randomPlace`. */
export const isWide = (strata: readonly number[], bins: number): boolean =>
  bins >= 2 ** 16 || strata.some(n => n * bins >= 2 ** 21);

export function sampleKernel(integrand: string, variant: SampleVariant): string {
  const { dims, results, adapt, shared, threads, wide, lattice, writtenOut, sliced } = variant;
  const pairs = (results * (results + 1)) / 2;
  const { floats } = recordOf(results);
  const evaluate = results > 1 ? 'integrand(&x, &w);' : 'w[0] = integrand(&x);';
  return /* wgsl */ `
@group(0) @binding(0) var<storage, read> params: array<f32>;
@group(0) @binding(1) var<uniform> words: array<vec4<u32>, ${TASK_VECTORS}>;
/**
 * Of each bin: its low edge, and the factor of the Jacobian. Threads read bins that lie anywhere, so what it costs is the number of lines of
 * the cache. Of a smooth map (tasks/smooth-map.ts): e, what float32 leaves of that, m, b; then a, and the factor of the Jacobian.
 */
@group(0) @binding(2) var<storage, read> edges: array<${lattice ? 'vec4' : 'vec2'}<f32>>;
/** Of each group, and of the end of the last: the cube of its first sample, samples of the cube before it; its number (two words). */
@group(0) @binding(3) var<storage, read> groups: array<vec4<u32>>;
/** Pieces and samples before each cube. */
@group(0) @binding(4) var<storage, read> before: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> records: array<u32>;
${adapt ? '@group(0) @binding(7) var<storage, read_write> histogram: array<atomic<u32>>;' : ''}
${lattice ? '/** Whether words are folded; steps; words of shifts (random/lattice.ts). */\n@group(0) @binding(7) var<storage, read> lattice: array<u32>;' : ''}
${sliced ? '' : '/** Variance and mean of each piece, where cubes are wanted. */\n@group(0) @binding(6) var<storage, read_write> ofPieces: array<vec2<f32>>;'}

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

${WINDOWS}
${sliced ? FIRST_SLICE : ''}
fn taskNumber(i: u32) -> f32 { return bitcast<f32>(taskWord(i)); }
fn axisWords(d: u32, half: u32) -> vec4<u32> { return words[AXES / 4u + ${AXIS.WORDS / 4}u * d + half]; }
${lattice ? HIGH_PRODUCT : `${wide ? HIGH_PRODUCT : ''}${drawing(writtenOut)}`}
${sliced ? '' : SUMS}
${FINITE}
${shared > 0 ? `const COUNTERS = ${shared}u;\nvar<workgroup> counters: array<atomic<u32>, COUNTERS>;` : ''}

${wide && !lattice ? LOWER_END : ''}
/** 2^power, as a product of two factors that are float32. */
fn scaled(value: f32, power: i32) -> f32 {
  let half = clamp(power / 2, -126, 127);
  let rest = clamp(power - half, -126, 127);
  return value * bitcast<f32>(u32(half + 127) << 23u) * bitcast<f32>(u32(rest + 127) << 23u);
}
${adapt ? histogramText(shared) : ''}
@compute @workgroup_size(${threads})
fn main(@builtin(global_invocation_id) thread: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  ${
    shared > 0
      ? `for (var i = lane; i < ${shared}u; i += ${threads}u) { atomicStore(&counters[i], 0u); }
  workgroupBarrier();`
      : ''
  }
  let leads = taskWord(LEADS);
  ${lattice ? '' : `let iterated = product1(taskWord(ITERATION)${sliced ? ' + thread.y' : ''});`}
  let bins = taskWord(BINS);
  ${sliced ? FIND_SLICE : openWindow('thread.x')}
  ${
    sliced
      ? `var squares = 0.0;
  var wrong = 0u;
  var firstWrong = 0xffffffffu;`
      : SUMS_OF_WINDOW
  }
  ${
    lattice
      ? ''
      : `var stratum: array<u32, DIMS>;
  ${wide ? '// the bin of the lower end of each stratum, and what is left, in parts of the strata\n  var bin: array<u32, DIMS>;\n  var rest: array<u32, DIMS>;' : ''}
  var left = cube;
  ${forAxes(
    variant,
    d => `    let strata = axisWords(${d}, 0u).x;
    stratum[${d}] = left % strata;
    left /= strata;
    ${wide ? lowerEndOf(d) : ''}`,
  )}`
  }
  // with explicit zeros: SwiftShader keeps the numbers of the turn before where a \`var\` has none
  var pivot = array<f32, RESULTS>();
  var sum = array<f32, RESULTS>();
  var product = array<f32, PAIRS>();
  var i = 0u;
  ${
    adapt
      ? `let root = taskNumber(ROOT);
  var inHistogram = ${sliced ? 'isCounted(start)' : 'true'};
  var restOfCube = ${sliced ? REST_OF_CUBE : '0.0'};`
      : ''
  }
  ${
    sliced
      ? 'while (i < m) {'
      : `var m = 0u;
  var own = 0u;
  while (working) {
    if (i == 0u) {
      let start = startOf(j, full);
      m = startOf(j + 1u, full) - start;
      own = begin + start;
      ${adapt ? `inHistogram = root > 0.0 && isCounted(group.z + own);\n      restOfCube = ${REST_OF_CUBE};` : ''}
    }`
  }
      let sampleLow = group.z + own + i;
      let sampleHigh = group.w + u32(sampleLow < group.z);
      var x: array<f32, DIMS>;
      var w: array<f32, RESULTS>;
      ${adapt ? 'var inBin: array<u32, DIMS>;' : ''}
      var jacobian = 1.0;
      var power = -127 * i32(DIMS);
      ${lattice ? '' : 'let own4 = firstRounds(sampleLow);\n      var random: vec4<u32>;'}
      ${forAxes(
        variant,
        (d, number) => `        let axis = axisWords(${d}, 0u);
        ${lattice ? latticePlace(d) : randomPlace(wide, d, number)}
        power += i32(bits >> 23u);
        jacobian *= bitcast<f32>((bits & 0x7fffffu) | 0x3f800000u);
        ${number === undefined ? MANY_AXES : ''}
        ${adapt ? `inBin[${d}] = ${d} * bins + b;` : ''}`,
      )}
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
        for (var r = 0u; r < RESULTS; r++) {
          pivot[r] = w[r];
          sum[r] = 0.0;
        }
        for (var k = 0u; k < PAIRS; k++) { product[k] = 0.0; }
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
          ? `if (${sliced ? 'root > 0.0' : 'inHistogram'}) {
        var square = 0.0;
        for (var r = 0u; r < RESULTS; r++) {
          if (((leads >> r) & 1u) == 1u) { square += (w[r] * root) * (w[r] * root); }
        }
        square *= restOfCube;
        ${sliced ? 'squares += square;\n        if (inHistogram) {' : '{'}
          let counted = rounded(square);
          ${countText(variant)}
        }
      }`
          : ''
      }
    i++;
    ${sliced ? '' : endOfPiece(variant)}
  }
  ${sliced ? `if (m > 0u) {\n${writeSlice(results)}\n  }` : writeWindow('thread.x', results)}
  ${
    shared > 0
      ? `workgroupBarrier();
  for (var i = lane; i < ${shared}u; i += ${threads}u) {
    let counted = atomicLoad(&counters[i]);
    if (counted > 0u && atomicAdd(&histogram[2u * i], counted) + counted < counted) { atomicAdd(&histogram[2u * i + 1u], 1u); }
  }`
      : ''
  }
}
`;
}

/** What squares of a cube's samples are multiplied with, beside ROOT². */
const REST_OF_CUBE = 'taskNumber(REST) * select(1.0, average / f32(full), perCube == 0u)';

/** Σ w² of a piece from its sums: for samples that the histogram leaves out, squares one by one would be for nothing else. */
const SQUARES_OF_PIECE = /* wgsl */ `for (var r = 0u; r < RESULTS; r++) {
      let first = pivot[r] * root;
      let aboutFirst = product[r * (r + 1u) / 2u + r] * root * root;
      let all = aboutFirst + first * (2.0 * sum[r] * root + f32(m) * first);
      if (((leads >> r) & 1u) == 1u) { spread[FLOATS - 1u] += max(0.0, all) * restOfCube; }
    }`;

/** Where a thread has taken all samples of a piece. */
const endOfPiece = (variant: SampleVariant): string => /* wgsl */ `if (i == m) {
    ${addPiece(variant.results)}
    ${variant.adapt ? SQUARES_OF_PIECE : ''}
    i = 0u;
    ${nextPiece(
      variant.lattice
        ? ''
        : `var next = true;
      ${forAxes(
        variant,
        d => `        if (next) {
          let strata = axisWords(${d}, 0u).x;
          stratum[${d}]++;
          next = stratum[${d}] == strata;
          if (next) { stratum[${d}] = 0u; }
          ${variant.wide ? lowerEndOf(d) : ''}
        }`,
      )}`,
    )}
    }`;

/** Whether the histogram counts a piece with this first sample; a square as an integer of two words, and how a counter is raised by it. */
const histogramText = (shared: number) => /* wgsl */ `
fn isCounted(sample: u32) -> bool {
  return (sample >> taskWord(BLOCK_BITS)) * ${GOLDEN}u + taskWord(ITERATION) * ${PER_ITERATION}u <= taskWord(LIMIT);
}

fn rounded(value: f32) -> vec2<u32> {
  let bits = bitcast<u32>(clamp(value, 0x1p23, 0x1p54));
  let up = (bits >> 23u) - 150u;
  let digits = (bits & 0x7fffffu) | 0x800000u;
  let low = select(digits << (up & 31u), 0u, up >= 32u);
  let high = select(select(digits >> (32u - up), 0u, up == 0u), digits << (up & 31u), up >= 32u);
  return select(vec2<u32>(low, high), vec2<u32>(u32(value + 0.5), 0u), value < 0x1p23);
}

/** Raises the lower word of a counter, and says whether it carries. */
fn raise(counter: u32, value: u32) -> u32 {
  var old: u32;
  ${
    shared > 0
      ? 'if (counter < COUNTERS) { old = atomicAdd(&counters[counter], value); } else { old = atomicAdd(&histogram[2u * counter], value); }'
      : 'old = atomicAdd(&histogram[2u * counter], value);'
  }
  return u32(old + value < old);
}
`;

/**
 * Raises the counters of a sample. Where axes are written out, all lower words come first, so that threads wait for them once; upper words
 * follow for the few samples that need them.
 */
function countText(variant: SampleVariant): string {
  if (!variant.writtenOut)
    return forAxes(
      variant,
      d => `let above = counted.y + raise(inBin[${d}], counted.x);
        if (above > 0u) { atomicAdd(&histogram[2u * inBin[${d}] + 1u], above); }`,
    );
  return `var carries = 0u;
        ${forAxes(variant, d => `carries |= raise(inBin[${d}], counted.x) << ${d};`)}
        if ((carries | counted.y) > 0u) {
          ${forAxes(variant, d => `atomicAdd(&histogram[2u * inBin[${d}] + 1u], counted.y + ((carries >> ${d}) & 1u));`)}
        }`;
}
