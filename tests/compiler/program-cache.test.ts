/** Which integrands share a program, and how long a program is kept. */
import { describe, expect, test } from 'vitest';
import { makeDomain } from '../../src/integrand/make-domain.ts';
import { cachedProgram } from '../../src/integrand/program-cache.ts';
import { RecentCache } from '../../src/integrand/recent-cache.ts';
import { integrate } from '../../src/integrate.ts';

const unit = (dims: number) => makeDomain(Array.from({ length: dims }, () => [0, 1] as const)).axes;

describe('programs', () => {
  const closure = () => (x: number[], p: { a: number }) => x[0] * p.a;
  test('a closure that is made anew is not compiled anew', () => {
    expect(closure()).not.toBe(closure());
    const [first, second] = [1, 2].map(a => cachedProgram(closure(), 2, { a }, unit(2)));
    expect(second).toBe(first);
  });
  test('other dims, params of another shape, and infinite ranges have programs of their own', () => {
    const f = (x: number[]) => x[0] + 1;
    const line = [0, 1, 2].map(a => makeDomain([[a, Infinity]]).axes);
    const all = [
      cachedProgram(f, 1, {}, unit(1)),
      cachedProgram(f, 2, {}, unit(2)),
      cachedProgram(f, 1, { a: 1 }, unit(1)),
      cachedProgram(f, 1, { a: new Float64Array(3) }, unit(1)),
      cachedProgram(f, 1, { a: new Float64Array(4) }, unit(1)),
      ...line.map(axes => cachedProgram(f, 1, {}, axes)),
    ];
    expect(new Set(all).size).toBe(all.length);
    expect(cachedProgram(f, 1, {}, makeDomain([[3, 7]]).axes)).toBe(all[0]);
  });
  test('functions with one text and another meaning are still told apart', async () => {
    const meaning = (library: unknown) =>
      new Function('Math', 'return ([x]) => Math.sqrt(x)')(library) as (x: number[]) => number;
    const options = { dims: 1, relTol: 1e-6 };
    expect((await integrate(meaning(Math), options)).value).toBeCloseTo(2 / 3, 5);
    await expect(integrate(meaning({ sqrt: () => 5 }), options)).rejects.toThrow(/the function gives 5, but/);
  });
});

describe('what is kept', () => {
  test('what was used longest ago makes room', () => {
    const cache = new RecentCache<string>(10);
    for (const key of ['a', 'b', 'c']) cache.set(key, key, 3);
    expect(cache.get('a')).toBe('a');
    cache.set('d', 'd', 3);
    expect(['a', 'b', 'c', 'd'].map(k => cache.get(k))).toEqual(['a', undefined, 'c', 'd']);
    cache.set('e', 'e', 10);
    expect(['a', 'c', 'd', 'e'].map(k => cache.get(k))).toEqual([undefined, undefined, undefined, 'e']);
  });
  test('what is larger than all room is not kept, and takes none', () => {
    const cache = new RecentCache<string>(10);
    cache.set('a', 'a', 10);
    cache.set('b', 'b', 11);
    expect([cache.get('a'), cache.get('b')]).toEqual(['a', undefined]);
  });
  test('a value in the place of another takes its room, not more', () => {
    const cache = new RecentCache<number>(10);
    for (let i = 0; i < 5; i++) cache.set('a', i, 6);
    cache.set('b', 1, 4);
    expect([cache.get('a'), cache.get('b')]).toEqual([4, 1]);
  });
});
