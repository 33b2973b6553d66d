/** A pool's lists where the driver has no memory: a GPU that only counts bytes. */
import { expect, test } from 'vitest';
import type { Gpu } from '../../src/devices/webgpu/gpu.ts';
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
  expect(state.used).toBe(0);
});

test('2^21 regions in 8 dimensions fit into bindings of 128 MB', () => {
  expect(new PoolLists(gpuOf(0).gpu, 8).most()).toBe(2 ** 21);
});
