/** Messages that are none, or nearly right: 20,000 of them, to workers and to the coordinator of a run that goes on. */
import { jetstream } from '@nats-io/jetstream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queueOf } from '../../src/devices/cluster/protocol.ts';
import { cluster, type Device, integrate, scan } from '../../src/index.ts';
import { Random } from '../compiler/random.ts';
import { numbers } from './numbers.ts';
import {
  absent,
  killWorkers,
  type Server,
  startServer,
  startWorkers,
  until,
  type WorkerProcess,
} from './server.ts';

const f = ([x, y, z]: number[]) => Math.exp(-3 * x * y) * Math.sin(5 * z + x);
const options = { dims: 3, method: 'mcubes', relTol: 1e-9, maxEvaluations: 2e6 } as const;

describe.skipIf(absent)('20,000 malformed messages', () => {
  let server: Server;
  let device: Device;
  let workers: WorkerProcess[];
  beforeAll(async () => {
    server = await startServer();
    workers = await startWorkers(server.url, 2);
    device = cluster({ servers: server.url });
  });
  afterAll(async () => {
    await device?.close();
    await killWorkers();
    await server?.stop();
  });

  test('nobody falls, the bits stay, the queue is empty in the end', async () => {
    const seeded = new Random(11);
    const random = () => seeded.unit();
    const pick = <T>(list: readonly T[]): T => seeded.pick(list);
    const nc = await server.connect();
    const js = jetstream(nc);
    /** Messages of runs, as they were: garbage is made from them. */
    const heard: { subject: string; data: Uint8Array }[] = [];
    const spy = nc.subscribe('quadrille.>', {
      callback: (_, m) =>
        void (heard.length < 1000 && heard.push({ subject: m.subject, data: Uint8Array.from(m.data) })),
    });
    await nc.flush();
    const alone = numbers(await integrate(f, { ...options, device: 'cpu:2' }));
    expect(numbers(await integrate(f, { ...options, device }))).toEqual(alone);
    // jobs with counts of their own, and whole integrals too
    await integrate(f, { ...options, maxEvaluations: 1e6, method: 'vegas+', device });
    expect(heard.some(h => Buffer.from(h.data).includes('"counts":{"'))).toBe(true);
    const params = Array.from({ length: 20 }, (_, i) => ({ a: 1 + i / 8 }));
    await scan(([x], p) => Math.exp(-p.a * x), { dims: 1, params, device });
    expect(heard.filter(h => Buffer.from(h.data).includes('"what":"integrals"')).length).toBeGreaterThan(4);
    expect(heard.length).toBeGreaterThan(40);

    const spoil = (data: Uint8Array): Uint8Array => {
      const bytes = Uint8Array.from(data);
      if (bytes.length === 0) return bytes;
      for (let n = 1 + Math.floor(random() * 4); n > 0; n--) {
        const at = Math.floor(random() * bytes.length);
        bytes[at] = random() < 0.5 ? 48 + Math.floor(random() * 10) : Math.floor(random() * 256);
      }
      return random() < 0.2 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes;
    };
    /** A job with a member that makes no sense. */
    const strange = [
      null,
      -1,
      1e300,
      0.5,
      '',
      'x'.repeat(3000),
      [],
      {},
      true,
      '0'.repeat(64),
      { text: '[]' },
      { digest: '' },
    ];
    const alter = (data: Uint8Array): string => {
      const job = JSON.parse(Buffer.from(data).toString());
      job[pick(Object.keys(job))] = pick(strange);
      return JSON.stringify(job);
    };
    const jobs = heard.filter(h => h.subject.startsWith('quadrille.job.'));
    const others = heard.filter(h => !h.subject.startsWith('quadrille.job.'));
    const queue = queueOf('cpu');
    // nobody else listens to runs now: workers find out that there is none of that name
    spy.unsubscribe();
    const run = jobs[0].subject.split('.')[3];
    let [sent, over] = [0, false];
    const running = integrate(f, { ...options, device }).finally(() => {
      over = true;
    });
    const toRun = (subject: string) => subject.replace(/^(quadrille\.\w+\.).*/, `$1${run}`);
    while (sent < 20_000) {
      for (let i = 0; i < 200; i++, sent++) {
        if (sent % 4 === 0) {
          const { subject, data } = pick(jobs);
          const body = random() < 0.5 ? alter(data) : spoil(data);
          const to = random() < 0.5 ? subject : `quadrille.job.${queue}.${run}.0.${sent}`;
          void js.publish(to, body).catch(() => {});
        } else {
          const { subject, data } = pick(others);
          nc.publish(
            random() < 0.5 ? subject : toRun(subject),
            spoil(data),
            random() < 0.3 ? { reply: 'nobody' } : {},
          );
        }
      }
      await nc.flush();
    }
    expect(numbers(await running)).toEqual(alone);
    expect(over).toBe(true);
    expect(numbers(await integrate(f, { ...options, device }))).toEqual(alone);
    await until(async () => (await server.jobs()) === 0, 'the queue is empty');
    for (const { child } of workers) expect(child.exitCode).toBeNull();
  });
});
