/**
 * Witnesses for the regions of a pool: tasks/testimony.ts in float32, on the GPU. Regions that have witnesses are listed. Then
 *
 * - `knownPoints` evaluates the points of each region's model and one near each face, `fit` makes the model of them, and tells which
 *   faces it does not fit and where the two corners are to which it rises and falls most;
 * - `knownPoints` evaluates these corners, and more points at these faces; `range` concludes what a witness may be;
 * - `witnesses` draws them, a workgroup per region, and adds their residuals.
 *
 * The host reads sixteen words per region with witnesses, and its sums, and does the rest in float64.
 */

import type { Rule } from '../../../tasks/rules.ts';
import {
  BLOCK,
  CORNER,
  CORNER_GROWTH,
  DOUBT,
  LADDER,
  leastWitnesses,
  modelNodes,
  modelPairs,
  RUNGS,
  SURPRISE,
  sequenceSteps,
} from '../../../tasks/witness.ts';
import { FINITE, HIGH_PRODUCT, PHILOX_ALONE } from './numbers.ts';
import { type PoolKernel, WIDTH } from './pool.ts';
import { declare, FOUND, type PoolBuffer, RECORD } from './pool-record.ts';
import { AXIS, SIDE } from './pool-regions.ts';

/** Words of the hearing. */
export const HEARING = {
  KEY: 0,
  ROUND: 2,
  STREAM: 3,
  /** The regions of the list that are heard now. */
  FIRST: 4,
  COUNT: 5,
  /** Whether the points of the model or those after it are evaluated. */
  AFTER: 6,
  /** Witnesses by volume and for each region, as float32. */
  BY_VOLUME: 7,
  EACH: 8,
  /** The least unit of residuals. */
  LEAST_UNIT: 9,
  CHUNKS: 10,
  WORDS: 12,
} as const;

/** Words of each region that is heard. */
export const HEARD = {
  CENTRE: 0,
  MEAN: 1,
  UNIT: 2,
  HIDDEN: 3,
  /** What f may be without a surprise. */
  LOWEST: 4,
  HIGHEST: 5,
  /** The axis that hides most | surprised << 8. */
  HIDING: 6,
  RUNGS: 7,
  VALUE: 8,
  DEPTH: 9,
  /** Faces that the model does not fit, one bit each, in two words. */
  FACES: 10,
  /** Axes along which the model falls. */
  FALLS: 12,
  LEAST: 13,
  MOST: 14,
  WITNESSES: 15,
  WORDS: 16,
} as const;

/** Words of the sums of a chunk: Σ residuals, Σ squares, the largest |residual|, its axis | surprised << 8, values not finite. */
export const WITNESS_SUM_WORDS = 8;
/** Witnesses of a chunk, a whole number of sequences. Only few regions have several chunks. */
export const CHUNK = 16 * BLOCK;
const LANES = 64;
/** Differences below this part of the largest |f| are rounding errors: RESIDUAL_NOISE in float32. */
const NOISE = '0x1p-14';
/** A point nearer to a face than this part of the face's coordinate would be rounded. */
const NEAREST = '0x1p-22';
/** Residuals in units of a region are cut here: their squares do not overflow. */
const LARGEST_RESIDUAL = '0x1p50';

/** Numbers per region: points of the model and the faces; then rungs of the ladders, and two corners. Coefficients of a model. */
export function witnessSizes(dims: number) {
  const nodes = modelPairs(dims);
  const models = 1 + 2 * nodes * dims + 2 * dims * (dims - 1);
  const known = models + 2 * dims;
  const after = 2 * dims * (RUNGS - 1) + 2;
  return { nodes, models, known, after, coefficients: 2 * nodes * dims + 2 * dims * (dims - 1) };
}

const COMMON = /* wgsl */ `
fn taskWord(i: u32) -> u32 { return hearing[i >> 2u][i & 3u]; }
fn taskNumber(i: u32) -> f32 { return bitcast<f32>(taskWord(i)); }
/** Witnesses that a region should have on average. */
fn wantedOf(depth: u32) -> f32 {
  return taskNumber(${HEARING.BY_VOLUME}u) * power2(-i32(depth)) + taskNumber(${HEARING.EACH}u);
}
`;

const RANDOM = /* wgsl */ `${PHILOX_ALONE}
fn randomWords(counter: vec4<u32>) -> vec4<u32> {
  return philox(counter, vec2<u32>(taskWord(${HEARING.KEY}u), taskWord(${HEARING.KEY + 1}u)));
}
`;

/** Whether a region has witnesses: with fewer than LEAST it has LEAST by chance, or none. Group 255 belongs to no coordinate. */
export const isHeard = (dims: number): string => /* wgsl */ `${HIGH_PRODUCT}${COMMON}${RANDOM}
fn isListed(i: u32) -> bool {
  let chance = wantedOf(depthOf(state[i])) / ${leastWitnesses(dims).toFixed(1)};
  let word = randomWords(vec4<u32>(i, 255u, taskWord(${HEARING.ROUND}u), taskWord(${HEARING.STREAM}u))).x;
  return chance >= 1.0 || word < u32(chance * 0x1p32);
}
`;

export interface WitnessKernels {
  fit: PoolKernel;
  range: PoolKernel;
  /** Kernels with the integrand; its params have binding 0. */
  knownPoints: (integrand: string) => PoolKernel;
  witnesses: (integrand: string) => PoolKernel;
}

export function witnessKernels(rule: Rule): WitnessKernels {
  const { dims } = rule;
  const { nodes: a, meanWeights, pairNode } = modelNodes(rule);
  const { nodes, models, known, after, coefficients } = witnessSizes(dims);
  const list = (numbers: readonly number[]) =>
    `array<f32, ${numbers.length}>(${numbers.map(x => `${Math.fround(x)}f`).join(', ')})`;
  const text = /* wgsl */ `${RECORD(dims)}${COMMON}
const NODES = ${nodes}u;
const MODELS = ${models}u;
const KNOWN = ${known}u;
const AFTER = ${after}u;
const COEFFICIENTS = ${coefficients}u;
const RUNGS = ${RUNGS}u;
const NODE = ${list(a)};
const PAIR = ${Math.fround(pairNode)}f;
const CORNER = ${CORNER}f;
/** How far rung r of the ladder is from its face, in half-widths. */
fn rung(r: u32) -> f32 { return ${Math.fround(1 - a.at(-1)!)}f * power2(-${Math.log2(LADDER)} * i32(r)); }
`;
  /** Where the ladder at a face ends: nearer points would be rounded to the face. 0 where there is none. */
  const last = /* wgsl */ `${SIDE}
fn lastRung(side: vec4<f32>, sign: f32) -> u32 {
  var r = RUNGS;
  while (r > 0u && side.z * rung(r) <= ${NEAREST} * abs(side.x + sign * side.z)) { r--; }
  return r;
}
`;
  const model = /* wgsl */ `
/** What the model of region k along axis d has beyond the centre. */
fn along(k: u32, d: u32, t: f32) -> f32 {
  let odd = k * COEFFICIENTS + NODES * d;
  let even = odd + NODES * DIMS;
  var u = models[odd + NODES - 1u];
  var v = models[even + NODES - 1u];
  for (var j = 2u; j <= NODES; j++) {
    let above = t * t - NODE[NODES - j] * NODE[NODES - j];
    u = models[odd + NODES - j] + above * u;
    v = models[even + NODES - j] + above * v;
  }
  return t * (u + t * v);
}
`;
  const make = (buffers: readonly PoolBuffer[], own: string, integrand?: string): PoolKernel => ({
    buffers,
    integrand: integrand !== undefined,
    text: `${integrand === undefined ? '' : `@group(0) @binding(0) var<storage, read> params: array<f32>;\n${integrand}`}
${declare(buffers, integrand === undefined ? 0 : 1)}${text}${own}`,
  });
  const main = (body: string) => /* wgsl */ `
@compute @workgroup_size(${WIDTH})
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let item = (workgroup.x + 32768u * workgroup.y) * ${WIDTH}u + thread;
  ${body}
}
`;
  const fit = make(
    ['hearing', 'places', 'levels', 'state', 'list', 'rule', 'pointValues', 'models', 'heard'],
    `${last}${model}${main(/* wgsl */ `
  if (item < taskWord(${HEARING.COUNT}u)) {
    let k = item;
    let slot = list[taskWord(${HEARING.FIRST}u) + k];
    let own = state[slot];
    let f = k * (KNOWN + AFTER);
    let centre = pointValues[f];
    var least = centre;
    var most = centre;
    for (var p = 1u; p < MODELS; p++) {
      least = min(least, pointValues[f + p]);
      most = max(most, pointValues[f + p]);
    }
    var mean = centre;
    var weights = ${list(meanWeights)};
    let odd = k * COEFFICIENTS;
    let even = odd + NODES * DIMS;
    for (var d = 0u; d < DIMS; d++) {
      for (var j = 0u; j < NODES; j++) {
        let at = NODES * d + j;
        let up = pointValues[f + 1u + 2u * at];
        let down = pointValues[f + 2u + 2u * at];
        models[odd + at] = (up - down) / (2.0 * NODE[j]);
        models[even + at] = (0.5 * (up - centre) + 0.5 * (down - centre)) / (NODE[j] * NODE[j]);
        mean += weights[j] * models[even + at];
      }
      for (var n = 1u; n < NODES; n++) {
        for (var j = NODES - 1u; j >= n; j--) {
          let at = NODES * d + j;
          let width = NODE[j] * NODE[j] - NODE[j - n] * NODE[j - n];
          models[odd + at] = (models[odd + at] - models[odd + at - 1u]) / width;
          models[even + at] = (models[even + at] - models[even + at - 1u]) / width;
        }
      }
    }
    var number = f + 2u * NODES * DIMS + 1u;
    var mixed = even + NODES * DIMS;
    for (var d = 0u; d < DIMS; d++) {
      for (var e = 0u; e < d; e++) {
        let dp = along(k, d, PAIR);
        let dm = along(k, d, -PAIR);
        let ep = along(k, e, PAIR);
        let em = along(k, e, -PAIR);
        let pp = pointValues[number] - centre - dp - ep;
        let pm = pointValues[number + 1u] - centre - dp - em;
        let mp = pointValues[number + 2u] - centre - dm - ep;
        let mm = pointValues[number + 3u] - centre - dm - em;
        models[mixed] = (pp - pm - mp + mm) / (4.0 * PAIR * PAIR);
        models[mixed + 1u] = (pp - pm + mp - mm) / (4.0 * PAIR * PAIR * PAIR);
        models[mixed + 2u] = (pp + pm - mp - mm) / (4.0 * PAIR * PAIR * PAIR);
        models[mixed + 3u] = (pp + pm + mp + mm) / (4.0 * PAIR * PAIR * PAIR * PAIR);
        mean += models[mixed + 3u] / 9.0;
        mixed += 4u;
        number += 4u;
      }
    }
    // what the model may be off by at a face: a part of what its last points brought
    var faces = vec2<u32>();
    var falls = 0u;
    let noise = 8.0 * ${NOISE} * max(-least, most);
    for (var face = 0u; face < 2u * DIMS; face++) {
      let d = face >> 1u;
      let sign = select(1.0, -1.0, (face & 1u) == 1u);
      let r = lastRung(sideOf(slot, d), sign);
      let t = sign * (1.0 - rung(r));
      var reach = abs(t);
      for (var j = 0u; j + 1u < NODES; j++) { reach *= abs(t * t - NODE[j] * NODE[j]); }
      let doubt = ${DOUBT} * reach
        * (abs(models[odd + NODES * d + NODES - 1u]) + abs(t * models[even + NODES * d + NODES - 1u]));
      let beyond = abs(pointValues[f + MODELS + face] - centre - along(k, d, t));
      if (r > 0u && beyond > doubt + noise) { faces[face >> 5u] |= 1u << (face & 31u); }
      if (along(k, d, CORNER) < along(k, d, -CORNER)) { falls |= 1u << d; }
    }
    let out = k * ${HEARD.WORDS}u;
    let depth = depthOf(own);
    let wanted = wantedOf(depth);
    heard[out + ${HEARD.CENTRE}u] = bitcast<u32>(centre);
    heard[out + ${HEARD.MEAN}u] = bitcast<u32>(mean);
    heard[out + ${HEARD.VALUE}u] = own.x;
    heard[out + ${HEARD.DEPTH}u] = depth;
    heard[out + ${HEARD.FACES}u] = faces.x;
    heard[out + ${HEARD.FACES + 1}u] = faces.y;
    heard[out + ${HEARD.FALLS}u] = falls;
    heard[out + ${HEARD.LEAST}u] = bitcast<u32>(least);
    heard[out + ${HEARD.MOST}u] = bitcast<u32>(most);
    heard[out + ${HEARD.WITNESSES}u] = max(${leastWitnesses(dims)}u, u32(ceil(wanted)));
  }`)}`,
  );
  const range = make(
    ['hearing', 'places', 'levels', 'list', 'rule', 'pointValues', 'models', 'heard'],
    `${last}${model}${main(/* wgsl */ `
  if (item < taskWord(${HEARING.COUNT}u)) {
    let k = item;
    let slot = list[taskWord(${HEARING.FIRST}u) + k];
    let f = k * (KNOWN + AFTER);
    let out = k * ${HEARD.WORDS}u;
    let centre = pointValues[f];
    // what faces hide: at most what f has beyond the model on each rung, over the way to the next
    var hidden = 0.0;
    var worst = 0.0;
    var hiding = 0u;
    var rungs = 0u;
    for (var face = 0u; face < 2u * DIMS; face++) {
      if (((heard[out + ${HEARD.FACES}u + (face >> 5u)] >> (face & 31u)) & 1u) == 1u) {
        let d = face >> 1u;
        let sign = select(1.0, -1.0, (face & 1u) == 1u);
        let end = lastRung(sideOf(slot, d), sign);
        var own = abs(pointValues[f + MODELS + face] - centre - along(k, d, sign * (1.0 - rung(end)))) * rung(end - 1u);
        for (var r = 1u; r < end; r++) {
          let value = pointValues[f + KNOWN + face * (RUNGS - 1u) + r - 1u];
          own += abs(value - centre - along(k, d, sign * (1.0 - rung(r)))) * (rung(r - 1u) - rung(r));
        }
        if (own > worst) {
          worst = own;
          hiding = d;
        }
        hidden += 0.5 * own;
        rungs += end - 1u;
      }
    }
    var least = bitcast<f32>(heard[out + ${HEARD.LEAST}u]);
    var most = bitcast<f32>(heard[out + ${HEARD.MOST}u]);
    let reach = ${CORNER_GROWTH ** dims}f * (most - least) + ${NOISE} * max(-least, most);
    let below = least - reach;
    let above = most + reach;
    var surprised = false;
    for (var c = 0u; c < 2u; c++) {
      let value = pointValues[f + KNOWN + AFTER - 2u + c];
      if (value < below || value > above) {
        surprised = true;
      } else {
        least = min(least, value);
        most = max(most, value);
      }
    }
    let largest = max(-least, most);
    let beyond = ${SURPRISE} * (most - least) + ${NOISE} * largest;
    heard[out + ${HEARD.UNIT}u] = bitcast<u32>(max(largest, taskNumber(${HEARING.LEAST_UNIT}u)));
    heard[out + ${HEARD.HIDDEN}u] = bitcast<u32>(hidden);
    heard[out + ${HEARD.LOWEST}u] = bitcast<u32>(least - beyond);
    heard[out + ${HEARD.HIGHEST}u] = bitcast<u32>(most + beyond);
    heard[out + ${HEARD.HIDING}u] = hiding | (u32(surprised) << 8u);
    heard[out + ${HEARD.RUNGS}u] = rungs;
  }`)}`,
  );
  const inside = /* wgsl */ `${FINITE}
fn inside(x: f32, d: u32) -> f32 {
  return clamp(x, number(${AXIS.WORDS}u * d + ${AXIS.FIRST}u), number(${AXIS.WORDS}u * d + ${AXIS.LAST}u));
}
`;
  const knownPoints = (integrand: string) =>
    make(
      ['hearing', 'places', 'levels', 'list', 'rule', 'pointValues', 'heard', 'found'],
      `${last}${inside}${main(/* wgsl */ `
  let after = taskWord(${HEARING.AFTER}u) == 1u;
  let each = select(KNOWN, AFTER, after);
  let k = item / each;
  let p = item % each;
  if (k < taskWord(${HEARING.COUNT}u)) {
    let slot = list[taskWord(${HEARING.FIRST}u) + k];
    let out = k * ${HEARD.WORDS}u;
    // one or two coordinates differ from the centre, by parts of the half-widths; or all of them, at corners
    var one = DIMS;
    var two = DIMS;
    var s = 0.0;
    var t = 0.0;
    var corner = 0.0;
    var face = false;
    var needed = true;
    var r = 0u;
    if (after) {
      if (p >= AFTER - 2u) {
        corner = select(CORNER, -CORNER, p == AFTER - 1u);
      } else {
        let number = p / (RUNGS - 1u);
        one = number >> 1u;
        s = select(1.0, -1.0, (number & 1u) == 1u);
        r = 1u + p % (RUNGS - 1u);
        face = true;
        needed = ((heard[out + ${HEARD.FACES}u + (number >> 5u)] >> (number & 31u)) & 1u) == 1u
          && r < lastRung(sideOf(slot, one), s);
      }
    } else if (p >= MODELS) {
      one = (p - MODELS) >> 1u;
      s = select(1.0, -1.0, ((p - MODELS) & 1u) == 1u);
      r = lastRung(sideOf(slot, one), s);
      face = r > 0u;
      if (!face) { one = DIMS; }
    } else if (p > 2u * NODES * DIMS) {
      let pair = (p - 1u - 2u * NODES * DIMS) >> 2u;
      let number = (p - 1u - 2u * NODES * DIMS) & 3u;
      one = 1u;
      while (one * (one + 1u) / 2u <= pair) { one++; }
      two = pair - one * (one - 1u) / 2u;
      s = select(-PAIR, PAIR, number < 2u);
      t = select(-PAIR, PAIR, (number & 1u) == 0u);
    } else if (p > 0u) {
      one = (p - 1u) / (2u * NODES);
      s = NODE[((p - 1u) >> 1u) % NODES] * select(-1.0, 1.0, (p & 1u) == 1u);
    }
    var x: array<f32, ${dims}> = array<f32, ${dims}>();
    for (var d = 0u; d < DIMS; d++) {
      let side = sideOf(slot, d);
      var offset = 0.0;
      if (d == one) { offset = s; }
      if (d == two) { offset = t; }
      if (corner != 0.0) { offset = select(corner, -corner, ((heard[out + ${HEARD.FALLS}u] >> d) & 1u) == 1u); }
      var at = side.x + (side.y + offset * side.z);
      // from the face on: 1 − 10^-7 half-widths is no number
      if (face && d == one) { at = (side.x + s * side.z) + (side.y - s * rung(r) * side.z); }
      x[d] = inside(at, d);
    }
    var value = 0.0;
    if (needed) {
      value = integrand(&x);
      if (!isFinite(value)) {
        value = 0.0;
        atomicAdd(&found[${FOUND.WRONG}], 1u);
        atomicMax(&found[${FOUND.FIRST_WRONG}], ~(taskWord(${HEARING.FIRST}u) + k));
      }
    }
    pointValues[k * (KNOWN + AFTER) + select(p, KNOWN + p, after)] = value;
  }`)}`,
      integrand,
    );
  const steps = Array.from(sequenceSteps(dims), s => `${s}u`).join(', ');
  const witnesses = (integrand: string) =>
    make(
      ['hearing', 'places', 'levels', 'list', 'rule', 'models', 'heard', 'witnessSums'],
      /* wgsl */ `${SIDE}${inside}${model}${RANDOM}
const STEPS = array<u32, ${dims}>(${steps});
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
`,
      integrand,
    );
  return { fit, range, knownPoints, witnesses };
}
