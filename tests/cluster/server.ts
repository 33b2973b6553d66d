/** A real NATS server for tests, and workers as processes of their own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { build } from 'esbuild';
import { STREAM } from '../../src/devices/cluster/protocol.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/bin` };

/** Why there is no server; undefined where there is one. */
export const absent =
  spawnSync('nats-server', ['--version'], { env }).status === 0 ? undefined : 'no nats-server';
if (absent) console.log('nats-server is not here: nothing of clusters was tried with a real server');

export interface Server {
  url: string;
  port: number;
  /** Ends it as if the machine had died. */
  kill(): Promise<void>;
  /** Starts it again on the same port; with an empty memory if `fresh`. */
  start(fresh?: boolean): Promise<void>;
  connect(): Promise<NatsConnection>;
  /** Jobs in the queue. */
  jobs(): Promise<number>;
  stop(): Promise<void>;
}

/** `config` is a configuration of NATS, without port and store. */
export async function startServer(config?: string, jetstream = true): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-test-'));
  const port = await freePort();
  let stores = 0;
  let child: ChildProcess | null = null;
  const connections: NatsConnection[] = [];
  const file = join(folder, 'nats.conf');
  const server: Server = {
    url: `nats://127.0.0.1:${port}`,
    port,
    async start(fresh = false) {
      if (fresh) stores++;
      const store = jetstream ? `jetstream { store_dir: "${folder}/store${stores}" }\n` : '';
      writeFileSync(file, `listen: "127.0.0.1:${port}"\n${store}${config ?? ''}`);
      child = spawn('nats-server', ['-c', file], { env, stdio: 'ignore' });
      for (let i = 0; !(await answers(port)); i++) {
        if (i > 200 || child.exitCode !== null) throw new Error(`nats-server does not start with\n${config}`);
        await pause(50);
      }
    },
    async kill() {
      const ended = once(child!, 'exit');
      child!.kill('SIGKILL');
      await ended;
    },
    async connect() {
      const nc = await connect({
        servers: `127.0.0.1:${port}`,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 100,
      });
      connections.push(nc);
      return nc;
    },
    async jobs() {
      const nc = connections[0] ?? (await server.connect());
      const manager = await jetstreamManager(nc, { checkAPI: false });
      return (await manager.streams.info(STREAM)).state.messages;
    },
    async stop() {
      for (const nc of connections) await nc.close();
      if (child?.exitCode === null && child.signalCode === null) await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

export interface WorkerProcess {
  name: string;
  child: ChildProcess;
  /** What it has printed. */
  said(): string;
  kill(): Promise<void>;
}

let bundle: Promise<string> | null = null;

/** worker-main.ts as a file that node can run. */
function workerFile(): Promise<string> {
  bundle ??= (async () => {
    const outfile = join(root, '.cache', `cluster-worker-${process.pid}`, 'worker.mjs');
    mkdirSync(dirname(outfile), { recursive: true });
    await build({
      entryPoints: [resolve(root, 'tests/cluster/worker-main.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'es2022',
      packages: 'external',
      logLevel: 'silent',
    });
    process.once('exit', () => rmSync(dirname(outfile), { recursive: true, force: true }));
    return outfile;
  })();
  return bundle;
}

const running = new Set<WorkerProcess>();

/** How a worker behaves: worker-main.ts has the list of modes; `more` is for its environment. */
export async function startWorker(
  url: string,
  name: string,
  mode = 'right',
  more: Record<string, string> = {},
): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [await workerFile(), url, name, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...env, ...more },
  });
  let text = '';
  const ready = new Promise<void>(done => {
    child.stdout!.on('data', d => {
      text += d;
      if (text.includes('waits for work')) done();
    });
    child.once('exit', () => done());
  });
  const worker: WorkerProcess = {
    name,
    child,
    said: () => text,
    async kill() {
      running.delete(worker);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
  running.add(worker);
  await ready;
  return worker;
}

export const startWorkers = (url: string, count: number, mode?: string): Promise<WorkerProcess[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => startWorker(url, `w${i + 1}`, mode)));

export async function killWorkers(): Promise<void> {
  await Promise.all([...running].map(w => w.kill()));
}

export const pause = (ms: number): Promise<void> => new Promise(done => setTimeout(done, ms));

/** Waits until something is so; throws after a time that no machine needs. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const start = performance.now();
  while (!(await isSo())) {
    if (performance.now() - start > 90_000) throw new Error(`waited in vain until ${what}`);
    await pause(50);
  }
}

export function freePort(): Promise<number> {
  return new Promise(done => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });
}

async function answers(port: number): Promise<boolean> {
  try {
    await (await connect({ servers: `127.0.0.1:${port}`, timeout: 2000, reconnect: false })).close();
    return true;
  } catch (e) {
    return /authorization|certificate|tls/i.test(`${e} ${(e as Error).cause}`);
  }
}
