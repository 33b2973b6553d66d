import { expect, test, vi } from 'vitest';
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

test('turns of a wait of 60 ms are made longer, and none of what is there at once', async () => {
  const sleeps = vi.spyOn(Atomics, 'wait');
  await polled(Promise.resolve());
  expect(sleeps).not.toHaveBeenCalled();
  await polled(after(60));
  expect(sleeps).toHaveBeenCalled();
  sleeps.mockRestore();
});
