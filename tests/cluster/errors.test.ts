/** What may be missing in a cluster is told with its remedy, and soon: nothing waits in silence. */
import { readFileSync } from 'node:fs';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterEach, describe, expect, test } from 'vitest';
import { PROTOCOL, STREAM, WHO } from '../../src/devices/cluster/protocol.ts';
import { cluster, integrate, scan } from '../../src/index.ts';
import { absent, killWorkers, type Server, startServer, startWorker, startWorkers } from './server.ts';

/** 3 s is what it takes at most on a machine that has time; a test tells an end from none. */
const SOON_MS = 30_000;

const run = (url: string) => {
  const start = performance.now();
  const end = integrate(([x, y]) => Math.exp(-x * y), {
    dims: 2,
    method: 'vegas+',
    relTol: 1e-5,
    maxEvaluations: 1e6,
    device: url,
  });
  return end.finally(() => expect(performance.now() - start).toBeLessThan(SOON_MS));
};

test('no server', async () => {
  await expect(run('nats://127.0.0.1:1')).rejects.toThrow(
    /^no NATS server answers at nats:\/\/127\.0\.0\.1:1 .*start one with nats-server -js, or quadrille cluster/,
  );
});

test('a scan says once that there is no server, and does not try again for each integral', async () => {
  const params = Array.from({ length: 500 }, (_, a) => ({ a }));
  for (const device of ['nats://127.0.0.1:1', cluster({ servers: 'nats://127.0.0.1:1' })])
    await expect(scan(([x], { a }) => x ** a, { dims: 1, params, device })).rejects.toThrow(
      /^no NATS server answers at nats/,
    );
});

test.each([
  ['nats://', /'nats:\/\/host'/],
  ['nats:host', /'nats:\/\/host'/],
  [['nats://a', 'cpu'], /cannot be in a list/],
])('device: %s is refused', async (device, message) => {
  await expect(integrate(([x]) => x, { dims: 1, device })).rejects.toThrow(message);
});

test('cluster() without a URL is refused', () => {
  for (const servers of [undefined, '', [], 'host', ['nats://a', 7]])
    expect(() => cluster({ servers: servers as string })).toThrow(
      /^cluster: `servers` is .*'nats:\/\/host:4222'/,
    );
});

describe.skipIf(absent)('with a server', () => {
  let server: Server;
  afterEach(async () => {
    await killWorkers();
    await server.stop();
  });

  test('no workers', async () => {
    server = await startServer();
    await expect(run(server.url)).rejects.toThrow(/^no worker answers at .*quadrille worker nats:/);
  });

  test('no JetStream', async () => {
    server = await startServer(undefined, false);
    await startWorkers(server.url, 1);
    await expect(run(server.url)).rejects.toThrow(/has no JetStream; start it with nats-server -js/);
  });

  test('workers of another release or kind', async () => {
    server = await startServer();
    const nc = await server.connect();
    const old = {
      ...{
        name: 'old-1',
        kind: 'cpu',
        queue: 'cpu-1-1-0_0_9',
        protocol: PROTOCOL,
        release: '0.0.9',
        device: 'cpu',
      },
      ...{ epsilon: 2 ** -53, parts: 0, evaluations: 0, rate: 0, uptime: 5, doing: null },
    };
    nc.subscribe(WHO, { callback: (_, m) => void m.respond(JSON.stringify(old)) });
    await nc.flush();
    await expect(run(server.url)).rejects.toThrow(
      /^no worker at .* has release \d.*: there are old-1 \(cpu, release 0\.0\.9\); .* start workers of the same/,
    );
    await startWorkers(server.url, 1);
    const cards = cluster({ servers: server.url, kind: 'cuda' });
    await expect(integrate(([x]) => x, { dims: 1, device: cards })).rejects.toThrow(
      /and kind cuda: there are/,
    );
    await cards.close();
    // the right one does the work, and the other one is not waited for
    expect((await run(server.url)).device).toMatch(/parts of w1 \d+\)$/);
  });

  test('the rights of docs/cluster.md are enough, and a worker cannot publish jobs with its own', async () => {
    const blocks = readFileSync('docs/cluster.md', 'utf8').matchAll(/^```conf\n([\s\S]*?)^```$/gm);
    const config = [...blocks].map(([, text]) => text).find(text => text.includes('authorization'))!;
    server = await startServer(config.replace(/^jetstream .*$/m, ''));
    const as = (user: string) => server.url.replace('//', `//${user}@`);
    const w1 = await startWorker(as('worker:change-me'), 'w1');
    await startWorker(as('worker:change-me'), 'w2');
    expect((await run(as('coordinator:change-me-too'))).device).toMatch(/parts of w\d \d+, w\d \d+/);
    // a run with a name keeps its sums on the server
    expect((await run(`${as('coordinator:change-me-too')}/run-1`)).status).toBe('converged');
    await expect(run(as('worker:change-me'))).rejects.toThrow(/may not publish to (\$JS|quadrille\.who)/);
    // the worker tried to make the queue, which it may not: nothing is wrong
    expect(w1.said()).not.toContain('may not');
  });

  test('a server that takes small messages only: what its configuration needs', async () => {
    server = await startServer('max_payload: 65536');
    const w1 = await startWorker(server.url, 'w1');
    const message = /takes messages of 65536 bytes at most, .*write max_payload: 1MB into its configuration/;
    await expect(run(server.url)).rejects.toThrow(message);
    expect(w1.said()).toMatch(message);
  });

  test.each([
    ['all', ['quadrille.>'], /subjects overlap with an existing stream; nats stream ls shows/],
    [
      STREAM,
      ['quadrille.job.>'],
      /has a stream quadrille-jobs that is no queue of jobs; remove it with nats/,
    ],
    [STREAM, ['other.>'], /has a stream quadrille-jobs that is no queue of jobs; remove it with nats/],
  ])('somebody has made a stream %s of %s', async (name, subjects, message) => {
    server = await startServer();
    await (await jetstreamManager(await server.connect())).streams.add({ name, subjects });
    const w1 = await startWorker(server.url, 'w1');
    await expect(run(server.url)).rejects.toThrow(message);
    expect(w1.said()).toMatch(message);
  });

  test('names of workers: one that is none is refused, and so is one that is taken', async () => {
    server = await startServer();
    expect((await startWorker(server.url, 'a b')).said()).toMatch(
      /^ended: a worker cannot be called 'a b'; use letters, digits and/,
    );
    // two that start at once: one of them has the name
    const both = await Promise.all([startWorker(server.url, 'w1'), startWorker(server.url, 'w1')]);
    const refused = both.filter(w => /^ended: another worker at .* is called w1; choose/.test(w.said()));
    expect(refused).toHaveLength(1);
    expect((await startWorker(server.url, 'w1')).said()).toMatch(/^ended: another worker/);
    await startWorker(server.url, 'w2');
    expect((await run(server.url)).device).toMatch(/parts of w\d \d+, w\d \d+\)$/);
  });

  test('another user and no rights', async () => {
    server = await startServer(`authorization { users = [
      { user: lead, password: secret },
      { user: guest, password: guest, permissions: { publish: ["quadrille.who"], subscribe: ["_INBOX.>"] } } ] }`);
    const as = (user: string) => server.url.replace('//', `//${user}@`);
    await startWorker(as('lead:secret'), 'w1');
    await expect(run(server.url)).rejects.toThrow(/refuses this user; give credentials/);
    await expect(run(as('lead:wrong'))).rejects.toThrow(/refuses this user; give credentials/);
    await expect(run(as('guest:guest'))).rejects.toThrow(
      /this user of nats:\/\/127\S+ may not publish to \$JS/,
    );
    const { device } = await run(as('lead:secret'));
    expect(device).toContain('w1');
    expect(device).not.toContain('secret');
  });
});
