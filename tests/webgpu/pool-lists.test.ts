/** A pool's lists where the driver has no memory: a GPU that only counts bytes. */
import { expect, test } from 'vitest';
import type { Gpu } from '../../src/devices/webgpu/gpu.ts';
import { SpareBuffers } from '../../src/devices/webgpu/growing-buffer.ts';
import { PoolLists } from '../../src/devices/webgpu/pool-lists.ts';

/** A GPU with so many bytes. */
function gpuOf(bytes: number) {
  const state = { used: 0, copies: 0, failed: false };
  const gpu = {
    bindingBytes: 2 ** 27,
    device: {
      pushErrorScope: () => {},
      popErrorScope: async () => {
        const { failed } = state;
        state.failed = false;
        return failed ? { message: 'out of memory' } : null;
      },
    },
    buffer: (size: number) => {
      state.used += size;
      if (state.used > bytes) state.failed = true;
      const destroy = () => {
        state.used -= size;
      };
      return { size, destroy };
    },
    copy: () => void state.copies++,
    spare: new SpareBuffers(),
    works: true,
  };
  return { gpu: gpu as unknown as Gpu, state };
}

test('lists that the driver has no memory for stay as they are, and nothing leaks', async () => {
  const { gpu, state } = gpuOf(9_000_000);
  const lists = new PoolLists(gpu, 8);
  expect(await lists.grow(2 ** 14)).toBe(true);
  const { used } = state;
  const places = lists.get('places');
  expect(await lists.grow(2 ** 16)).toBe(false);
  expect(lists.room).toBe(2 ** 14);
  expect(state.used).toBe(used);
  expect(lists.get('places')).toBe(places);
  expect(await lists.grow(2 ** 15)).toBe(true);
  expect(state.copies).toBe(4); // places, levels, state, tree
  lists.close();
  PoolLists.take(gpu, 1); // the next pool cannot use them
  expect(state.used).toBe(0);
});

test('2^21 regions in 8 dimensions fit into bindings of 128 MB', () => {
  expect(new PoolLists(gpuOf(0).gpu, 8).most()).toBe(2 ** 21);
});

test('the next pool takes the lists of the last one, if it has as many dimensions and may have as much memory', async () => {
  const { gpu, state } = gpuOf(2 ** 40);
  const first = PoolLists.take(gpu, 8);
  await first.grow(2 ** 14);
  const { used } = state;
  first.close();
  const second = PoolLists.take(gpu, 8);
  expect(second).toBe(first);
  expect(second.room).toBe(2 ** 14);
  second.close();
  const others = PoolLists.take(gpu, 6);
  expect(others.room).toBe(0);
  expect(state.used).toBe(0);
  await others.grow(2 ** 14);
  others.close();
  expect(PoolLists.take(gpu, 6, 10_000).room).toBe(0);
  expect(state.used).toBe(0);
  expect(used).toBeGreaterThan(0);
});

test('lists of more than 512 MB are not kept', async () => {
  const { gpu, state } = gpuOf(2 ** 40);
  const lists = PoolLists.take(gpu, 8);
  await lists.grow(2 ** 23);
  lists.close();
  expect(state.used).toBe(0);
});
