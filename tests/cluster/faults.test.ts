/** Workers, servers and coordinators that die, are slow or wrong: the bits stay, nothing hangs, nothing is left in the queue. */
import { jetstream } from '@nats-io/jetstream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cluster, type Device, type IntegrateOptions, integrate } from '../../src/index.ts';
import { runScript } from '../devices/script.ts';
import { numbers } from './numbers.ts';
import {
  absent,
  killWorkers,
  pause,
  type Server,
  startServer,
  startWorker,
  startWorkers,
  until,
  type WorkerProcess,
} from './server.ts';

const f = ([x, y, z]: number[]) => Math.exp(-3 * x * y) * Math.sin(5 * z + x);
/** Fixed iterations, so that a run has some hundred parts. */
const options: IntegrateOptions = { dims: 3, method: 'mcubes', relTol: 1e-9, maxEvaluations: 4e6, seed: 3 };

describe.skipIf(absent)('a cluster', () => {
  let server: Server;
  let device: Device;
  let expected: object;
  beforeEach(async () => {
    server = await startServer();
    device = cluster({ servers: server.url });
    expected ??= numbers(await integrate(f, { ...options, device: 'cpu:2' }));
  });
  afterEach(async () => {
    await device.close();
    await killWorkers();
    await server.stop();
  });

  const queueIsEmpty = () => until(async () => (await server.jobs()) === 0, 'the queue is empty');

  test('50 workers are killed in one run', { timeout: 300_000 }, async () => {
    let started = 0;
    const alive: WorkerProcess[] = [];
    const start = async () => void alive.push(await startWorker(server.url, `w${++started}`, 'slow'));
    await Promise.all(Array.from({ length: 6 }, start));
    let [kills, over] = [0, false];
    const killer = (async () => {
      while (kills < 50 && !over) {
        await pause(150);
        const [victim] = alive.splice((7 * kills) % alive.length, 1);
        if (!victim) continue;
        await victim.kill();
        kills++;
        void start();
      }
    })();
    const found = await integrate(f, { ...options, device });
    over = true;
    await killer;
    expect(numbers(found)).toEqual(expected);
    expect(kills).toBe(50);
    await queueIsEmpty();
  });

  test('the server is killed, and comes back with its store and without', async () => {
    await startWorkers(server.url, 2, 'slow');
    let iterations = 0;
    const running = integrate(f, { ...options, device, onProgress: () => void iterations++ });
    await until(() => iterations > 1, 'the run goes on');
    await server.kill();
    await pause(500);
    await server.start();
    const before = iterations;
    await until(() => iterations > before + 1, 'the run goes on after the restart');
    await server.kill();
    await server.start(true);
    expect(numbers(await running)).toEqual(expected);
    await queueIsEmpty();
  });

  // a purge by subject made a server 2.9.10 skip the jobs of others
  test('a run that is aborted leaves the jobs of another one alone', async () => {
    await startWorkers(server.url, 2, 'slow');
    const other = cluster({ servers: server.url });
    const stop = new AbortController();
    const aborted = integrate(f, { ...options, seed: 4, device: other, signal: stop.signal });
    let iterations = 0;
    const onProgress = () => {
      if (++iterations === 2) stop.abort();
    };
    const found = await integrate(f, { ...options, device, onProgress });
    expect(numbers(found)).toEqual(expected);
    expect((await aborted).status).toBe('aborted');
    await queueIsEmpty();
    await other.close();
  });

  test('one worker never comes to an end: its part is given to others', async () => {
    await startWorkers(server.url, 2);
    const late = await startWorker(server.url, 'late', 'late');
    const found = await integrate(f, { ...options, device });
    expect(numbers(found)).toEqual(expected);
    expect(found.device).not.toContain('late');
    expect(late.child.exitCode).toBeNull();
    await queueIsEmpty();
  });

  test('a worker is out of reach in the middle of a part, and comes back when the run is over', async () => {
    await startWorkers(server.url, 2, 'slow');
    const away = await startWorker(server.url, 'away', 'slow');
    let iterations = 0;
    const onProgress = () => void (++iterations === 2 && away.child.kill('SIGSTOP'));
    expect(numbers(await integrate(f, { ...options, device, onProgress }))).toEqual(expected);
    away.child.kill('SIGCONT');
    await queueIsEmpty();
    expect(away.child.exitCode).toBeNull();
  });

  test('messages are duplicated and come late', async () => {
    await startWorkers(server.url, 2);
    const nc = await server.connect();
    const js = jetstream(nc);
    const seen = new Set<string>();
    let twice = 0;
    nc.subscribe('quadrille.job.>', {
      callback: (_, m) => {
        if (seen.has(m.subject)) return;
        seen.add(m.subject);
        const data = m.data.slice();
        setTimeout(() => void js.publish(m.subject, data).catch(() => {}), 100 * (twice++ % 5));
      },
    });
    nc.subscribe('quadrille.result.>', {
      callback: (_, m) => {
        const key = Buffer.from(m.data.subarray(0, 300)).toString('latin1');
        if (seen.has(key)) return;
        seen.add(key);
        const data = Uint8Array.from(m.data);
        for (const ms of [0, 50, 1000]) setTimeout(() => !nc.isClosed() && nc.publish(m.subject, data), ms);
      },
    });
    await nc.flush();
    expect(numbers(await integrate(f, { ...options, device }))).toEqual(expected);
    expect(twice).toBeGreaterThan(20);
    await queueIsEmpty();
  });

  test('a worker that answers wrongly is named and left out', async () => {
    await startWorkers(server.url, 2);
    const wrong = await startWorker(server.url, 'liar', 'wrong');
    // it may be slower than the others, and get no part of one run
    const left = () => wrong.said().includes('left out');
    for (let i = 0; i < 20 && !left(); i++) {
      const found = await integrate(f, { ...options, device });
      expect(numbers(found)).toEqual(expected);
      if (left())
        expect(found.warnings.join()).toMatch(
          /liar was left out: its sums of groups \d+ to \d+ of task \d+ differ/,
        );
    }
    expect(left()).toBe(true);
  });

  test('two workers that disagree: the run fails, and names both', async () => {
    await startWorker(server.url, 'honest');
    await startWorker(server.url, 'liar', 'wrong');
    await expect(integrate(f, { ...options, device })).rejects.toThrow(
      /(honest and liar|liar and honest) give different sums for groups .* one of these machines is broken/,
    );
    await queueIsEmpty();
  });

  test('a part at which every worker fails: the run fails after four of them, and names the part', async () => {
    let [deaths, over] = [0, false];
    await startWorker(server.url, 'w0', 'broken');
    const supervisor = (async () => {
      while (!over) {
        const worker = await startWorker(server.url, `w${++deaths}`, 'broken');
        await until(() => over || worker.child.exitCode !== null, 'the worker ends');
        if (!over) expect(worker.said()).toContain('fallen off the bus');
      }
    })();
    await expect(integrate(f, { ...options, device })).rejects.toThrow(
      /groups \d+ to \d+ of task 0 was given to workers 4 times, and none came back/,
    );
    over = true;
    await supervisor;
    expect(deaths).toBeLessThan(12);
    await queueIsEmpty();
  });

  test('a worker refuses parts that are too large for it: the run fails, with its reason', async () => {
    await startWorker(server.url, 'small', 'limited');
    await expect(integrate(f, { ...options, device })).rejects.toThrow(
      /worker small cannot do groups .*: the part takes .* evaluations, and this worker allows 1000/,
    );
    await queueIsEmpty();
  });

  test('the coordinator is killed, and a run of its name goes on with the same bits', async () => {
    await startWorkers(server.url, 2);
    const given = JSON.stringify(options);
    await runScript(
      `import { integrate } from 'quadrille';
       const f = ${f};
       await integrate(f, {
         ...${given},
         device: '${server.url}/run-1',
         onProgress: ({ evaluations }) => evaluations > 2e6 && process.kill(process.pid, 'SIGKILL'),
       });`,
    );
    const nc = await server.connect();
    const tasks = new Set<string>();
    nc.subscribe('quadrille.job.>', {
      callback: (_, m) => void tasks.add(m.subject.split('.').slice(3, 5).join()),
    });
    await nc.flush();
    /** Tasks that a run hands out. */
    const handedOut = async (where: string) => {
      tasks.clear();
      expect(numbers(await integrate(f, { ...options, device: where }))).toEqual(expected);
      await nc.flush();
      return tasks.size;
    };
    const resumed = await handedOut(`${server.url}/run-1`);
    const whole = await handedOut(server.url);
    expect(whole).toBeGreaterThan(5);
    expect(resumed).toBeLessThan(whole);
    // when it has ended, nothing is kept
    expect(await handedOut(`${server.url}/run-1`)).toBe(whole);
    await queueIsEmpty();
  });

  test.each(['aborted', 'failed'])('a run with a name that was %s goes on, with the same bits', async how => {
    await startWorkers(server.url, 2);
    const stop = new AbortController();
    const broken = integrate(f, {
      ...options,
      device: `${server.url}/run-1`,
      signal: stop.signal,
      onProgress: async ({ evaluations }) => {
        if (evaluations < 2e6) return;
        if (how === 'aborted') return stop.abort();
        await killWorkers();
        await startWorker(server.url, 'small', 'limited');
      },
    });
    if (how === 'aborted') expect((await broken).status).toBe('aborted');
    else await expect(broken).rejects.toThrow(/this worker allows 1000/);
    await killWorkers();
    await startWorkers(server.url, 2);
    const nc = await server.connect();
    let jobs = 0;
    nc.subscribe('quadrille.job.>', { callback: () => void jobs++ });
    await nc.flush();
    let counted = 0;
    expect(
      numbers(
        await integrate(f, {
          ...options,
          device: `${server.url}/run-1`,
          onProgress: ({ evaluations }) => {
            if (evaluations < 2e6) counted = jobs;
          },
        }),
      ),
    ).toEqual(expected);
    expect(counted).toBe(0); // nothing was computed again
    expect(jobs).toBeGreaterThan(0);
    await queueIsEmpty();
  });

  test('the coordinator is killed: its jobs are thrown away, and the next one has the workers', async () => {
    await startWorkers(server.url, 2, 'slow');
    const killed = runScript(
      `import { integrate } from 'quadrille';
       setTimeout(() => process.kill(process.pid, 'SIGKILL'), 4000);
       await integrate(([x, y]) => Math.exp(-x * y), { dims: 2, method: 'plain', relTol: 1e-12, maxEvaluations: 1e9, device: '${server.url}' });`,
    );
    await killed;
    await queueIsEmpty();
    expect(numbers(await integrate(f, { ...options, device }))).toEqual(expected);
    await queueIsEmpty();
  });
});
