/** What a thread of the kernel of samples writes, and the kernel that adds what several of them wrote. */
import { SUMS } from './numbers.ts';

/** Records that a thread adds, at most, as a power of two. */
export const MOST_FOLD_BITS = 5;

/** Words of a record: sums of 4 each; covariances, concentrations and squares; what was not finite, and what was too large. */
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

/** How many records are added in each turn until those of 2^bits threads are one. */
export function foldsFor(bits: number): number[] {
  const turns = Math.max(1, Math.ceil(bits / MOST_FOLD_BITS));
  return Array.from(
    { length: turns },
    (_, i) => 2 ** (Math.floor(((i + 1) * bits) / turns) - Math.floor((i * bits) / turns)),
  );
}

/** Threads of a workgroup. */
export const FOLD_THREADS = 64;

export function foldKernel(results: number): string {
  const { floats, wrong, firstWrong, overflows, words } = recordOf(results);
  return /* wgsl */ `
/** Sums to make, where the first of them goes, and records of each. */
@group(0) @binding(0) var<uniform> size: vec4<u32>;
@group(0) @binding(1) var<storage, read> records: array<u32>;
@group(0) @binding(2) var<storage, read_write> found: array<u32>;
${SUMS}
@compute @workgroup_size(${FOLD_THREADS})
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
  if (thread.x >= size.x) { return; }
  let first = thread.x * size.z * ${words}u;
  let out = (size.y + thread.x) * ${words}u;
  for (var r = 0u; r < ${results}u; r++) {
    var sum = vec4<u32>();
    for (var i = 0u; i < size.z; i++) {
      let at = first + i * ${words}u + 4u * r;
      sum = add128(sum, vec4<u32>(records[at], records[at + 1u], records[at + 2u], records[at + 3u]));
    }
    for (var q = 0u; q < 4u; q++) { found[out + 4u * r + q] = sum[q]; }
  }
  for (var k = ${4 * results}u; k < ${4 * results + floats}u; k++) {
    var sum = 0.0;
    for (var i = 0u; i < size.z; i++) { sum += bitcast<f32>(records[first + i * ${words}u + k]); }
    found[out + k] = bitcast<u32>(sum);
  }
  var wrong = 0u;
  var firstWrong = 0xffffffffu;
  var overflows = 0u;
  for (var i = 0u; i < size.z; i++) {
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
