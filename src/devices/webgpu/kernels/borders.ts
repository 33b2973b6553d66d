/**
 * The look across borders of the pool's regions; see tasks/pool/borders.ts, whose DEEP, WIDER and BESIDE these are. A place on an axis is
 * a fraction of the box of 64 bits: bit n from the top tells which half of the halving of level n contains it, so that the way down
 * the tree of halvings reads one bit per node. It ends as soon as no region below can be much wider than the one that looks.
 */
import { BESIDE, WIDER } from '../../../tasks/pool/borders.ts';
import { type PoolKernel, WIDTH } from './pool.ts';
import { AROUND, declare, FLAG, NOTE_TOP, type PoolBuffer, RECORD, VOLUME_BITS } from './pool-record.ts';

/** BESIDE half-widths of the box, as the upper word of a fraction of it. */
const ASIDE = Math.floor(BESIDE * 2 ** 31);
const NONE = '0xffffffffu';

const GEOMETRY = /* wgsl */ `
fn levelOf(slot: u32, d: u32) -> u32 { return (levels[slot * LEVEL_WORDS + (d >> 2u)] >> (8u * (d & 3u))) & 255u; }
fn add64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + u32(low < a.x));
}
fn minus64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return vec2<u32>(a.x - b.x, a.y - b.y - u32(a.x < b.x)); }
/** A number that has only an upper word, moved down by up to 63 bits. */
fn down64(upper: u32, by: u32) -> vec2<u32> {
  let low = select(select(upper << (32u - by), 0u, by == 0u), upper >> (by & 31u), by >= 32u);
  return vec2<u32>(low, select(upper >> (by & 31u), 0u, by >= 32u));
}
/** Half of the width of a region, as a fraction of the box. */
fn halfOf(level: u32) -> vec2<u32> { return down64(0x80000000u, level); }
`;

const kernel = (dims: number, buffers: readonly PoolBuffer[], text: string): PoolKernel => ({
  buffers,
  text: `${declare(buffers)}${RECORD(dims)}${GEOMETRY}${text}`,
});

const thread = (body: string) => /* wgsl */ `
@compute @workgroup_size(${WIDTH})
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let k = (workgroup.x + 32768u * workgroup.y) * ${WIDTH}u + thread;
  ${body}
}
`;

/**
 * Small regions look behind their faces. In the first launch they add their |value| and their volume to the sums of each wide region behind a
 * face, and to its maximum; in the second, the neighbours with that maximum write their face there, and the smallest one stays.
 */
export function faces(dims: number, again: boolean): PoolKernel {
  const buffers: PoolBuffer[] = ['task', 'places', 'levels', 'state', 'tree', 'best'];
  return kernel(
    dims,
    [...buffers, again ? 'face' : 'around'],
    /* wgsl */ `
/** The region behind a face if it is much wider along an axis. */
fn wideBehind(i: u32, side: u32) -> u32 {
  let axis = side >> 1u;
  var at: array<vec2<u32>, DIMS> = array<vec2<u32>, DIMS>();
  var own: array<u32, DIMS> = array<u32, DIMS>();
  var open = 0;
  var node = 0u;
  var outside = false;
  for (var d = 0u; d < DIMS; d++) {
    let level = levelOf(i, d);
    let half = halfOf(level);
    let aside = down64(${ASIDE}u, level);
    var place = places[i * DIMS + d];
    if (d == axis) {
      // beyond the first or the last region is nothing
      let face = select(minus64(place, half), add64(place, half), (side & 1u) == 1u);
      outside = face.x == 0u && face.y == 0u;
      place = select(minus64(face, aside), add64(face, aside), (side & 1u) == 1u);
    } else {
      place = add64(place, aside);
    }
    at[d] = place;
    own[d] = level;
    open += i32(level >= task.rootLevel + ${WIDER}u);
    if (task.rootLevel > 0u) { node += (place.y >> (32u - task.rootLevel)) << (task.rootLevel * d); }
  }
  var home = ${NONE};
  if (outside) { open = 0; }
  while (open > 0) {
    let word = tree[node];
    if (word.y == 0u) {
      home = word.x;
      break;
    }
    let d = (word.y & 255u) - 1u;
    let level = word.y >> 8u;
    open -= i32(level + ${WIDER}u == own[d]);
    let place = at[d];
    let bit = select((place.y >> (31u - min(level, 31u))) & 1u, (place.x >> (63u - max(level, 32u))) & 1u, level > 31u);
    node = word.x + bit;
  }
  return home;
}

${thread(/* wgsl */ `
  if (k < task.count) {
    let own = state[k];
    let depth = depthOf(own);
    let key = keyOf(own.x, depth);
    if (depth >= task.deep && !has(own, ${FLAG.SETTLED}u) && key >= task.threshold) {
      // relative to the sum over all, where float32 orders it
      let size = bitcast<u32>(abs(bitcast<f32>(own.x)) * power2(clamp(191 - task.power - i32(depth), -126, 126)));
      // digits · 2^(32 + power of the value − power of all)
      let power = (own.x >> 23u) & 255u;
      let digits = (own.x & 0x7fffffu) | 0x800000u;
      let shift = 32 + i32(power) - i32(depth) - task.power;
      let right = u32(clamp(-shift, 0, 31));
      let left = u32(clamp(shift, 0, 39));
      let term = vec2<u32>(
        select((digits >> right) << (left & 31u), 0u, left > 31u),
        select(select((digits >> 1u) >> (31u - left), digits << (left & 31u), left > 31u), 0u, left == 0u),
      );
      var wide = false;
      for (var side = 0u; side < 2u * DIMS; side++) {
        let home = wideBehind(k, side);
        if (home != ${NONE} && !has(state[home], ${FLAG.CLEARED}u)) {
          wide = true;
          ${
            again
              ? `if (atomicLoad(&best[home]) == size) { atomicMax(&face[home], ~(k * 2u * DIMS + side)); }`
              : `atomicMax(&best[home], size);
          let before = atomicAdd(&around[3u * home], term.x);
          let carry = u32(before + term.x < before);
          if (term.y + carry > 0u) { atomicAdd(&around[3u * home + 1u], term.y + carry); }
          let bits = ${VOLUME_BITS} + i32(depthOf(state[home])) - i32(depth);
          atomicAdd(&around[3u * home + 2u], 1u << u32(clamp(bits, 0, 27)));`
          }
        }
      }
      ${again ? `if (!wide) { state[k].z = own.z | ${FLAG.SETTLED << 8}u; }` : ''}
    }
  }`)}`,
  );
}

/**
 * The mirror image of a small region behind its face, inside the wide region; along an axis on which the wide region is narrower than the
 * small one, the image has the wide region's extent. Of the image 2^-thin is taken, next to the face.
 */
export const mirror = (dims: number): PoolKernel =>
  kernel(
    dims,
    ['task', 'places', 'levels', 'list', 'face', 'imagePlaces', 'imageLevels', 'imageState'],
    thread(/* wgsl */ `
  if (k < task.n) {
    let home = list[k];
    let which = ~atomicLoad(&face[home]);
    let i = which / (2u * DIMS);
    let side = which % (2u * DIMS);
    var depth = 0u;
    for (var w = 0u; w < LEVEL_WORDS; w++) { imageLevels[k * LEVEL_WORDS + w] = 0u; }
    for (var d = 0u; d < DIMS; d++) {
      let level = levelOf(i, d);
      let own = levelOf(home, d);
      var place = places[i * DIMS + d];
      if (d == side >> 1u) {
        let half = halfOf(level);
        let width = add64(half, half);
        place = select(minus64(place, width), add64(place, width), (side & 1u) == 1u);
      }
      if (own > level) { place = places[home * DIMS + d]; }
      var part = max(level, own);
      if (d == side >> 1u) {
        let off = minus64(halfOf(part), halfOf(part + task.thin));
        part += task.thin;
        place = select(add64(place, off), minus64(place, off), (side & 1u) == 1u);
      }
      imagePlaces[k * DIMS + d] = place;
      imageLevels[k * LEVEL_WORDS + (d >> 2u)] |= part << (8u * (d & 3u));
      depth += part;
    }
    imageState[k] = vec4<u32>(0u, 0u, depth << 16u, 0u);
  }`),
  );

/** Raises the errors of wide regions that have missed something; the others are cleared. */
export const raise = (dims: number): PoolKernel =>
  kernel(
    dims,
    ['task', 'levels', 'state', 'list', 'found', 'around', 'face', 'imageState'],
    `${NOTE_TOP}${AROUND(word => `atomicLoad(&${word})`)}
${thread(/* wgsl */ `
  if (k < task.n) {
    let home = list[k];
    let own = state[home];
    let which = ~atomicLoad(&face[home]);
    let small = state[which / (2u * DIMS)];
    let image = imageState[k];
    var ratio = 1.0;
    if (task.purpose == 1u) {
      let scale = power2(clamp(i32(depthOf(small)) - i32(depthOf(image)), -126, 126));
      ratio = min(0x1p126, abs(bitcast<f32>(image.x) / bitcast<f32>(small.x)) * scale);
    }
    let unit = power2(clamp(task.power - 182 + i32(depthOf(own)), -126, 127));
    let missing = ratio * besideOf(home) * unit - believed(home, own);
    if (missing > 0.0) {
      let error = bitcast<f32>(own.y) + min(missing, 0x1p126);
      state[home].y = bitcast<u32>(error);
      let axis = select(axisOf(own), which % (2u * DIMS) / 2u, task.thin > 0u);
      state[home].z = (own.z & ${~((FLAG.CLEARED << 8) | 255) >>> 0}u) | axis;
      noteTop(keyOf(bitcast<u32>(error), depthOf(own)));
    } else {
      state[home].z = own.z | ${FLAG.CLEARED << 8}u;
    }
  }`)}`,
  );
