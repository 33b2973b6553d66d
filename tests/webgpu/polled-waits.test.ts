import { expect, test } from 'vitest';
import { polled } from '../../src/devices/webgpu/polled-waits.ts';

const after = (ms: number) => new Promise<number>(resolve => setTimeout(() => resolve(ms), ms));

test('waits of different lengths at a time end in their order, with what was waited for', async () => {
  const ended: number[] = [];
  const note = async (ms: number) => void ended.push(await polled(after(ms)));
  await Promise.all([note(40), note(1), note(12)]);
  expect(ended).toEqual([1, 12, 40]);
});

test('what fails rejects, and timers are heard during a wait of 30 ms', async () => {
  const heard: number[] = [];
  for (const ms of [5, 10, 20]) setTimeout(() => heard.push(ms), ms);
  const lost = after(30).then(() => Promise.reject(new Error('the GPU was lost')));
  await expect(polled(lost)).rejects.toThrow('the GPU was lost');
  expect(heard).toEqual([5, 10, 20]);
});
