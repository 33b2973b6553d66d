/** A page as coordinator: over WebSocket, in Chromium, against a real server; and Node, which may have no WebSocket. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cluster, integrate, scan } from '../../src/index.ts';
import { absent as noBrowser, type Opened, open } from '../browser/chromium.ts';
import { f, g, params, problem, type SharedInPage } from '../browser/cluster-page.ts';
import { absent, freePort, killWorkers, type Server, startServer, startWorkers } from './server.ts';

const hasWebSocket = typeof WebSocket !== 'undefined';

test.skipIf(hasWebSocket)('Node without WebSocket: the message says what to do', async () => {
  await expect(integrate(([x]) => x, { dims: 1, device: 'ws://127.0.0.1:1' })).rejects.toThrow(
    /^this Node has no WebSocket, which ws:\/\/127\.0\.0\.1:1 needs; use a nats:\/\/ or tls:\/\/ URL, or Node 22/,
  );
});

describe.skipIf(absent)('a server with WebSocket', () => {
  let server: Server;
  let url = '';
  beforeAll(async () => {
    const port = await freePort();
    url = `ws://127.0.0.1:${port}`;
    server = await startServer(`websocket { listen: "127.0.0.1:${port}", no_tls: true }`);
    await startWorkers(server.url, 2);
  });
  afterAll(async () => {
    await killWorkers();
    await server?.stop();
  });

  test.skipIf(!hasWebSocket)('Node with WebSocket has the bits of one machine', async () => {
    const device = cluster({ servers: url });
    const { value, error } = await integrate(f, { ...problem, device });
    await device.close();
    const alone = await integrate(f, { ...problem, device: 'cpu:2' });
    expect([value, error]).toEqual([alone.value, alone.error]);
  });

  describe.skipIf(noBrowser)('in Chromium', () => {
    let opened: Opened;
    beforeAll(async () => {
      opened = await open('cluster.html');
    }, 60_000);
    afterAll(() => opened?.close());

    const inPage = (servers: string, packages: boolean) =>
      opened.page.evaluate(
        ([servers, packages]) =>
          (globalThis as unknown as { run(s: string, p: boolean): Promise<SharedInPage> }).run(
            servers,
            packages,
          ),
        [servers, packages] as [string, boolean],
      );

    test('an integral and a scan have the bits of one machine', async () => {
      const { integral, device, scanned } = await inPage(url, true);
      const { value, error, evaluations } = await integrate(f, { ...problem, device: 'cpu:2' });
      expect(integral).toEqual({ value, error, evaluations });
      expect(device).toMatch(/^ws:.*parts of w\d/);
      const found = await scan(g, { dims: 1, params, device: 'cpu:2' });
      const timeless = (r: object) => ({ ...r, device: '', elapsed: 0 });
      expect(scanned.map(timeless)).toEqual(found.map(timeless));
      expect(opened.warnings).toEqual([]);
      // a server 2.9.10 answers a close with a status that Chromium calls reserved
      expect(opened.errors.filter(e => !e.includes('broken close frame'))).toEqual([]);
    });

    test('without packages, and where no server is', async () => {
      await expect(inPage(url, false)).rejects.toThrow(/in a page, hand the packages over: cluster\(/);
      await expect(inPage('ws://127.0.0.1:1', true)).rejects.toThrow(
        /no NATS server answers at ws:\/\/127\.0\.0\.1:1 .*its configuration needs websocket/,
      );
    });
  });
});
