/** However a run ends, what it opened is closed: sessions, pools of regions, memory. */
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { WorkerPool } from '../../src/devices/cpu/worker-pool.ts';
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import type { Device, Session } from '../../src/devices/device.ts';
import { JsDevice } from '../../src/devices/js/js.ts';
import { type CommonOptions, type Integrand, integrate } from '../../src/index.ts';
import { NO_OUTCOME } from '../../src/methods/method.ts';
import { METHOD_NAMES, type MethodName } from '../../src/methods/names.ts';
import { HostPool } from '../../src/tasks/pool/host-pool.ts';
import { absent } from '../cuda/emulated.ts';
import { countMemories, countNoMore, madeInWorker } from '../devices/count-memories.ts';
import { lowerFor } from '../devices/program.ts';
import { wrappedSession } from '../devices/wrapped.ts';
import { catalogue } from '../integrands/catalogue.ts';
import { start } from './problem.ts';

let opened = { sessions: 0, pools: 0 };
let closed = { sessions: 0, pools: 0 };

/** The session, counted; and pools in the memory of its device. */
function counted(session: Session): Session {
  opened.sessions++;
  return wrappedSession(session, own => ({
    close() {
      closed.sessions++;
      own.close();
    },
    ...(own.pool && {
      async pool(task, signal) {
        const pool = await own.pool!(task, signal);
        opened.pools++;
        const close = pool.close.bind(pool);
        pool.close = () => {
          closed.pools++;
          close();
        };
        return pool;
      },
    }),
  }));
}

beforeEach(() => {
  opened = { sessions: 0, pools: 0 };
  closed = { sessions: 0, pools: 0 };
  for (const kind of [CpuDevice, CudaDevice, JsDevice]) {
    const open: Device['open'] = kind.prototype.open;
    vi.spyOn(kind.prototype as Device, 'open').mockImplementation(async function (this: Device, ...args) {
      return counted(await open.apply(this, args));
    });
  }
  const { start: begin, close } = HostPool.prototype;
  vi.spyOn(HostPool.prototype, 'start').mockImplementation(function (this: HostPool, level) {
    opened.pools++;
    return begin.call(this, level);
  });
  vi.spyOn(HostPool.prototype, 'close').mockImplementation(function (this: HostPool) {
    closed.pools++;
    close.call(this);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  countNoMore();
});

function expectClosed(method: MethodName): void {
  expect(closed).toEqual(opened);
  expect(opened.sessions).toBe(1);
  if (method === 'pagani' || method === 'auto') expect(opened.pools).toBe(1);
}

const smooth: Integrand = ([x, y]) => Math.exp(-x - y);
/** Bends everywhere: 1e-13 is out of reach. */
const kinks: Integrand = ([x, y]) => Math.sqrt(Math.abs(x - 0.3 * y)) + Math.abs(y - x);
const holes: Integrand = ([x, y]) => (y > 0.4 ? 1 / (x - x) : x);
const endless = { relTol: 1e-13, maxEvaluations: 1e12 };

type Run = (f: Integrand, options: Partial<CommonOptions>) => Promise<string>;

/** How runs end: what they end with, and how they are made to. */
const WAYS: [string, RegExp, (run: Run) => Promise<string>][] = [
  ['done', /converged/, run => run(smooth, { relTol: 1e-2 })],
  ['out of budget', /budget/, run => run(kinks, { relTol: 1e-13, maxEvaluations: 2e4 })],
  [
    'aborted after an iteration',
    /aborted/,
    run => {
      const stop = new AbortController();
      const onProgress = ({ iteration }: { iteration: number }) => iteration === 2 && stop.abort();
      return run(kinks, { ...endless, signal: stop.signal, onProgress });
    },
  ],
  [
    'aborted while the device is at work',
    /aborted/,
    run => {
      const stop = new AbortController();
      setTimeout(() => stop.abort(), 40);
      return run(kinks, { ...endless, signal: stop.signal });
    },
  ],
  ['aborted before it began', /aborted/, run => run(kinks, { signal: AbortSignal.abort() })],
  ['maxTime is over', /time/, run => run(kinks, { ...endless, maxTime: 40 })],
  ['a value that is not finite', /the integrand is (NaN|Infinity)/, run => run(holes, {})],
  [
    'onProgress throws',
    /enough of that/,
    run =>
      run(kinks, {
        ...endless,
        onProgress({ iteration }) {
          if (iteration === 2) throw new Error('enough of that');
        },
      }),
  ],
];

const runOn =
  (device: Device | string, method: MethodName): Run =>
  (f, options) =>
    integrate(f, { dims: 2, method, device, ...options }).then(
      r => r.status,
      (e: Error) => e.message,
    );

/** A run that is stopped with return() after some iterations. */
async function returned(device: Device, method: MethodName, iterations: number): Promise<void> {
  const session = await device.open(lowerFor(kinks, 2));
  const run = start(method, session, 2, endless);
  for (let i = 0; i < iterations; i++) await run.next({ maxEvaluations: 1e12 });
  await run.return(NO_OUTCOME);
  session.close();
}

/** Integrals of `auto` in which both methods run, and one of them wins. */
const RACES = [
  ['pagani', 'cosine_10', 1e-4],
  ['vegas+', 'f6_6', 1e-2],
] as const;

async function race(device: Device, winner: string, name: string, relTol: number): Promise<void> {
  const { f, domain, params = {} } = catalogue.find(e => e.name === name)!;
  const methods = new Set<string>();
  const options = { domain, params, relTol, maxEvaluations: 3e6, device };
  const r = await integrate(f as never, { ...options, onProgress: p => methods.add(p.method) });
  expect([r.method, r.status]).toEqual([winner, 'converged']);
  expect([...methods].sort()).toEqual(['pagani', 'vegas+']);
}

const pool = new WorkerPool('cpu', 1);
const cpu = new CpuDevice(pool);
afterAll(() => cpu.close());

describe.each(METHOD_NAMES)('%s on the CPU', method => {
  test.each(WAYS)('%s', async (_, end, way) => {
    expect(await way(runOn(cpu, method))).toMatch(end);
    expectClosed(method);
  });
  test.each([1, 3])('stopped with return() after iteration %i', async iterations => {
    await returned(cpu, method, iterations);
    expectClosed(method);
  });
  test('an integrand that throws', async () => {
    const thrower: Integrand = ([x]) => {
      if (x > 0.7) throw new Error('not here');
      return x;
    };
    expect(await runOn('js', method)(thrower, {})).toMatch('not here');
    expectClosed(method);
  });
});

test.each(RACES)('auto on the CPU: the loser is closed too where %s wins', async (...of) => {
  await race(cpu, ...of);
  expectClosed('auto');
});

describe.skipIf(absent)('on a card', () => {
  const METHODS: MethodName[] = ['vegas+', 'two-phase', 'pagani', 'auto'];
  test.each(METHODS.flatMap(m => WAYS.map(([name, end, way]) => [m, name, end, way] as const)))(
    '%s: %s',
    async (method, _, end, way) => {
      const device = new CudaDevice(0);
      await runOn(device, method)(kinks, { maxEvaluations: 1e4 }); // kernels are compiled
      const before = { ...opened };
      expect(await way(runOn(device, method))).toMatch(end);
      expect(closed).toEqual(opened);
      expect(opened.sessions).toBe(before.sessions + 1);
      await device.close();
    },
  );
  test.each(METHODS)('%s: stopped with return()', async method => {
    const device = new CudaDevice(0);
    await returned(device, method, 2);
    expectClosed(method);
    await device.close();
  });
  test.each(RACES)('auto: the loser is closed too where %s wins', async (...of) => {
    const device = new CudaDevice(0);
    await race(device, ...of);
    expectClosed('auto');
    await device.close();
  });
});

test('50 runs that end in all these ways, by all methods, make no more than 8 memories a thread', async () => {
  const here = countMemories();
  await madeInWorker(pool);
  for (let n = 0; n < 50; n++) {
    const method = METHOD_NAMES[n % METHOD_NAMES.length];
    const [, end, way] = WAYS[n % WAYS.length];
    // each has a program of its own
    const run: Run = (f, options) =>
      runOn(cpu, method)(new Function('x', `return (${f})(x) + ${n} * x[1]`) as never, options);
    expect(await way(run)).toMatch(end);
    await returned(cpu, method, 1);
  }
  expect(here.made).toBeLessThanOrEqual(8);
  expect(await madeInWorker(pool)).toBeLessThanOrEqual(8);
});
