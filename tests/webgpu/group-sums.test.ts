/** Sums of groups that WebGPU leaves are added in the order of tasks/tree-sum.ts, whatever part of an iteration they are. */
import { expect, test } from 'vitest';
import { addGroups } from '../../src/devices/webgpu/group-sums.ts';
import { foldsFor, recordOf } from '../../src/devices/webgpu/kernels/fold.ts';
import { nodeWidth } from '../../src/tasks/sample.ts';
import { TreeSum } from '../../src/tasks/tree-sum.ts';

/** Records of groups with sums and variances in no order. */
function recordsOf(groups: number, results: number): Uint32Array {
  const { words, floats } = recordOf(results);
  const records = new Uint32Array(words * groups);
  const numbers = new Float32Array(records.buffer);
  for (let g = 0; g < groups; g++) {
    for (let r = 0; r < results; r++) {
      records[g * words + 4 * r + 3] = (g * 7919 + r) % 1000;
      records[g * words + 4 * r + 2] = Math.imul(g + 1, 0x9e3779b9) >>> 0;
    }
    for (let i = 0; i < floats; i++) numbers[g * words + 4 * results + i] = 1 / (3 + g + i);
  }
  return records;
}

test.each([
  [1, 200],
  [3, 131],
])('%i results: %i groups have the same bits in one part and in five', (results, groups) => {
  const records = recordsOf(groups, results);
  const { words } = recordOf(results);
  const whole = new TreeSum(nodeWidth(results), groups);
  addGroups(whole, records, 0, groups, results, 1 / 3);
  const single = new TreeSum(nodeWidth(results), groups);
  const parts = new TreeSum(nodeWidth(results), groups);
  for (let g = 0; g < groups; g++)
    addGroups(single, records.slice(g * words, (g + 1) * words), g, 1, results, 1 / 3);
  for (const [first, end] of [
    [0, 1],
    [1, 64],
    [64, 128],
    [128, 130],
    [130, groups],
  ])
    addGroups(parts, records.slice(first * words, end * words), first, end - first, results, 1 / 3);
  expect(whole.nodes).toEqual(single.nodes);
  expect(whole.nodes).toEqual(parts.nodes);
  expect(whole.nodes).toHaveLength(nodeWidth(results));
});

test('the first value that is not finite is that of the first group with one', () => {
  const records = recordsOf(10, 1);
  const { words, wrong, firstWrong } = recordOf(1);
  for (const [group, sample] of [
    [7, 3],
    [4, 500],
  ]) {
    records[group * words + wrong] = 2;
    records[group * words + firstWrong] = sample;
  }
  const totals = addGroups(new TreeSum(3, 100), records, 20, 10, 1, 1);
  expect(totals).toMatchObject({ wrong: 4, firstGroup: 24, firstWrong: 500 });
});

test('records of 1 to 2^13 threads become one, at most 32 at a time', () => {
  for (let bits = 0; bits <= 13; bits++) {
    const turns = foldsFor(bits);
    expect(turns.reduce((a, b) => a * b, 1)).toBe(2 ** bits);
    expect(Math.max(...turns)).toBeLessThanOrEqual(32);
    expect(turns.length).toBeLessThanOrEqual(3);
  }
});
