/** What kernels and host tell each other of witnesses: words of a hearing, of each region that is heard, of sums; who is heard. */
import { BLOCK, leastWitnesses, modelPairs, RUNGS } from '../../../tasks/witness.ts';
import { HIGH_PRODUCT, PHILOX } from './numbers.ts';

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

/** Numbers per region: points of the model and the faces; then rungs of the ladders, and two corners. Coefficients of a model. */
export function witnessSizes(dims: number) {
  const nodes = modelPairs(dims);
  const models = 1 + 2 * nodes * dims + 2 * dims * (dims - 1);
  const known = models + 2 * dims;
  const after = 2 * dims * (RUNGS - 1) + 2;
  return { nodes, models, known, after, coefficients: 2 * nodes * dims + 2 * dims * (dims - 1) };
}

export const COMMON = /* wgsl */ `
fn taskWord(i: u32) -> u32 { return hearing[i >> 2u][i & 3u]; }
fn taskNumber(i: u32) -> f32 { return bitcast<f32>(taskWord(i)); }
/** Witnesses that a region should have on average. */
fn wantedOf(depth: u32) -> f32 {
  return taskNumber(${HEARING.BY_VOLUME}u) * power2(-i32(depth)) + taskNumber(${HEARING.EACH}u);
}
`;

export const RANDOM = /* wgsl */ `${PHILOX}
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
