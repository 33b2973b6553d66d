/**
 * The kernel that draws witnesses, behind what all kernels of pool-witness.ts share: a workgroup per region, or per chunk of one with many,
 * adds the residuals of its witnesses.
 */
import { BLOCK, sequenceSteps } from '../../../tasks/witness.ts';
import { CHUNK, HEARD, HEARING, WITNESS_SUM_WORDS } from './witness-record.ts';

/** Threads of a workgroup. */
const LANES = 64;
/** Residuals in units of a region are cut here: their squares do not overflow. */
const LARGEST_RESIDUAL = '0x1p50';

export const drawing = (
  dims: number,
): string => /* wgsl */ `const STEPS = array<u32, ${dims}>(${Array.from(sequenceSteps(dims), s => `${s}u`).join(', ')});
var<workgroup> sides: array<vec4<f32>, DIMS>;
var<workgroup> lanes: array<vec4<f32>, ${LANES}>;
var<workgroup> surprises: atomic<u32>;
var<workgroup> wrongs: atomic<u32>;

@compute @workgroup_size(${LANES})
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let item = workgroup.x + 32768u * workgroup.y;
  let chunks = taskWord(${HEARING.CHUNKS}u);
  let k = min(item / chunks, taskWord(${HEARING.COUNT}u) - 1u);
  let slot = list[taskWord(${HEARING.FIRST}u) + k];
  for (var d = lane; d < DIMS; d += ${LANES}u) { sides[d] = sideOf(slot, d); }
  workgroupBarrier();
  let own = k * ${HEARD.WORDS}u;
  let centre = bitcast<f32>(heard[own + ${HEARD.CENTRE}u]);
  let factor = 1.0 / bitcast<f32>(heard[own + ${HEARD.UNIT}u]);
  let lowest = bitcast<f32>(heard[own + ${HEARD.LOWEST}u]);
  let highest = bitcast<f32>(heard[own + ${HEARD.HIGHEST}u]);
  let first = (item % chunks) * ${CHUNK}u;
  var end = heard[own + ${HEARD.WITNESSES}u];
  if (chunks > 1u) { end = min(end, first + ${CHUNK}u); }
  if (item >= chunks * taskWord(${HEARING.COUNT}u)) { end = 0u; }
  var sum = 0.0;
  var squares = 0.0;
  var farthest = 0.0;
  var axis = 0u;
  var surprised = 0u;
  var wrong = 0u;
  for (var i = first + lane; i < end; i += ${LANES}u) {
    var x: array<f32, ${dims}> = array<f32, ${dims}>();
    var place: array<f32, ${dims}> = array<f32, ${dims}>();
    var words = vec4<u32>();
    for (var d = 0u; d < DIMS; d++) {
      // a sequence of BLOCK witnesses starts at a random point
      if ((d & 3u) == 0u) {
        let counter = vec4<u32>(slot, (d >> 2u) + 256u * (i / ${BLOCK}u), taskWord(${HEARING.ROUND}u), taskWord(${HEARING.STREAM}u));
        words = randomWords(counter);
      }
      let word = words[d & 3u] + (i % ${BLOCK}u) * STEPS[d];
      place[d] = f32(bitcast<i32>(word ^ 0x80000000u)) * 0x1p-31 + 0x1p-32;
      x[d] = inside(sides[d].x + (sides[d].y + place[d] * sides[d].z), d);
    }
    var value = integrand(&x);
    if (!isFinite(value)) {
      value = 0.0;
      wrong++;
    }
    surprised |= u32(value < lowest || value > highest);
    var residual = value - centre;
    var mixed = k * COEFFICIENTS + 2u * NODES * DIMS;
    for (var d = 0u; d < DIMS; d++) {
      let p = place[d];
      residual -= along(k, d, p);
      for (var e = 0u; e < d; e++) {
        let q = place[e];
        residual -= p * q * (models[mixed] + models[mixed + 1u] * p + q * (models[mixed + 2u] + models[mixed + 3u] * p));
        mixed += 4u;
      }
    }
    residual = clamp(residual * factor, -${LARGEST_RESIDUAL}, ${LARGEST_RESIDUAL});
    sum += residual;
    squares += residual * residual;
    if (abs(residual) > farthest) {
      farthest = abs(residual);
      axis = 0u;
      for (var d = 1u; d < DIMS; d++) {
        if (abs(place[d]) > abs(place[axis])) { axis = d; }
      }
    }
  }
  lanes[lane] = vec4<f32>(sum, squares, farthest, f32(axis));
  if (surprised > 0u) { atomicOr(&surprises, 1u); }
  if (wrong > 0u) { atomicAdd(&wrongs, wrong); }
  workgroupBarrier();
  if (lane == 0u && item < chunks * taskWord(${HEARING.COUNT}u)) {
    var all = lanes[0];
    for (var l = 1u; l < ${LANES}u; l++) {
      let other = lanes[l];
      all.x += other.x;
      all.y += other.y;
      if (other.z > all.z) {
        all.z = other.z;
        all.w = other.w;
      }
    }
    let out = item * ${WITNESS_SUM_WORDS}u;
    witnessSums[out] = bitcast<u32>(all.x);
    witnessSums[out + 1u] = bitcast<u32>(all.y);
    witnessSums[out + 2u] = bitcast<u32>(all.z);
    witnessSums[out + 3u] = u32(all.w) | (atomicLoad(&surprises) << 8u);
    witnessSums[out + 4u] = atomicLoad(&wrongs);
  }
}
`;
