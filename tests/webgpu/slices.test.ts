/** Small tasks on WebGPU, where a thread has a slice of a piece (kernels/slices.ts): are all samples in one slice, and are sums those of the CPU. */
import { describe, expect, test } from 'vitest';
import { placesOfSlices, SLICE } from '../../src/devices/webgpu/kernels/slices.ts';
import { PIECE, piecesOf } from '../../src/tasks/pieces.ts';
import { Random } from '../compiler/random.ts';
import { bundled } from './bundled.ts';
import { absent, runOnSwiftShader } from './swiftshader.ts';

/** Where pieces begin that have slices at `firstPlace`, as kernels count them. */
function* piecesIn(counts: readonly number[]) {
  let [before, sample] = [0, 0];
  for (const n of counts) {
    const pieces = piecesOf(n);
    for (let j = 0; j < pieces; j++) {
      const end = j + 1 === pieces ? n : PIECE * (j + 1) - (n === PIECE * (j + 1) + 1 ? 2 : 0);
      const start = PIECE * j - (j > 0 && n === PIECE * j + 1 ? 2 : 0);
      const firstPlace = before + j + Math.floor((sample + start) / SLICE);
      yield { firstPlace, slices: Math.ceil((end - start) / SLICE), first: j === 0, index: j };
    }
    before += pieces;
    sample += n;
  }
}

test('no place has two slices, for cubes of 2 to 2,000 samples; places are counted as 33 for each whole piece', () => {
  const random = new Random(5);
  for (let turn = 0; turn < 300; turn++) {
    const counts = Array.from({ length: 1 + random.below(40) }, () => {
      const near = PIECE * (1 + random.below(7)) - 3 + random.below(7);
      return random.below(3) === 0 ? near : 2 + random.below(60);
    });
    let [end, ofCube] = [0, 0];
    for (const { firstPlace, slices, first, index } of piecesIn(counts)) {
      expect(firstPlace).toBeGreaterThanOrEqual(end);
      expect(firstPlace - end).toBeLessThanOrEqual(1);
      end = firstPlace + slices;
      if (first) ofCube = firstPlace;
      // a kernel guesses the piece from its place, and looks at the next one
      const guess = Math.floor((firstPlace - ofCube) / (1 + PIECE / SLICE));
      expect(index - guess).toBeLessThanOrEqual(1);
      expect(Math.floor((end - 1 - ofCube) / (1 + PIECE / SLICE))).toBeLessThanOrEqual(index);
    }
    const all = counts.reduce((a, b) => a + b);
    expect(end).toBeLessThanOrEqual(
      placesOfSlices(
        counts.reduce((sum, n) => sum + piecesOf(n), 0),
        all,
      ),
    );
  }
});

describe.skipIf(absent)('on SwiftShader', () => {
  const run = async () => {
    const printed = await runOnSwiftShader(await bundled('slices-main'));
    return printed
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
  };
  const random: Promise<Record<string, never>[]> = absent ? Promise.resolve([]) : run();
  test('random tasks: the sums of the CPU to float32 rounding, and the same bits for any number of dispatches', async () => {
    const found = await random;
    expect(found).toHaveLength(30);
    for (const { task, sum, variance, histogram, evaluations, nonFinite, dispatches, sameBits } of found) {
      expect(sum, `${task}: sum`).toBeLessThan(2e-5);
      expect(variance, `${task}: variance`).toBeLessThan(1e-4);
      expect(histogram, `${task}: histogram`).toBeLessThan(2e-5);
      expect(evaluations, `${task}: evaluations`).toBe(0);
      expect(nonFinite, `${task}: values that are not finite`).toBe(true);
      expect(sameBits, `${task}: bits in ${dispatches} dispatches`).toBe(true);
    }
    expect(found.filter(({ dispatches }) => dispatches > 1).length).toBeGreaterThan(5);
  }, 600_000);

  test('iterations that follow are sampled along with one that measures: one submission, and the bits that they have alone', async () => {
    const measuring = (await random).filter(({ followingAlong }) => followingAlong !== undefined);
    expect(measuring.length).toBeGreaterThan(4);
    for (const { task, followingAlong, followingSame, holes } of measuring) {
      expect(followingSame, `${task}: bits`).toBe(true);
      // each with values that are not finite evaluates the point of the first one
      if (!holes) expect(followingAlong, `${task}: submissions`).toBe(1);
    }
    expect(measuring.some(({ holes }) => holes)).toBe(true);
  }, 600_000);
});
