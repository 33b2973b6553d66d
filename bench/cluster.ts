/**
 * What a cluster costs: node scripts/run.mjs bench/cluster.ts [--budget 1e9] [--workers 1,2,4,8]
 *
 * 1. The efficiency of local workers with one thread each: the time of the CPU device with as many threads over theirs. Both
 *    have the same cores, so it is 1 where the cluster costs nothing, however many cores the machine has.
 * 2. The overhead of an iteration: what a small task takes beyond its time on the CPU device.
 * 3. A simulation of 200 workers behind a network with delays, from the measured cost of a result at the coordinator, and what
 *    10,000 workers would need.
 *
 * It needs nats-server. Workers are processes of this file.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cluster, integrate } from 'quadrille';
import { digestOf, fromBytes, toBytes } from '../src/devices/cluster/packing.ts';
import { cut } from '../src/devices/cluster/sizes.ts';
import { work } from '../src/devices/cluster/worker.ts';
import { CpuDevice } from '../src/devices/cpu/cpu.ts';
import { mergeParts, type PartSums, type SampleTask } from '../src/tasks/sample.ts';
import { solveWholes } from '../src/whole-integrals.ts';

const [, , first, second, third] = process.argv;
const PORT = 24_222;
const URL = `nats://127.0.0.1:${PORT}`;

if (first === 'worker') {
  await work({ servers: second, name: third, device: new CpuDevice(1), solve: solveWholes });
  process.exit();
}

const option = (name: string, otherwise: string) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const budget = Number(option('budget', '1e9'));
const counts = option('workers', '1,2,4,8').split(',').map(Number);

const pause = (ms: number) => new Promise<void>(done => setTimeout(done, ms));
const roos = (x: number[]) => {
  let product = 1;
  for (let d = 0; d < 6; d++) product *= Math.abs(4 * x[d] - 2);
  return product;
};
const options = { dims: 6, method: 'vegas+', relTol: 1e-12, maxEvaluations: budget } as const;

const store = mkdtempSync(join(tmpdir(), 'cluster-bench-'));
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
const server = spawn('nats-server', ['-js', '-a', '127.0.0.1', '-p', `${PORT}`, '-sd', store], {
  stdio: 'ignore',
  env,
});
try {
  await pause(1500);
  await efficiency();
  await overhead();
  simulate();
} finally {
  server.kill();
  rmSync(store, { recursive: true, force: true });
}

async function withWorkers<T>(count: number, run: () => Promise<T>): Promise<T> {
  const workers: ChildProcess[] = Array.from({ length: count }, (_, i) =>
    spawn(process.execPath, [process.argv[1], 'worker', URL, `w${i + 1}`], { stdio: 'inherit', env }),
  );
  try {
    await pause(1500);
    return await run();
  } finally {
    for (const w of workers) w.kill('SIGKILL');
  }
}

async function timed<T>(run: () => Promise<T>): Promise<[T, number]> {
  const start = performance.now();
  return [await run(), performance.now() - start];
}

async function efficiency(): Promise<void> {
  console.log(`vegas+, 6 dimensions, ${budget.toExponential()} evaluations\n`);
  console.log('workers   cluster     cpu   efficiency   same bits');
  for (const n of counts) {
    const cpu = new CpuDevice(n);
    await integrate(roos, { ...options, maxEvaluations: 1e6, device: cpu }); // threads and code are ready
    const [alone, cpuMs] = await timed(() => integrate(roos, { ...options, device: cpu }));
    await cpu.close();
    const [shared, clusterMs] = await withWorkers(n, async () => {
      const device = cluster({ servers: URL });
      await integrate(roos, { ...options, maxEvaluations: 1e6, device });
      const found = await timed(() => integrate(roos, { ...options, device }));
      await device.close();
      return found;
    });
    const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`.padStart(8);
    const same = shared.value === alone.value && shared.error === alone.error;
    console.log(
      `${`${n}`.padStart(7)}  ${seconds(clusterMs)}${seconds(cpuMs)}   ${(cpuMs / clusterMs).toFixed(2).padStart(10)}   ${same ? 'yes' : 'NO'}`,
    );
  }
}

/** Iterations of 70,000 samples, which are too large for the coordinator itself. */
async function overhead(): Promise<void> {
  const small = {
    dims: 6,
    method: 'plain',
    relTol: 1e-12,
    vegas: { evaluations: 70_000, iterations: 60 },
  } as const;
  await withWorkers(1, async () => {
    const [cpu, shared] = [new CpuDevice(1), cluster({ servers: URL })];
    const ms: number[] = [];
    for (const device of [cpu, shared]) {
      await integrate(roos, { ...small, device });
      const [r, took] = await timed(() => integrate(roos, { ...small, device }));
      ms.push(took / r.iterations.length);
      await device.close();
    }
    console.log(
      `\nan iteration of 70,000 samples: ${ms[0].toFixed(2)} ms on the CPU device, ${ms[1].toFixed(2)} ms with a worker: ${(ms[1] - ms[0]).toFixed(2)} ms more`,
    );
  });
}

/** Milliseconds that the coordinator takes for a result with a histogram of so many bins. */
function resultCost(bins: number, dims: number): number {
  const task = { strata: Array(dims).fill(4), counts: 1000, bins } as unknown as SampleTask;
  const sums: PartSums = {
    part: { first: 0, count: 1 },
    evaluations: 65_536,
    nodes: new Float64Array(3),
    histogram: Float64Array.from({ length: bins * dims }, (_, i) => i * i),
    squares: 1,
    cubes: null,
    nonFinite: null,
  };
  const bytes = toBytes(sums);
  const repeats = 200;
  const start = performance.now();
  for (let i = 0; i < repeats; i++) {
    digestOf(bytes);
    const read = fromBytes(bytes) as PartSums;
    mergeParts(task, { first: 0, count: 2 }, [read, { ...read, part: { first: 1, count: 1 } }]);
  }
  return (performance.now() - start) / repeats;
}

/**
 * Workers that take parts from a queue: a job costs a round trip, the coordinator takes results one by one, and an iteration
 * ends when the last result is there. The efficiency is work/(workers · time).
 */
function simulated(workers: number, seconds: number, delay: number, cost: number): number {
  const rate = 1e4; // evaluations per millisecond
  const each = 65_536;
  const groups = Math.ceil((seconds * 1000 * rate * workers) / each);
  const free = new Float64Array(workers); // when each worker is free
  let [coordinator, end, busy] = [0, 0, 0];
  const results: number[] = [];
  for (const { count } of cut({ first: 0, count: groups }, each, workers, rate)) {
    let next = 0;
    for (let w = 1; w < workers; w++) if (free[w] < free[next]) next = w;
    const ms = (count * each) / rate;
    busy += ms;
    free[next] += 2 * delay + ms;
    results.push(free[next] + delay);
  }
  for (const arrives of results.sort((a, b) => a - b)) {
    coordinator = Math.max(coordinator, arrives) + cost;
    end = coordinator;
  }
  return busy / (workers * (end + delay));
}

function simulate(): void {
  const cost = resultCost(1000, 8);
  console.log(
    `\na result with a histogram of 8,000 bins takes the coordinator ${cost.toFixed(2)} ms (decoding, digest, merging)`,
  );
  console.log('simulated efficiency of an iteration, by its time on all workers together\n');
  console.log('workers   delay     1 s    10 s    60 s');
  for (const workers of [200, 1000, 10_000])
    for (const delay of [1, 10, 50]) {
      const row = [1, 10, 60].map(s => simulated(workers, s, delay, cost).toFixed(2).padStart(6));
      console.log(`${`${workers}`.padStart(7)}  ${`${delay} ms`.padStart(6)}  ${row.join('  ')}`);
    }
  const perSecond = 10_000 / 2;
  console.log(
    `\n10,000 workers with parts of 2 s send ${perSecond} results per second: ${((perSecond * cost) / 1000).toFixed(1)} threads of a coordinator, and ${((perSecond * 64) / 1000).toFixed(0)} MB/s at the server.`,
  );
}
