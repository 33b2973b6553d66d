/**
 * The kernel that applies a cubature rule (tasks/rules.ts) to regions of a pool: value, error and the axis to halve are computed on the
 * GPU. Points come in the order centre; on each axis ±a, ±b of the two orbits whose differences tell the axis to halve; the other orbits.
 *
 * One thread per region where a rule has few points: the point of a turn is then the same for all threads, so that its offsets and
 * weights are read once for all of them, and nothing is shared. Where a rule has many points or an integrand has loops, a workgroup
 * per region: its lanes have points in turn, and every one evaluates the centre first.
 *
 * As in regions.ts, values are added as differences from that of the centre.
 */
import { FINITE, HIGH_PRODUCT } from './numbers.ts';
import { declare, FINEST, FLAG, FOUND, NOTE_TOP, RECORD } from './pool-record.ts';
import { BEND_NOISE } from './regions.ts';

export const POOL_THREADS = 64;
/** Workgroups of a dispatch along its first axis, at most: the default limit is 65,535. */
export const POOL_ROW = 2 ** 15;

/** Words per axis of the rule's buffer, from its beginning on. */
export const AXIS = {
  /** The first and the last float32 inside. */
  FIRST: 0,
  LAST: 1,
  RANGE: 2,
  /** The low end and the range as integers of 64 bits, in units of 2^(POWER − 62). */
  LOW: 3,
  WIDTH: 5,
  POWER: 7,
  WORDS: 8,
} as const;

/** Where a region is, from integers; kernels that include this have `places`, `levels` and the rule's buffer. */
export const SIDE = /* wgsl */ `${HIGH_PRODUCT}
fn number(i: u32) -> f32 { return bitcast<f32>(rule[i]); }

fn add64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + u32(low < a.x));
}

fn levelOf(slot: u32, d: u32) -> u32 { return (levels[slot * LEVEL_WORDS + (d >> 2u)] >> (8u * (d & 3u))) & 255u; }

/** A region on an axis: its centre as two numbers, its half-width, and 2^-level or 0 where halves would have one centre. */
fn sideOf(slot: u32, d: u32) -> vec4<f32> {
  let place = places[slot * DIMS + d];
  let own = ${AXIS.WORDS}u * d;
  let width = vec2<u32>(rule[own + ${AXIS.WIDTH}u], rule[own + ${AXIS.WIDTH + 1}u]);
  // low + width · place / 2^64; carries of the lowest words are left out
  var centre = vec2<u32>(width.y * place.y, highProduct(width.y, place.y));
  centre = add64(centre, vec2<u32>(highProduct(width.y, place.x), 0u));
  centre = add64(centre, vec2<u32>(highProduct(width.x, place.y), 0u));
  centre = add64(centre, vec2<u32>(rule[own + ${AXIS.LOW}u], rule[own + ${AXIS.LOW + 1}u]));
  let negative = (centre.y >> 31u) == 1u;
  if (negative) { centre = add64(~centre, vec2<u32>(1u, 0u)); }
  // the highest bit goes to the top
  var lead = countLeadingZeros(centre.y);
  if (centre.y == 0u) {
    centre = vec2<u32>(0u, centre.x);
    lead = countLeadingZeros(centre.y);
    centre.y <<= (lead & 31u);
    lead += 32u;
  } else if (lead > 0u) {
    centre = vec2<u32>(centre.x << lead, (centre.y << lead) | (centre.x >> (32u - lead)));
  }
  let scale = power2(bitcast<i32>(rule[own + ${AXIS.POWER}u]) + 2 - i32(lead)) * select(1.0, -1.0, negative);
  let high = f32(centre.y >> 8u) * 0x1p-24 * scale;
  let rest = f32(((centre.y & 255u) << 24u) | (centre.x >> 8u)) * 0x1p-56 * scale;
  let level = levelOf(slot, d);
  let part = power2(-i32(level));
  let half = 0.5 * number(own + ${AXIS.RANGE}u) * part;
  // an eighth of the half-width changes the centre
  let fine = level < ${FINEST}u && half > abs(high) * 0x1p-21;
  return vec4<f32>(high, rest, half, select(0.0, part, fine));
}
`;

export interface PoolVariant {
  dims: number;
  /** Lanes per region: 1 or POOL_THREADS. */
  lanes: number;
  /** The largest coordinate of a point, in half-widths. */
  farthest: number;
  /** Where the points of each orbit after the first three begin, and where the last ends. */
  ends: readonly number[];
  nulls: number;
  ratio: number;
  /** Pairs (scale, norm) of each combination of null rules; none where the error is the only null rule. */
  candidates: readonly number[];
  grades: readonly [number, number, number] | null;
  /** √Σ w² of the rule, which its value is rounded by. */
  rounding: number;
}

/**
 * Where the tables of the rule's buffer begin: the weights of each orbit but the first, with |weight| at the end; ends of orbits; pairs of
 * null rules; for lanes, different coordinates of points.
 */
export function ruleLayout({ dims, ends, nulls, candidates }: PoolVariant) {
  const weights = AXIS.WORDS * dims;
  const [orbits, perOrbit] = [ends.length + 2, nulls + 2];
  const pairs = weights + orbits * perOrbit;
  return { weights, perOrbit, pairs, coordinates: pairs + 2 * candidates.reduce((a, b) => a + b, 0) };
}

/** 2^-24, the rounding error of a float32. */
const EPSILON = '0x1p-24';

export function poolRegionKernel(integrand: string, variant: PoolVariant): string {
  const { dims, lanes, farthest, ends, nulls, ratio, candidates, grades, rounding } = variant;
  const at = ruleLayout(variant);
  const [sums, axesEnd] = [1 + nulls, 1 + 4 * dims];
  const alone = lanes === 1;
  const each = <T>(n: number, f: (i: number) => T, separator = '\n') =>
    Array.from({ length: n }, (_, i) => f(i)).join(separator);
  const groups = Math.ceil(dims / 4);
  /** Σ over orbit `orbit` goes into the sums of rule and null rules. */
  const add = (orbit: string, partial: string, size: string) =>
    each(
      sums + 1,
      k =>
        `sum${k} += number(${at.weights}u + ${at.perOrbit}u * ${orbit} + ${k}u) * ${k < sums ? partial : size};`,
    );
  /** The largest result of the combinations of null rules r and r + 1. */
  const combination = (r: number) => {
    const first = at.pairs + 2 * candidates.slice(0, r).reduce((a, b) => a + b, 0);
    return `var most${r} = 0.0;
  for (var j = 0u; j < ${candidates[r]}u; j++) {
    most${r} = max(most${r}, abs(sum${r + 2} + number(${first}u + 2u * j) * sum${r + 1}) * number(${first + 1}u + 2u * j));
  }`;
  };
  /** A point of the region of a thread. */
  const pointText = (name: string, point: string) => `var ${name}: array<f32, ${dims}>;
      ${each(
        groups,
        g => `{
        let offset = offsets[(${point}) * ${groups}u + ${g}u];
        ${each(
          Math.min(4, dims - 4 * g),
          j => {
            const d = 4 * g + j;
            return `${name}[${d}] = centre${d} + offset.${'xyzw'[j]} * half${d};`;
          },
          '\n        ',
        )}
      }`,
        '\n      ',
      )}`;
  /**
   * The orbits after those on the axes, for threads with regions of their own: a loop without branches, over two points at a time, so that
   * a thread does not wait for each result before it begins with the next point. Orbits are symmetric, so that they have even numbers of points.
   */
  const pairs = () => `for (var part = 2u; part < ${ends.length + 2}u; part++) {
    let end = ENDS[part];
    var partial = 0.0;
    var size = 0.0;
    for (var point = begin; point < end; point += 2u) {
      ${pointText('x', 'point')}
      ${pointText('y', 'point + 1u')}
      var one = integrand(&x);
      var other = integrand(&y);
      if (!isFinite(one)) {
        one = 0.0;
        wrong++;
      }
      if (!isFinite(other)) {
        other = 0.0;
        wrong++;
      }
      partial += (one - middle) + (other - middle);
      size += abs(one - middle) + abs(other - middle);
    }
    ${add('part', 'partial', 'size')}
    begin = end;
  }`;
  return /* wgsl */ `
@group(0) @binding(0) var<storage, read> params: array<f32>;
@group(0) @binding(7) var<storage, read> rule: array<u32>;
@group(0) @binding(8) var<storage, read> offsets: array<${alone ? 'vec4<f32>' : 'u32'}>;
${declare(['task', 'places', 'levels', 'state', 'list', 'found'], 1)}
${integrand}
${FINITE}
${RECORD(dims)}
${NOTE_TOP}
${SIDE}
/** The regions of the pool, or both halves of those in the list. */
fn slotOf(item: u32) -> u32 {
  var slot = item;
  if (task.n > 0u) { slot = select(list[item >> 1u], task.count + (item >> 1u), (item & 1u) == 1u); }
  return slot;
}

${
  alone
    ? `/**
 * Centre and half-width of a region on an axis, such that rounding moves no point of the rule to an end of the box. They are those of the region,
 * except where it lies at an end of the box and its half-width is below about 50 units in the last place of its centre: there the half-width is
 * smaller by up to 2 such units. So points need not be moved one by one.
 */
fn insideOf(side: vec4<f32>, own: u32) -> vec2<f32> {
  let first = number(own + ${AXIS.FIRST}u);
  let last = number(own + ${AXIS.LAST}u);
  let centre = clamp(side.x + side.y, first, last);
  return vec2<f32>(centre, max(0.0, min(side.z, min(last - centre, centre - first) * ${(1 - 2 ** -18) / farthest})));
}`
    : ''
}
const ENDS = array<u32, ${ends.length + 2}>(1u, ${axesEnd}u, ${ends.map(e => `${e}u`).join(', ')});
const LANES = ${lanes}u;
${
  alone
    ? ''
    : `var<workgroup> sides: array<vec4<f32>, DIMS>;
var<workgroup> lanes: array<array<f32, ${sums + 1}>, LANES>;
/** The largest bend among the axes of a lane, 2^-level of that axis, and its number. */
var<workgroup> bends: array<vec3<f32>, LANES>;
var<workgroup> wrongs: atomic<u32>;`
}

@compute @workgroup_size(${POOL_THREADS})
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let block = workgroup.x + ${POOL_ROW}u * workgroup.y;
  let lane = ${alone ? '0u' : 'thread'};
  let item = task.first + block${alone ? ` * ${POOL_THREADS}u + thread` : ''};
  let there = item < task.end;
  let slot = slotOf(select(task.first, item, there));
  ${
    alone
      ? each(
          dims,
          d => `let inner${d} = insideOf(sideOf(slot, ${d}u), ${AXIS.WORDS * d}u);
  let centre${d} = inner${d}.x;
  let half${d} = inner${d}.y;`,
        )
      : `if (lane == 0u) { atomicStore(&wrongs, 0u); }
  for (var d = lane; d < DIMS; d += LANES) { sides[d] = sideOf(slot, d); }
  workgroupBarrier();`
  }
  ${each(sums + 1, k => `var sum${k} = 0.0;`, ' ')}
  var middle = 0.0;
  var wrong = 0u;
  var most = -1.0;
  var widest = 0.0;
  var axis = 0u;
  // the centre, the points on axes, then one orbit after the other
  var begin = 0u;
  for (var part = 0u; part < ${alone ? 2 : ends.length + 2}u; part++) {
    let end = ENDS[part];
    var inner = 0.0;
    var outer = 0.0;
    var partial = 0.0;
    var size = 0.0;
    var near = 0.0;
    var nearSize = 0.0;
    var turn = 0u;
    var point = begin + ${alone ? '0u' : 'select(select(lane, 4u * lane, part == 1u), 0u, part == 0u)'};
    while (point < end) {
      ${
        alone
          ? pointText('x', 'point')
          : `var x: array<f32, ${dims}> = array<f32, ${dims}>();
      for (var d = 0u; d < DIMS; d++) {
        let code = (offsets[point * ${groups}u + (d >> 2u)] >> (8u * (d & 3u))) & 255u;
        let side = sides[d];
        let own = ${AXIS.WORDS}u * d;
        x[d] = clamp(side.x + (side.y + number(${at.coordinates}u + code) * side.z), number(own), number(own + 1u));
      }`
      }
      var value = integrand(&x);
      if (!isFinite(value)) {
        value = 0.0;
        wrong += ${alone ? '1u' : 'u32(part > 0u || lane == 0u)'};
      }
      if (part == 0u) { middle = value; }
      let off = value - middle;
      if (part == 1u) {
        // two points of the first orbit, then two of the second
        if (turn < 2u) {
          inner += off;
          nearSize += abs(off);
        } else {
          outer += off;
          size += abs(off);
        }
        if (turn == 3u) {
          let d = (point - 1u) >> 2u;
          let width = ${alone ? 'sideOf(slot, d).w' : 'sides[d].w'};
          var bend = abs(${ratio} * inner - outer);
          let sizes = abs(inner + 2.0 * middle) + abs(outer + 2.0 * middle) + abs(middle);
          if (bend <= ${BEND_NOISE} * sizes) { bend = 0.0; }
          if (width > 0.0 && (bend > most || (bend == most && width > widest))) {
            most = bend;
            widest = width;
            axis = d;
          }
          near += inner;
          partial += outer;
          inner = 0.0;
          outer = 0.0;
          point += ${4 * lanes - 4}u;
        }
        turn = (turn + 1u) & 3u;
        point += 1u;
      } else {
        partial += off;
        size += abs(off);
        point += LANES;
        ${alone ? '' : 'if (part == 0u) { point = 1u; }'}
      }
    }
    if (part == 1u) {
      ${add('0u', 'near', 'nearSize')}
    }
    if (part > 0u) {
      ${add('part', 'partial', 'size')}
    }
    begin = end;
  }
  ${
    alone
      ? pairs()
      : `lanes[lane] = array<f32, ${sums + 1}>(${each(sums + 1, k => `sum${k}`, ', ')});
  bends[lane] = vec3<f32>(most, widest, f32(axis));
  if (wrong > 0u) { atomicAdd(&wrongs, wrong); }
  workgroupBarrier();
  if (lane > 0u) { return; }
  wrong = atomicLoad(&wrongs);
  for (var l = 1u; l < LANES; l++) {
    ${each(sums + 1, k => `sum${k} += lanes[l][${k}];`, '\n    ')}
    let other = bends[l];
    if (other.x > most || (other.x == most && (other.y > widest || (other.y == widest && u32(other.z) < axis)))) {
      most = other.x;
      widest = other.y;
      axis = u32(other.z);
    }
  }`
  }
  ${
    grades
      ? `${each(nulls - 1, combination, '\n  ')}
  let falls = ${grades[0]} * most0 <= most1 && ${grades[0]} * most1 <= most2;
  var error = select(${grades[2].toFixed(1)} * max(max(most0, most1), most2), ${grades[1].toFixed(1)} * most0, falls);`
      : 'var error = abs(sum1);'
  }
  // null rules may be 0 by chance where all that they see is rounding
  error = max(error, ${EPSILON} * (${2 * rounding} * abs(middle) + sum${sums}));
  let value = middle + sum0;
  if (there) {
    let own = state[slot];
    let flags = select(0u, ${FLAG.STUCK}u, most < 0.0);
    let depth = depthOf(own);
    state[slot] = vec4<u32>(bitcast<u32>(value), bitcast<u32>(error), axis | (flags << 8u) | (depth << 16u), own.w);
    noteTop(keyOf(bitcast<u32>(value), depth));
    noteTop(keyOf(bitcast<u32>(error), depth));
    if (wrong > 0u) {
      atomicAdd(&found[${FOUND.WRONG}], wrong);
      atomicMax(&found[${FOUND.FIRST_WRONG}], ~item);
    }
  }
}
`;
}
