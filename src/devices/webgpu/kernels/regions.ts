/**
 * The kernel that applies a cubature rule (tasks/rules.ts) to regions, one per workgroup. All points of a rule have few different
 * coordinates, so a point is one byte per axis: the number of its coordinate in a list of these.
 *
 * Every thread evaluates the centre first, and adds differences from its value: weights of a rule have the sum 1 and those of null
 * rules 0, so nothing is lost, and where the integrand varies little in a region its sums have more digits than its values.
 */
import { FINITE } from './numbers.ts';

export const REGION_THREADS = 64;
/** Workgroups of a dispatch along its first axis: the default limit is 65,535, and lists are longer. */
export const REGION_ROW = 2 ** 15;
/** Numbers per region that the kernel writes beside the sums of rule and null rules. */
export const REGION_EXTRA = 4;
/** A bend below this part of the values that it is made of is rounding, in float32; 1e-14 stands for it in float64. */
export const BEND_NOISE = '0x1p-18';

export interface RegionVariant {
  dims: number;
  points: number;
  /** The null rules. */
  nulls: number;
  /** Where the points of the two orbits begin whose differences tell the axis to halve, and the squared ratio of their coordinates. */
  near: number;
  far: number;
  ratio: number;
  /** How many different coordinates points have. */
  coordinates: number;
}

/** Words per region that the kernel writes: sums, then the centre's value, the axis, what was not finite. */
export const regionWords = (nulls: number): number => 1 + nulls + REGION_EXTRA;

export function regionKernel(integrand: string, variant: RegionVariant): string {
  const { dims, points, nulls, near, far, ratio, coordinates } = variant;
  const sums = 1 + nulls;
  const bytes = Math.ceil(dims / 4);
  return /* wgsl */ `
@group(0) @binding(0) var<storage, read> params: array<f32>;
/** The first region of this dispatch, and the number of the one behind its last. */
@group(0) @binding(1) var<uniform> range: vec4<u32>;
/** Ends of the inside of each axis; then the coordinates of points, in half-widths; then the weights of each point. */
@group(0) @binding(2) var<storage, read> rule: array<f32>;
@group(0) @binding(3) var<storage, read> places: array<u32>;
/** Of each region and axis: centre, what float32 leaves of it, half-width, 2^-level or 0 where halves would have one centre. */
@group(0) @binding(4) var<storage, read> regions: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> found: array<u32>;

${integrand}
${FINITE}
const SUMS = ${sums}u;
const LANES = ${REGION_THREADS}u;
var<workgroup> lanes: array<array<f32, SUMS>, LANES>;
/** Differences from the centre at the points of the two orbits along axes. */
var<workgroup> near: array<f32, ${2 * dims}>;
var<workgroup> far: array<f32, ${2 * dims}>;
var<workgroup> wrong: atomic<u32>;
var<workgroup> firstWrong: atomic<u32>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let region = range.x + workgroup.x + ${REGION_ROW}u * workgroup.y;
  if (region >= range.y) { return; }
  if (lane == 0u) {
    atomicStore(&wrong, 0u);
    atomicStore(&firstWrong, 0xffffffffu);
  }
  workgroupBarrier();
  var sum: array<f32, SUMS>;
  var middle = 0.0;
  var point = 0u;
  while (point < ${points}u) {
    var x: array<f32, ${dims}>;
    for (var d = 0u; d < ${dims}u; d++) {
      let code = (places[point * ${bytes}u + (d >> 2u)] >> (8u * (d & 3u))) & 0xffu;
      let own = regions[region * ${dims}u + d];
      x[d] = clamp(own.x + (own.y + rule[${2 * dims}u + code] * own.z), rule[2u * d], rule[2u * d + 1u]);
    }
    var value = integrand(&x);
    if (!isFinite(value)) {
      value = 0.0;
      if (point > 0u || lane == 0u) {
        atomicAdd(&wrong, 1u);
        atomicMin(&firstWrong, point);
      }
    }
    if (point == 0u) {
      middle = value;
      point = select(lane, LANES, lane == 0u);
      continue;
    }
    let off = value - middle;
    for (var k = 0u; k < SUMS; k++) {
      sum[k] += rule[${2 * dims + coordinates}u + point * SUMS + k] * off;
    }
    if (point >= ${near}u && point < ${near + 2 * dims}u) { near[point - ${near}u] = off; }
    if (point >= ${far}u && point < ${far + 2 * dims}u) { far[point - ${far}u] = off; }
    point += LANES;
  }
  lanes[lane] = sum;
  workgroupBarrier();
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    if (lane < step) {
      for (var k = 0u; k < SUMS; k++) { lanes[lane][k] += lanes[lane + step][k]; }
    }
    workgroupBarrier();
  }
  if (lane > 0u) { return; }
  let out = region * ${sums + REGION_EXTRA}u;
  for (var k = 0u; k < SUMS; k++) { found[out + k] = bitcast<u32>(lanes[0][k]); }
  var axis = 0u;
  var most = -1.0;
  var widest = 0.0;
  for (var d = 0u; d < ${dims}u; d++) {
    let width = regions[region * ${dims}u + d].w;
    if (width == 0.0) { continue; }
    let inner = near[2u * d] + near[2u * d + 1u];
    let outer = far[2u * d] + far[2u * d + 1u];
    var bend = abs(${ratio} * inner - outer);
    let size = abs(inner + 2.0 * middle) + abs(outer + 2.0 * middle) + abs(middle);
    if (bend <= ${BEND_NOISE} * size) { bend = 0.0; }
    if (bend > most || (bend == most && width > widest)) {
      axis = d;
      most = bend;
      widest = width;
    }
  }
  found[out + SUMS] = bitcast<u32>(middle);
  found[out + SUMS + 1u] = axis;
  found[out + SUMS + 2u] = atomicLoad(&wrong);
  found[out + SUMS + 3u] = atomicLoad(&firstWrong);
}
`;
}
