/**
 * What a cluster costs: node scripts/run.mjs bench/cluster.ts [--budget 1e9] [--workers 1,2,4,8] [--nats-server PATH]
 *
 * 1. The efficiency of local workers with one thread each: the time of the CPU device with as many threads over theirs. Both
 *    have the same cores, so it is 1 where the cluster costs nothing, however many cores the machine has. Below it stands where the
 *    time of workers and coordinator went.
 * 2. The overhead of an iteration: what a small task takes beyond its time on the CPU device.
 * 3. A simulation of 200 workers behind a network with delays, and what 10,000 workers would need (cluster-simulation.ts).
 *
 * It needs nats-server. Workers are processes of this file. `node scripts/gpu.mjs FOLDER` bundles it for a machine without
 * node_modules: node FOLDER/cluster.mjs --nats-server PATH.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import * as jetstream from '@nats-io/jetstream';
import * as core from '@nats-io/transport-node';
import { cluster, type Device, integrate, type Result } from 'quadrille';
import { connect } from '../src/devices/cluster/connection.ts';
import { who } from '../src/devices/cluster/presence.ts';
import type { Spent } from '../src/devices/cluster/protocol.ts';
import { work } from '../src/devices/cluster/worker.ts';
import { CpuDevice } from '../src/devices/cpu/cpu.ts';
import { solveWholes } from '../src/whole-integrals.ts';
import { simulate } from './cluster-simulation.ts';

const PORT = 24_222;
const servers = `nats://127.0.0.1:${PORT}`;
/** Handed over, because a bundle has no node_modules to find them in. */
const packages = { core, jetstream };
const { values } = parseArgs({
  options: {
    budget: { type: 'string', default: '1e9' },
    workers: { type: 'string', default: '1,2,4,8' },
    'nats-server': { type: 'string', default: 'nats-server' },
    /** Of a worker process: its name. */
    worker: { type: 'string' },
  },
});

if (values.worker !== undefined) {
  await work({ servers, packages, name: values.worker, device: new CpuDevice(1), solve: solveWholes });
  process.exit();
}

const budget = Number(values.budget);
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`.padStart(8);
const pause = (ms: number) => new Promise<void>(done => setTimeout(done, ms));
const roos = (x: number[]) => {
  let product = 1;
  for (let d = 0; d < 6; d++) product *= Math.abs(4 * x[d] - 2);
  return product;
};
const options = { dims: 6, method: 'vegas+', relTol: 1e-12, maxEvaluations: budget } as const;

const store = mkdtempSync(join(tmpdir(), 'cluster-bench-'));
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
const server = spawn(values['nats-server'], ['-js', '-a', '127.0.0.1', '-p', `${PORT}`, '-sd', store], {
  stdio: 'ignore',
  env,
});
server.once('error', e => {
  console.error(`nats-server does not start (${e.message}); name it with --nats-server PATH`);
  process.exit(1);
});
try {
  await pause(1500);
  console.log(`${availableParallelism()} cores, Node ${process.version}\n`);
  await efficiency();
  await overhead();
  simulate();
} finally {
  server.kill();
  rmSync(store, { recursive: true, force: true });
}

async function withWorkers<T>(count: number, run: () => Promise<T>): Promise<T> {
  const workers: ChildProcess[] = Array.from({ length: count }, (_, i) =>
    spawn(process.execPath, [process.argv[1], '--worker', `w${i + 1}`], { stdio: 'inherit', env }),
  );
  const { nc, close } = await connect({ servers, packages }, 'bench');
  try {
    for (let tries = 0; (await who(nc)).length < count; tries++) {
      if (tries === 60) throw new Error(`not all of ${count} workers have started`);
      await pause(500);
    }
    return await run();
  } finally {
    await close();
    for (const w of workers) w.kill('SIGKILL');
  }
}

/** What a run took. */
interface Taken {
  result: Result;
  /** Milliseconds in all, those in which this thread was busy, and those in which a task was under way. */
  ms: number;
  busy: number;
  inTasks: number;
  tasks: number;
  /** CPU time of this process. */
  cpu: number;
}

async function timed(device: Device, run: (device: Device) => Promise<Result>): Promise<Taken> {
  let [tasks, inTasks] = [0, 0];
  const open: Device['open'] = async (...given) => {
    const session = await device.open(...given);
    const sample = session.sample.bind(session);
    session.sample = async (...task) => {
      const start = performance.now();
      const sums = await sample(...task);
      inTasks += performance.now() - start;
      tasks++;
      return sums;
    };
    return session;
  };
  const { name, kind, epsilon } = device;
  const watched = { name, kind, epsilon, open, close: async () => {} };
  const [start, loop, cpu] = [performance.now(), performance.eventLoopUtilization(), process.cpuUsage()];
  const result = await run(watched);
  const { user, system } = process.cpuUsage(cpu);
  const { active } = performance.eventLoopUtilization(loop);
  return {
    result,
    ms: performance.now() - start,
    busy: active,
    inTasks,
    tasks,
    cpu: (user + system) / 1000,
  };
}

/** Milliseconds that all workers together have spent so far. */
async function spentByWorkers(): Promise<Spent> {
  const { nc, close } = await connect({ servers, packages }, 'bench');
  const all = { waiting: 0, preparing: 0, computing: 0 };
  for (const { spent } of await who(nc))
    for (const what of ['waiting', 'preparing', 'computing'] as const) all[what] += spent![what];
  await close();
  return all;
}

async function efficiency(): Promise<void> {
  console.log(`vegas+, 6 dimensions, ${budget.toExponential()} evaluations; times are per run\n`);
  console.log('workers   cluster     cpu   efficiency   same bits');
  const where: string[] = [];
  for (const n of values.workers.split(',').map(Number)) {
    const rounds = Math.ceil(n / 3); // short runs are repeated
    const cpu = new CpuDevice(n);
    await integrate(roos, { ...options, maxEvaluations: budget / 20, device: cpu }); // threads and code are ready
    const alone = await total(cpu, rounds);
    await cpu.close();
    const row = await withWorkers(n, async () => {
      const device = cluster({ servers, packages });
      await integrate(roos, { ...options, maxEvaluations: budget / 20, device }); // code and trust are there
      const before = await spentByWorkers();
      const shared = await total(device, rounds);
      const after = await spentByWorkers();
      await device.close();
      return { shared, before, after };
    });
    const { shared } = row;
    const same = shared.result.value === alone.result.value && shared.result.error === alone.result.error;
    console.log(
      `${`${n}`.padStart(7)}  ${seconds(shared.ms / rounds)}${seconds(alone.ms / rounds)}   ${(alone.ms / shared.ms).toFixed(2).padStart(10)}   ${same ? 'yes' : 'NO'}`,
    );
    const share = (what: keyof Spent) =>
      `${((100 * (row.after[what] - row.before[what])) / (n * shared.ms)).toFixed(1)} %`.padStart(9);
    const each = (ms: number) => `${(ms / shared.tasks).toFixed(1)} ms`.padStart(9);
    where.push(
      `${`${n}`.padStart(7)}  ${share('computing')}${share('preparing')}${share('waiting')}   ${each(shared.inTasks)}${each(alone.inTasks)}   ${each(shared.ms - shared.inTasks)}${each(alone.ms - alone.inTasks)}   ${each(shared.busy)}${each(alone.busy)}${each(shared.cpu)}`,
    );
  }
  console.log(`
Where the time goes. Workers: shares of the whole time; they wait between tasks too, and what is missing is the end of parts (packing sums).
Per task: how long it takes, what lies between two tasks (the method learns), and how long the coordinator's thread is
busy; each on the cluster and on the CPU device. Last: CPU time of the coordinator.

workers  computing preparing waiting       task      cpu     between      cpu        busy      cpu   CPU time`);
  for (const line of where) console.log(line);
}

/** So many runs together. */
async function total(device: Device, rounds: number): Promise<Taken> {
  const runs: Taken[] = [];
  for (let i = 0; i < rounds; i++)
    runs.push(await timed(device, watched => integrate(roos, { ...options, device: watched })));
  const sum = (of: (t: Taken) => number) => runs.reduce((a, t) => a + of(t), 0);
  return {
    result: runs[0].result,
    ms: sum(t => t.ms),
    busy: sum(t => t.busy),
    inTasks: sum(t => t.inTasks),
    tasks: sum(t => t.tasks),
    cpu: sum(t => t.cpu),
  };
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
    const [cpu, shared] = [new CpuDevice(1), cluster({ servers, packages })];
    const ms: number[] = [];
    for (const device of [cpu, shared]) {
      await integrate(roos, { ...small, device });
      const taken = await timed(device, watched => integrate(roos, { ...small, device: watched }));
      ms.push(taken.ms / taken.result.iterations.length);
      await device.close();
    }
    console.log(
      `\nan iteration of 70,000 samples: ${ms[0].toFixed(2)} ms on the CPU device, ${ms[1].toFixed(2)} ms with a worker: ${(ms[1] - ms[0]).toFixed(2)} ms more`,
    );
  });
}
