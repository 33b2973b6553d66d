/**
 * Engines share the memories of their thread: a page has address space for about a hundred in all. How many there are
 * does not depend on how many integrals there were, and who had a memory before changes no bit.
 */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { type MemoryUser, makeMemoryPool } from '../../src/devices/cpu/memory-pool.ts';
import { WorkerPool } from '../../src/devices/cpu/worker-pool.ts';
import { type Integrand, integrate, type Result, scan } from '../../src/index.ts';
import { countMemories, countNoMore, madeInWorker } from './count-memories.ts';

const PAGE = 65_536;

/** A user that writes down what happens to it. */
function tenantOf(name: string, log: string[], size = PAGE): MemoryUser & { memory?: WebAssembly.Memory } {
  return {
    size,
    enter(memory) {
      this.memory = memory;
      log.push(`${name} enters`);
    },
    leave: () => log.push(`${name} leaves`),
  };
}

const { Memory } = WebAssembly;
afterEach(countNoMore);

describe('the memories of a thread', () => {
  test('one for all: who comes writes everything, who goes is asked first', () => {
    const log: string[] = [];
    const memories = makeMemoryPool(1);
    const [a, b] = [tenantOf('a', log), tenantOf('b', log)];
    const count = countMemories();
    for (const t of [a, a, b, b, a]) memories.use(t, () => log.push('works'));
    expect(log.join(', ')).toBe(
      'a enters, works, works, a leaves, b enters, works, works, b leaves, a enters, works',
    );
    expect([count.made, a.memory]).toEqual([1, b.memory]);
  });
  test('two of them: the one that was not used for longest is handed over', () => {
    const log: string[] = [];
    const memories = makeMemoryPool(2);
    const [a, b, c] = ['a', 'b', 'c'].map(name => tenantOf(name, log));
    for (const t of [a, b, a, c, a, b]) memories.use(t, () => {});
    expect(log.join(', ')).toBe('a enters, b enters, b leaves, c enters, c leaves, b enters');
  });
  test('one more for each that waits in the middle of its work', async () => {
    const log: string[] = [];
    const memories = makeMemoryPool(1);
    const [a, b, c] = ['a', 'b', 'c'].map(name => tenantOf(name, log));
    let finish = () => {};
    const work = memories.use(a, () => new Promise<void>(resolve => (finish = resolve)));
    memories.use(b, () => {});
    memories.use(c, () => {});
    expect(log).toEqual(['a enters', 'b enters', 'b leaves', 'c enters']);
    expect(c.memory).not.toBe(a.memory);
    finish();
    await work;
    memories.use(b, () => {});
    expect([log.at(-2), b.memory]).toEqual(['a leaves', a.memory]);
  });
  test('free again when the work throws, at once or later', async () => {
    const memories = makeMemoryPool(1);
    const [a, b] = [tenantOf('a', []), tenantOf('b', [])];
    const boom = () => {
      throw new Error('boom');
    };
    expect(() => memories.use(a, boom)).toThrow('boom');
    await expect(memories.use(a, async () => boom())).rejects.toThrow('boom');
    memories.use(b, () => {});
    expect(b.memory).toBe(a.memory);
  });
  test('grows for who needs more; after 16 MiB the next one has a new one', () => {
    const memories = makeMemoryPool(8);
    const sizes = [1, PAGE + 1, 2 ** 24, 2 ** 24 + 1, 1];
    const tenants = sizes.map(size => tenantOf('', [], size));
    for (const t of tenants) {
      memories.use(t, () => expect(t.memory!.buffer.byteLength).toBeGreaterThanOrEqual(t.size));
      memories.close(t);
    }
    expect(new Set(tenants.slice(0, 4).map(t => t.memory)).size).toBe(1);
    expect(tenants[4].memory).not.toBe(tenants[3].memory);
  });
  test('where no more can be had, one is handed over instead', () => {
    const memories = makeMemoryPool(8);
    const [a, b] = [tenantOf('a', []), tenantOf('b', [])];
    memories.use(a, () => {});
    WebAssembly.Memory = class extends Memory {
      constructor() {
        super({ initial: 2 ** 17 }); // more than there can be
      }
    };
    memories.use(b, () => {});
    expect(b.memory).toBe(a.memory);
    const waits = memories.use(b, () => new Promise(() => {}));
    expect(waits).toBeInstanceOf(Promise);
    expect(() => memories.use(a, () => {})).toThrow('no WebAssembly memory of 65536 bytes');
  });
});

const pool = new WorkerPool('cpu', 1);
const device = new CpuDevice(pool);
afterAll(() => device.close());

/** Integrands of so many programs. */
const programs = (n: number) =>
  Array.from(
    { length: n },
    (_, i) => new Function('x', `return Math.exp(-x[0] * ${i + 1}) + x[1]`) as Integrand,
  );
const protocol = { relTol: 0, vegas: { evaluations: 70_000, iterations: 3 } };

/** What `mostMemories` allows; how many are made depends on which integrals happen to be at work together. */
const MOST = 16;

describe('no more than 16 a thread', () => {
  test('for 100 integrals one after the other, on this thread and in a worker', async () => {
    const here = countMemories();
    await madeInWorker(pool);
    for (const f of programs(100)) await integrate(f, { ...protocol, dims: 2, device });
    for (const f of programs(100)) await integrate(f, { dims: 2, relTol: 1e-2, device });
    expect(here.made).toBeLessThanOrEqual(MOST);
    expect(await madeInWorker(pool)).toBeLessThanOrEqual(MOST);
  });
  test('for a scan of 120 sets in 60 shapes, by auto', async () => {
    const here = countMemories();
    await madeInWorker(pool);
    const params = Array.from({ length: 120 }, (_, i) => ({ c: new Float64Array(1 + (i % 60)).fill(i) }));
    const f: Integrand = ([x, y], p) => Math.sqrt(Math.abs(x - y)) * p.c[p.c.length - 1];
    const results = await scan(f, { dims: 2, relTol: 1e-3, maxEvaluations: 2e5, params, device });
    expect(results.filter(r => r.status === 'failed')).toEqual([]);
    expect(here.made).toBeLessThanOrEqual(MOST);
    expect(await madeInWorker(pool)).toBeLessThanOrEqual(MOST);
  });
});

describe('30 integrals at a time, who have the memories by turns: the bits of each alone', () => {
  const found = ({ value, error, evaluations, iterations }: Result) => ({
    value,
    error,
    evaluations,
    iterations,
  });
  test.each([
    ['by vegas+ in a worker', { ...protocol, method: 'vegas+', device }],
    ['by vegas+ on this thread', { method: 'vegas+', relTol: 1e-3, maxEvaluations: 6e4, device }],
    ['by pagani', { method: 'pagani', relTol: 1e-9, maxEvaluations: 3e5, device }],
    ['by auto', { relTol: 1e-7, maxEvaluations: 3e5, device }],
    ['plain functions', { ...protocol, method: 'vegas+', device: 'js' }],
  ] as const)('%s', async (_, options) => {
    const run = async (f: Integrand) => found(await integrate(f, { ...options, dims: 2 }));
    const alone: object[] = [];
    for (const f of programs(30)) alone.push(await run(f));
    expect(await Promise.all(programs(30).map(run))).toEqual(alone);
  });
  test('async functions, which wait in the middle of a batch', async () => {
    const run = (i: number) => {
      const f = async ([x, y]: number[]) => {
        if (x < 0.01) await new Promise(resolve => setTimeout(resolve, i % 3));
        return Math.exp(-x * i) + y;
      };
      return integrate(f as never, { dims: 2, method: 'vegas+', device: 'js', relTol: 0, vegas: small }).then(
        found,
      );
    };
    const small = { evaluations: 2000, iterations: 2, adapt: 1 };
    const alone: object[] = [];
    for (let i = 0; i < 30; i++) alone.push(await run(i));
    expect(await Promise.all(alone.map((_, i) => run(i)))).toEqual(alone);
  });
});

test('what an async function gives after its run was aborted does not get into the next one', async () => {
  const stop = new AbortController();
  const late = async ([x]: number[]) => {
    await new Promise(resolve => setTimeout(resolve, x < 0.5 ? 20 : 60));
    return 1e6;
  };
  const options = {
    dims: 1,
    method: 'vegas+',
    device: 'js',
    vegas: { evaluations: 2000, iterations: 4 },
  } as const;
  const first = integrate(late as never, { ...options, signal: stop.signal });
  setTimeout(() => stop.abort(), 30);
  expect((await first).status).toBe('aborted');
  const next = async ([x]: number[]) => {
    await new Promise(resolve => setTimeout(resolve, 5));
    return x;
  };
  expect((await integrate(next as never, options)).value).toBeCloseTo(0.5, 1);
});
