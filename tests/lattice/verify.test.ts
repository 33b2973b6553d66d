/** Tasks of lattices from other machines: what is sent comes back, and what does not fit is refused. */
import { expect, test } from 'vitest';
import { drawShifts, latticeWords } from '../../src/random/lattice.ts';
import { TaskError } from '../../src/tasks/checked-values.ts';
import { uniformMap } from '../../src/tasks/map.ts';
import { cubesOf, plan, type SampleTask } from '../../src/tasks/sample.ts';
import { slopesOf } from '../../src/tasks/smooth-map.ts';
import { readSampleTask } from '../../src/tasks/verify.ts';
import { decode, encode } from '../../src/tasks/wire.ts';

const edges = uniformMap(
  [
    [0, 1],
    [2, 5],
  ],
  8,
);
const lattice = {
  ...latticeWords(2, drawShifts([3, 4], 0, 2, 0, 5), 10, 'whole'),
  folded: true,
  slopes: slopesOf(edges, 2),
};
const task: SampleTask = {
  key: [3, 4],
  iteration: 0,
  stream: 0,
  bins: 8,
  edges,
  strata: [1, 1],
  lattice,
  counts: 1024,
  unit: 1,
  adapt: null,
  cubes: true,
};
const fit = { dims: 2, results: 1 };

test('a shift is a cube: samples and groups follow', () => {
  expect(cubesOf(task)).toBe(5);
  expect(plan(task)).toEqual({ groups: 2, size: 4096 });
});

test('what is sent comes back', () => {
  expect(readSampleTask(decode(encode(task)), fit)).toStrictEqual(task);
});

test.each([
  ['strata', { strata: [2, 1] }],
  ['samples that are no whole pieces', { counts: 1000 }],
  ['learning', { adapt: { scale: 1, variances: false } }],
  ['steps of another number of dimensions', { lattice: { ...lattice, steps: Uint32Array.of(1) } }],
  ['half a shift', { lattice: { ...lattice, shifts: lattice.shifts.slice(1) } }],
  ['no shift', { lattice: { ...lattice, shifts: new Uint32Array(0) } }],
  ['slopes of another map', { lattice: { ...lattice, slopes: lattice.slopes.slice(1) } }],
  ['no flag', { lattice: { ...lattice, folded: 1 } }],
])('%s: refused', (_, change) => {
  expect(() => readSampleTask({ ...task, ...change }, fit)).toThrow(TaskError);
});
