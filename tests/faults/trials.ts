/**
 * Trials of runs under faults, each compared with the same run undisturbed: the same bits, or a named error. Used by
 * `npm test` in small numbers and by bench/faults.ts in large ones. A source of faults is an entry of `TRIALS`.
 */
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { WorkerPool } from '../../src/devices/cpu/worker-pool.ts';
import { JsDevice } from '../../src/devices/js/js.ts';
import {
  type CommonOptions,
  type Device,
  DeviceError,
  type Integrand,
  integrate,
  type Result,
} from '../../src/index.ts';
import { failCompile, failMemories, memoriesFailIn, restore, watchWorkers, workers } from './inject.ts';

/** What came of the trials of one kind. */
export interface Tally {
  runs: number;
  /** Faults that really happened: kills, aborts, failures. */
  faults: number;
  /** Runs with a named error. */
  refused: number;
  /** Runs whose result has other bits. */
  wrong: number;
  /** Runs that did not return in time, or ended with an error that names no cause. */
  lost: number;
  /** Workers that were left open. */
  leaked: number;
}

export interface Trial {
  name: string;
  /** Whether a run may end with a named error; otherwise each has to go on. */
  mayRefuse?: boolean;
  /** Makes `runs` runs. `random` gives numbers between 0 and 1. */
  run(runs: number, random: () => number): Promise<Tally>;
}

/** Milliseconds after which a run is lost. It tells an end from none, and is generous: machines may be busy. */
const LOST_MS = 60_000;

type Devices = { cpu: Device; js: Device };
type Run = (devices: Devices, signal?: AbortSignal) => Promise<Result>;

const f: Integrand = ([x, y]) => Math.exp(-x * y) + Math.sqrt(Math.abs(x - y));
/** A loop whose end the compiler cannot see: it always runs in workers. */
const g: Integrand = ([x, y]) => {
  let r = 1;
  while (Math.abs(r * r - x - 1) > 1e-12) r = (r + (x + 1) / r) / 2;
  return r + y;
};
const vegas = { method: 'vegas+', relTol: 0, vegas: { evaluations: 150_000, iterations: 3 } } as const;
const pagani = { method: 'pagani', relTol: 1e-7, maxEvaluations: 1e6 } as const;

const run =
  (f: Integrand, kind: keyof Devices, options: Partial<CommonOptions>): Run =>
  (devices, signal) =>
    integrate(f, { dims: 2, ...options, device: devices[kind], ...(signal && { signal }) });

/** By samples and by regions, compiled and as they are. */
const RUNS = [run(f, 'cpu', vegas), run(f, 'cpu', pagani), run(g, 'cpu', vegas), run(f, 'js', vegas)];

/** An integrand that no run before had, with other instructions: its module has to be compiled. */
function newRun(): Run {
  const terms = [...(++made).toString(2)].map((bit, i) =>
    bit === '1' ? `Math.sqrt(x[0] + ${i})` : 'x[1] * x[1]',
  );
  const f = new Function('x', `return ${terms.join(' / (1 + ').concat(')'.repeat(terms.length - 1))}`);
  return run(f as Integrand, 'cpu', made % 2 ? vegas : pagani);
}
let made = 0;

/** Params of 17 MB: a memory of that size is not kept for the next run. */
const large = { c: new Float64Array(17 << 17).map((_, i) => i % 7) };
const readsLarge: Integrand = ([x, y], p) => x + y * p.c[Math.floor(x * 1000)];
const LARGE_RUNS = [vegas, pagani].map(options => run(readsLarge, 'cpu', { ...options, params: large }));

const bitsOf = ({ value, error, evaluations, status }: Result) =>
  `${value} ${error} ${evaluations} ${status}`;
const truths = new Map<Run, string>();

/** The bits of a run that nothing disturbs. */
async function truthOf(run: Run): Promise<string> {
  const truth = truths.get(run) ?? bitsOf(await onDevices(run));
  truths.set(run, truth);
  return truth;
}

async function onDevices<T>(work: (devices: Devices) => Promise<T>): Promise<T> {
  const pool = new WorkerPool('cpu', 2);
  try {
    return await work({ cpu: new CpuDevice(pool), js: new JsDevice(pool) });
  } finally {
    pool.close();
  }
}

/** How a run ended: with its result, an error, or not at all. */
type Ended = { result?: Result; error?: unknown };

function ended(run: Promise<Result>): Promise<Ended> {
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve({}), LOST_MS);
    run
      .then(
        result => resolve({ result }),
        error => resolve({ error }),
      )
      .finally(() => clearTimeout(timer));
  });
}

const emptyTally = (): Tally => ({ runs: 0, faults: 0, refused: 0, wrong: 0, lost: 0, leaked: 0 });

function count(tally: Tally, { result, error }: Ended, truth: string): void {
  tally.runs++;
  if (result) {
    const stopped = result.status === 'aborted' || result.status === 'time';
    if (!stopped && bitsOf(result) !== truth) tally.wrong++;
  } else if (error instanceof DeviceError || /^a worker died/.test((error as Error)?.message))
    tally.refused++;
  else tally.lost++;
}

/** Waits until closed workers have ended, and counts those that have not. */
async function leaks(): Promise<number> {
  const until = performance.now() + LOST_MS;
  while (workers.size > 0 && performance.now() < until) await new Promise(resolve => setTimeout(resolve, 20));
  return workers.size;
}

/** Something fails at the first, second, … time, up to `times`, or from then on. */
function failing(
  name: string,
  inject: (fails: (n: number) => boolean) => void,
  runAt: (i: number) => Run = i => RUNS[i % RUNS.length],
  { times = 4, mayRefuse = false } = {},
): Trial {
  return {
    name,
    mayRefuse,
    async run(runs) {
      const tally = emptyTally();
      for (let i = 0; i < runs; i++) {
        const first = 1 + (Math.floor(i / 8) % times);
        const always = Math.floor(i / 4) % 2 === 1;
        const fails = (n: number) => (always ? n >= first : n === first) && ++tally.faults > 0;
        const run = runAt(i);
        watchWorkers();
        inject(fails);
        const end = await onDevices(devices => ended(run(devices)));
        restore();
        count(tally, end, await truthOf(run));
      }
      tally.leaked = await leaks();
      return tally;
    },
  };
}

/** Kills workers of a run, one after another, at random times. */
const kills: Trial = {
  name: 'workers killed',
  async run(runs, random) {
    const tally = emptyTally();
    for (const run of RUNS) await truthOf(run);
    watchWorkers();
    await onDevices(async devices => {
      for (let i = 0; i < runs; i++) {
        const run = RUNS[i % RUNS.length];
        let over = false;
        const end = ended(run(devices)).finally(() => {
          over = true;
        });
        // fewer than three per run: a part that three workers die at is taken for the cause
        for (let kill = 0; kill < 2; kill++) {
          await new Promise(resolve => setTimeout(resolve, 25 * random()));
          const alive = [...workers];
          if (over || alive.length === 0) continue;
          tally.faults++;
          void alive[Math.floor(random() * alive.length)].terminate();
        }
        count(tally, await end, await truthOf(run));
      }
    });
    restore();
    tally.leaked = await leaks();
    return tally;
  },
};

/** Aborts seven of eight runs that go on beside each other, at random times; the eighth has its bits. */
const aborts: Trial = {
  name: 'runs aborted',
  async run(runs, random) {
    const tally = emptyTally();
    for (const run of RUNS) await truthOf(run);
    watchWorkers();
    await onDevices(async devices => {
      for (let i = 0; i < runs; i += 8) {
        const beside = Array.from({ length: 8 }, async (_, k) => {
          const run = RUNS[Math.floor(random() * RUNS.length)];
          const stop = new AbortController();
          if (k > 0) setTimeout(() => stop.abort(), 60 * random());
          const end = await ended(run(devices, stop.signal));
          if (end.result?.status === 'aborted') tally.faults++;
          count(tally, end, await truthOf(run));
        });
        await Promise.all(beside);
      }
    });
    restore();
    tally.leaked = await leaks();
    return tally;
  },
};

export const TRIALS: readonly Trial[] = [
  kills,
  aborts,
  failing('start of a worker refused', fails => watchWorkers({ startThrows: fails })),
  failing('a worker dies while it starts', fails => watchWorkers({ startDies: fails })),
  failing('no memory on the calling thread', failMemories, i => LARGE_RUNS[i % LARGE_RUNS.length], {
    times: 2,
    mayRefuse: true,
  }),
  failing('no memory in a worker', fails =>
    watchWorkers({ prefix: n => (fails(n) ? memoriesFailIn(() => true) : '') }),
  ),
  failing('a module is not compiled', failCompile, newRun, { times: 2, mayRefuse: true }),
];
