/**
 * What a piece contributes to the sums of its window, for kernels. A piece has its first weights, the `pivot`; the sums of the differences from
 * them, `sum`; and of the products of these differences, `product`. What pieces contribute to the sum is an integer of 128 bits; variances are
 * float32, since two digits of them are enough.
 */
import { recordOf } from './fold.ts';
import { PIECE_NUMBER } from './windows.ts';

/** What a window adds up. */
export const SUMS_OF_WINDOW = /* wgsl */ `var total = array<vec4<u32>, RESULTS>();
  // covariances, concentrations, squares
  var spread = array<f32, FLOATS>();
  var wrong = 0u;
  var firstWrong = 0xffffffffu;`;

/** Adds a piece of `m` samples, at the end of it. */
export const addPiece = (results: number): string => /* wgsl */ `let samples = f32(m);
    // where all cubes have as many samples, the host divides by that number
    var share = 1.0;
    if (perCube == 0u) { share = 1.0 / f32(full); }
    var variance = 0.0;
    var mean = 0.0;
    var pair = 0u;
    for (var r = 0u; r < RESULTS; r++) {
      if (perCube > 0u) {
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
      ${PIECE_NUMBER}
      ofPieces[piece - taskWord(FIRST_PIECE)] = (samples / f32(full)) * vec2<f32>(variance, mean);
    }`;

/** Writes the sums of a window, behind so many others. */
export function writeWindow(window: string, results: number, behind = '0u'): string {
  const { words, ...record } = recordOf(results);
  return /* wgsl */ `if (${window} < taskWord(WINDOWS)) {
    let out = (${behind} + ${window}) * ${words}u;
    for (var r = 0u; r < RESULTS; r++) {
      for (var q = 0u; q < 4u; q++) { records[out + 4u * r + q] = total[r][q]; }
    }
    for (var k = 0u; k < FLOATS; k++) { records[out + 4u * RESULTS + k] = bitcast<u32>(spread[k]); }
    records[out + ${record.wrong}u] = wrong;
    records[out + ${record.firstWrong}u] = firstWrong;
    records[out + ${record.overflows}u] = u32(tooLarge);
  }`;
}
