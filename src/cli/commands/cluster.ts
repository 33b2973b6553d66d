/** `quadrille cluster`: a NATS server and workers on this machine, for trying out, until Ctrl-C. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../devices/cluster/connection.ts';
import type { Arguments } from '../arguments.ts';
import { FAILED } from '../exit-codes.ts';
import { interruptible } from '../interrupt.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { deviceOf, threadsFor } from './worker.ts';

/** The port of NATS; another one where it is taken. */
const PORT = 4222;
const DEFAULT_WORKERS = 2;
/** Processes beyond these would only use up the memory. */
const MAX_WORKERS_PER_CORE = 8;
/** Milliseconds until a server has to answer. */
const START_MS = 10_000;

export async function clusterCommand(args: Arguments, { out }: Terminal): Promise<number> {
  const { rest, options } = args;
  if (rest.length > 0)
    throw new UsageError(`quadrille cluster takes no '${rest[0]}'.`, 'Write quadrille cluster.');
  const workers = (options.get('workers') as number | undefined) ?? DEFAULT_WORKERS;
  const most = MAX_WORKERS_PER_CORE * availableParallelism();
  if (workers < 1 || workers > most)
    throw new UsageError(
      `--workers is ${workers}.`,
      `Pass a number from 1 to ${most}: each worker is a process, and they share the cores of this machine.`,
    );
  deviceOf(args); // before anything is started
  const interrupt = interruptible();
  const store = mkdtempSync(join(tmpdir(), 'quadrille-cluster-'));
  const children: ChildProcess[] = [];
  try {
    const port = await freePort();
    const url = `nats://127.0.0.1:${port}`;
    const server = spawn('nats-server', ['-js', '-a', '127.0.0.1', '-p', `${port}`, '-sd', store], {
      stdio: 'ignore',
      env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/bin` },
    });
    children.push(server);
    await started(server, url);
    const device = (options.get('device') as string | undefined) ?? `cpu:${threadsFor(workers)}`;
    for (let i = 1; i <= workers; i++)
      children.push(
        spawn(
          process.execPath,
          [process.argv[1], 'worker', url, '--device', device, '--name', `worker-${i}`],
          {
            stdio: ['ignore', 'ignore', 'inherit'],
          },
        ),
      );
    const npx = process.env.npm_command === 'exec' ? 'npx ' : ''; // as the person has called it
    out.write(
      `A server and ${workers === 1 ? 'a worker' : `${workers} workers`} run on this machine, until Ctrl-C. In another terminal:\n\n` +
        `  ${npx}quadrille workers ${url}\n` +
        `  ${npx}quadrille 'exp(-x*y)' x,y=0..1 --device ${url} --method vegas+ --rel-tol 1e-6\n\n`,
    );
    const ended = await firstEnd(children, interrupt.signal);
    if (ended === null) return 0;
    out.write(`${ended} ended, and with it the cluster.\n`);
    return FAILED;
  } finally {
    interrupt.done();
    for (const child of children.reverse()) child.kill();
    rmSync(store, { recursive: true, force: true });
  }
}

/** Resolves with the name of the first process that ends; with null when the signal comes first. */
function firstEnd(children: readonly ChildProcess[], signal: AbortSignal): Promise<string | null> {
  return new Promise(resolve => {
    signal.addEventListener('abort', () => resolve(null));
    for (const [i, child] of children.entries())
      child.once('exit', () => resolve(i === 0 ? 'The server' : `Worker ${i}`));
  });
}

async function started(server: ChildProcess, url: string): Promise<void> {
  let failure: Error | null = null;
  server.once('error', e => {
    failure = e;
  });
  const start = performance.now();
  for (;;) {
    await new Promise(done => setTimeout(done, 100));
    if (failure)
      throw new UsageError(
        `nats-server could not be started: ${(failure as Error).message}.`,
        'Install it: apt-get install nats-server, brew install nats-server, or from https://nats.io/download.',
      );
    try {
      return await (await connect({ servers: url }, 'quadrille cluster')).close();
    } catch (e) {
      if (server.exitCode !== null || performance.now() - start > START_MS) throw e;
    }
  }
}

/** A port on which nobody listens: that of NATS, if it is free. */
async function freePort(): Promise<number> {
  const tried = (port: number) =>
    new Promise<number | null>(resolve => {
      const server = createServer();
      server.once('error', () => resolve(null));
      server.listen(port, '127.0.0.1', () => {
        const { port: found } = server.address() as { port: number };
        server.close(() => resolve(found));
      });
    });
  return (await tried(PORT)) ?? (await tried(0))!;
}
