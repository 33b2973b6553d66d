/** Buffers of sessions that are closed serve the next session, each in the place that it had: then bind groups of the last run fit. */
import { expect, test } from 'vitest';
import type { Gpu } from '../../src/devices/webgpu/gpu.ts';
import { GrowingBuffer, SpareBuffers } from '../../src/devices/webgpu/growing-buffer.ts';

function fakeGpu() {
  const made: { size: number; usage: number; destroyed: boolean; destroy(): void }[] = [];
  const buffer = (size: number, usage: number) => {
    const own = {
      size,
      usage,
      destroyed: false,
      destroy() {
        own.destroyed = true;
      },
    };
    made.push(own);
    return own;
  };
  const gpu = { works: true, spare: new SpareBuffers(), buffer };
  return { gpu: gpu as unknown as Gpu, made };
}

/** Three buffers that grow in turns, and are closed; which buffers were used, in their order. */
function session(gpu: Gpu, sizes: readonly number[]): GPUBuffer[] {
  const own = [0, 1, 2].map(number => new GrowingBuffer(gpu, 'storage', number));
  const used = sizes.flatMap(size => own.map(buffer => buffer.of(size)));
  for (const buffer of own) buffer.giveBack();
  return used;
}

test('sessions that need the same have the same buffers in the same places, and make none but the first time', () => {
  const { gpu, made } = fakeGpu();
  const first = session(gpu, [100, 5000, 300_000]);
  expect(made).toHaveLength(9);
  for (let again = 0; again < 3; again++)
    session(gpu, [100, 5000, 300_000]).forEach((buffer, i) => expect(buffer).toBe(first[i]));
  expect(made).toHaveLength(9);
  // a buffer that was outgrown may be in commands that are not submitted yet
  expect(made.some(b => b.destroyed)).toBe(false);
});

test('buffers of more than 1 MiB are not kept', () => {
  const { gpu, made } = fakeGpu();
  session(gpu, [2 ** 21]);
  expect(made.every(b => b.destroyed)).toBe(true);
});
