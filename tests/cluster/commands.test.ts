/** `quadrille worker`, `workers`, `cluster` and `--device nats://host` as processes. */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Built, buildCli, ended } from '../cli/built.ts';
import { absent, until } from './server.ts';

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
  [['cluster', 'now'], /takes no 'now'/],
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

  const pseudo = spawnSync('script', ['--version']).error === undefined;
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
