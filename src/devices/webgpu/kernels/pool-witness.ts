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
  CORNER,
  CORNER_GROWTH,
  DOUBT,
  LADDER,
  leastWitnesses,
  modelNodes,
  RUNGS,
  SURPRISE,
} from '../../../tasks/witness.ts';
import { FINITE } from './numbers.ts';
import { type PoolKernel, WIDTH } from './pool.ts';
import { declare, FOUND, type PoolBuffer, RECORD } from './pool-record.ts';
import { AXIS, SIDE } from './pool-regions.ts';
import { drawing } from './witness-draw.ts';
import { COMMON, HEARD, HEARING, RANDOM, witnessSizes } from './witness-record.ts';

/** Differences below this part of the largest |f| are rounding errors: RESIDUAL_NOISE in float32. */
const NOISE = '0x1p-14';
/** A point nearer to a face than this part of the face's coordinate would be rounded. */
const NEAREST = '0x1p-22';

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
  const witnesses = (integrand: string) =>
    make(
      ['hearing', 'places', 'levels', 'list', 'rule', 'models', 'heard', 'witnessSums'],
      `${SIDE}${inside}${model}${RANDOM}
${drawing(dims)}`,
      integrand,
    );
  return { fit, range, knownPoints, witnesses };
}
