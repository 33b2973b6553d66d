/** `quadrille worker`, `workers`, `cluster` and `--device nats://host` as processes. */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Built, buildCli, ended } from '../cli/built.ts';
import { absent, killWorkers, pause, type Server, startServer, startWorkers, until } from './server.ts';

const pseudo = spawnSync('script', ['--version']).error === undefined;

let built: Built;
beforeAll(async () => {
  built = await buildCli();
});
afterAll(() => built.remove());

test.each([
  [['worker'], /No server is named\.\nWrite quadrille worker nats:\/\/host/],
  [['workers', 'host'], /'host' is no URL of a NATS server/],
  [['worker', 'nats://127.0.0.1:1'], /no NATS server answers at nats:\/\/127\.0\.0\.1:1/],
  [['worker', 'nats://127.0.0.1:1', '--device', 'nats://host'], /name a device of this machine/],
  [['worker', 'nats://127.0.0.1:1', '--device', 'js'], /workers do compiled integrands: use cpu or cuda/],
  [['worker', 'nats://127.0.0.1:1', '--name', 'a b'], /a worker cannot be called 'a b'; use letters/],
  [
    ['worker', 'nats://127.0.0.1:1', '--part-memory', '0'],
    /--part-memory is 0\.\nPass a number of 1 or more/,
  ],
  [['cluster', 'now'], /takes no 'now'/],
  [['cluster', '--workers', '0'], /--workers is 0\.\nPass a number from 1 to \d+:/],
  [['cluster', '--workers', '1e6'], /--workers is 1000000\.\nPass a number from 1 to \d+:/],
  [['cluster', '--device', 'foo'], /--device is 'foo'; use/],
  [
    ['x', 'x=0..1', '--device', 'nats://a/run-1', '--resume', 'run-2'],
    /two names: run-1 in the URL, and run-2\./,
  ],
  [['x', 'x=0..1', '--device', 'nats://127.0.0.1:1'], /^error: no NATS server answers/],
])('quadrille %s', async (args, message) => {
  const { code, out, err } = await built.run(args);
  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(message);
  expect(err).not.toMatch(/\n +at /); // no stack trace
});

describe.skipIf(absent)('quadrille cluster', () => {
  const env = { PATH: `${process.env.PATH}:/usr/sbin` };
  let cluster: ChildProcess;
  let url = '';
  beforeAll(async () => {
    cluster = built.start(['cluster', '--workers', '2'], env);
    let text = '';
    cluster.stdout!.on('data', d => {
      text += d;
    });
    await until(() => /--device (\S+)/.test(text), 'the cluster has started');
    url = /--device (\S+)/.exec(text)![1];
  });
  afterAll(async () => {
    const end = ended(cluster);
    cluster.kill('SIGINT');
    expect((await end).code).toBe(0);
  });

  test('shows its workers, computes an integral to the digits of one machine, and shows what they did', async () => {
    await until(async () => {
      const { out } = await built.run(['workers', url, '--json']);
      return out !== '' && JSON.parse(out).length === 2;
    }, 'both workers are there');
    const plain = await built.run(['workers', url]);
    expect(plain.out).toMatch(
      /^worker +device +release +parts +rate +up for +now\nworker-1 +cpu:\d+ +\d\S+ +0 .*waits\n/,
    );
    const args = ['exp(-x*y)', 'x,y=0..1', '--method', 'vegas+', '--rel-tol', '1e-5'];
    const shared = await built.run([...args, '--device', url]);
    const alone = await built.run(args);
    expect([shared.code, shared.err]).toEqual([0, '']);
    const [value] = alone.out.split(' ');
    expect(shared.out).toMatch(
      new RegExp(`^${value.replace(/[.()]/g, '\\$&')} .*on ${url} \\(parts of worker-`),
    );
    const after = JSON.parse((await built.run(['workers', url, '--json'])).out);
    expect(
      after.map((w: { parts: number }) => w.parts).reduce((a: number, b: number) => a + b),
    ).toBeGreaterThan(0);
  });

  test('--resume: the command is killed, and the same command goes on with the same bits', async () => {
    const args = ['exp(-x*y)*sin(9*z)', 'x,y,z=0..1', '--method', 'mcubes', '--max-evaluations', '8e6'];
    args.push('--rel-tol', '1e-9', '--json');
    const shared = [...args, '--device', url, '--resume', 'run-1'];
    const nc = await connect({ servers: url.replace('nats://', '') });
    const manager = await jetstreamManager(nc, { checkAPI: false });
    const kept = async () =>
      (await manager.streams.info('quadrille-runs').catch(() => null))?.state.messages ?? 0;
    const tasks = new Set<string>();
    nc.subscribe('quadrille.job.>', {
      callback: (_, m) => void tasks.add(m.subject.split('.').slice(3, 5).join()),
    });
    const first = built.start(shared);
    const killed = ended(first);
    await until(async () => (await kept()) > 2, 'sums of some iterations are kept');
    first.kill('SIGKILL');
    await killed;
    tasks.clear();
    const resumed = await built.run(shared);
    const left = tasks.size;
    const alone = await built.run(args);
    const numbers = (text: string) => ({ ...JSON.parse(text), device: '', elapsed: 0 });
    expect([resumed.code, resumed.err]).toEqual([alone.code, alone.err]);
    expect(numbers(resumed.out)).toEqual(numbers(alone.out));
    expect(await kept()).toBe(0);
    tasks.clear();
    await built.run([...args, '--device', url]);
    expect(left).toBeLessThan(tasks.size);
    await nc.close();
  });

  test('a scan over the cluster', async () => {
    const args = ['scan', 'x^a', 'x=0..1', '--param', 'a=1,2,3'];
    const [shared, alone] = [await built.run([...args, '--device', url]), await built.run(args)];
    expect(shared).toEqual(alone);
  });

  test('--resume: Ctrl-C ends the command, and the same command goes on', async () => {
    const args = ['exp(-x*y)*sin(9*z)', 'x,y,z=0..1', '--method', 'mcubes', '--max-evaluations', '2e8'];
    args.push('--rel-tol', '1e-9', '--json', '--device', url, '--resume', 'run-2');
    const nc = await connect({ servers: url.replace('nats://', '') });
    const manager = await jetstreamManager(nc, { checkAPI: false });
    const kept = async () =>
      (await manager.streams.info('quadrille-runs').catch(() => null))?.state.messages ?? 0;
    const first = built.start(args);
    const end = ended(first);
    await until(async () => (await kept()) > 2, 'sums of some iterations are kept');
    first.kill('SIGINT');
    expect(JSON.parse((await end).out).status).toBe('aborted');
    expect(await kept()).toBeGreaterThan(2);
    await nc.close();
  });

  test.skipIf(!pseudo)('a terminal shows the workers live, until Ctrl-C', async () => {
    const { out } = await built.shell(
      `(sleep 4; printf '\\003'; sleep 1) | script -qec "exec quadrille workers ${url}" /dev/null`,
      { TERM: 'xterm', NO_COLOR: '1' },
    );
    expect(out).toContain('2 workers, 0 busy');
    expect(out).toMatch(/worker-2 +cpu:/);
    expect(out).toContain('\x1b[J'); // drawn over the picture before
    expect(out).toContain('\x1b[?25h');
  });
});

describe.skipIf(absent)('a server that dies', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(async () => {
    await killWorkers();
    await server.stop();
  });

  test('a busy worker and its coordinator say so, and end within 10 s after Ctrl-C', async () => {
    const worker = built.start(['worker', server.url, '--device', 'cpu:1', '--name', 'w1']);
    const ends = [ended(worker)];
    let said = '';
    worker.stdout!.on('data', d => {
      said += d;
    });
    await until(() => said.includes('waits for work'), 'the worker has started');
    const args = ['exp(-x*y)*sin(9*z)', 'x,y,z=0..1', '--method', 'mcubes', '--max-evaluations', '1e10'];
    const run = built.start([...args, '--rel-tol', '1e-9', '--device', server.url, '--resume', 'run-3']);
    ends.push(ended(run));
    await until(async () => (await server.jobs().catch(() => 0)) > 0, 'the worker is busy');
    await server.kill();
    await until(() => said.includes(`${server.url} is out of reach; waits for it`), 'the worker says so');
    await pause(3000); // its part has ended, and sums wait for the server
    const start = performance.now();
    for (const child of [worker, run]) child.kill('SIGINT');
    expect((await Promise.all(ends)).map(e => e.code)).toEqual([0, 2]);
    expect(performance.now() - start).toBeLessThan(10_000);
    await server.start();
  });

  test.skipIf(!pseudo)(
    'a terminal shows as many workers as it has lines, and that the server is away',
    async () => {
      await startWorkers(server.url, 4);
      const shown = built.shell(
        `(sleep 8; printf '\\003'; sleep 1) | script -qec "stty rows 8 cols 80; exec quadrille workers ${server.url}" /dev/null`,
        { TERM: 'xterm', NO_COLOR: '1' },
      );
      await pause(4000);
      await server.kill();
      const { out } = await shown;
      expect(out).toMatch(/4 workers, 0 busy[\s\S]*w1 [\s\S]*w2 [\s\S]*and 2 more; Ctrl-C ends this page/);
      expect(out).toContain(`${server.url}  is out of reach; this page waits for it to come back`);
      expect(out).not.toContain('w3 ');
    },
  );
});
