/** What methods tell a device about iterations that follow: it may sample them along with the first (devices/device.ts). */
import { afterAll, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { integrate } from '../../src/integrate.ts';
import { STREAM } from '../../src/random/philox.ts';
import { wrapped } from '../devices/wrapped.ts';

const cpu = new CpuDevice();
afterAll(() => cpu.close());

/** A device that notes, of each iteration, whether it adapts and how many are said to follow. */
const noting = (told: string[]) =>
  wrapped(cpu, session => ({
    sample: (task, part, signal, following = 0) => {
      if (task.stream === STREAM.sample) told.push(`${task.adapt ? 'adapts' : 'measures'} ${following}`);
      return session.sample(task, part, signal);
    },
  }));

const run = async (options: object) => {
  const told: string[] = [];
  await integrate(([x, y]) => 1 + x * y, {
    dims: 2,
    device: noting(told),
    method: 'vegas+',
    relTol: 0,
    maxEvaluations: 1e6,
    vegas: { evaluations: 1000, iterations: 6, adapt: 2 },
    ...options,
  });
  return told;
};

test('each iteration that measures tells how many like it are left; those that adapt tell of none', async () => {
  const told = await run({});
  expect(told.filter(t => t.startsWith('measures'))).toEqual([
    'measures 3',
    'measures 2',
    'measures 1',
    'measures 0',
  ]);
  expect(told.filter(t => t.startsWith('adapts')).every(t => t === 'adapts 0')).toBe(true);
});

test('with a deadline they tell of none: an iteration that was sampled along takes no time, and the run plans by that', async () => {
  const told = await run({ maxTime: 60_000 });
  expect(told.filter(t => t.startsWith('measures'))).toEqual(Array(4).fill('measures 0'));
});
