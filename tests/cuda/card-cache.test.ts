/** Kernels that are loaded on a card: those in use stay, and whoever used them gives them back. */
import { expect, test, vi } from 'vitest';
import { CardCache } from '../../src/devices/cuda/card-cache.ts';
import { integrate } from '../../src/index.ts';
import { absent } from './emulated.ts';

const kernels = (closed: string[], name: string) => ({ launch: () => {}, close: () => closed.push(name) });

// claims on a card with six integrals under way ended with a misaligned address on an H200, and an invalid handle on the emulator
test('kernels in use are not unloaded, whatever else is loaded; others are, those asked for least recently first', () => {
  const cache = new CardCache(() => 0);
  const closed: string[] = [];
  const load = (name: string) => cache.module(name, () => kernels(closed, name));
  const own = load('own');
  for (let i = 0; i < 200; i++) {
    load(`${i}`);
    cache.release(`${i}`);
  }
  expect(load('own')).toBe(own);
  expect(closed).toEqual(Array.from({ length: 137 }, (_, i) => `${i}`)); // 63 are beside it
  cache.release('own');
  cache.release('own');
  expect(closed).not.toContain('own');
  for (let i = 200; i < 264; i++) {
    load(`${i}`);
    cache.release(`${i}`);
  }
  expect(closed).toContain('own');
});

test('more kernels than are kept may be in use; they make room when they are not', () => {
  const cache = new CardCache(() => 0);
  const closed: string[] = [];
  for (let i = 0; i < 100; i++) cache.module(`${i}`, () => kernels(closed, `${i}`));
  expect(closed).toEqual([]);
  for (let i = 0; i < 100; i++) cache.release(`${i}`);
  expect(closed.length).toBe(36);
});

test.skipIf(absent)('runs give back all kernels that they have asked for', async () => {
  const [asked, released] = [
    vi.spyOn(CardCache.prototype, 'module'),
    vi.spyOn(CardCache.prototype, 'release'),
  ];
  const f = ([x, y]: number[]) => Math.exp(-x * x - y);
  const several = ([x, y]: number[]) => [x * y, Math.exp(x - y)];
  for (const method of ['vegas+', 'pagani', 'zmc', 'lattice', 'auto'] as const) {
    await integrate(f, { dims: 2, method, device: 'cuda:0', maxEvaluations: 3e5 });
    await integrate(several, { dims: 2, method, device: 'cuda:0', maxEvaluations: 3e5 });
  }
  await new Promise(resolve => setTimeout(resolve, 50));
  expect(asked.mock.calls.length).toBeGreaterThan(10);
  const names = (spy: { mock: { calls: unknown[][] } }) => spy.mock.calls.map(([key]) => key).sort();
  expect(names(released)).toEqual(names(asked));
});
