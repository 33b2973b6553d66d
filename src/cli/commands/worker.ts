/** `quadrille worker nats://host`: lets this machine take part in a cluster, until Ctrl-C. */
import { availableParallelism } from 'node:os';
import { optionsFromEnvironment } from '../../devices/cluster/connection.ts';
import { isServer } from '../../devices/cluster/server-url.ts';
import { work } from '../../devices/cluster/worker.ts';
import { deviceRemedy, openDevice, takesFunctions } from '../../devices/registry.ts';
import { OptionError } from '../../options/option-error.ts';
import { visible } from '../../options/visible.ts';
import { solveWholes } from '../../whole-integrals.ts';
import type { Arguments } from '../arguments.ts';
import { interruptible } from '../interrupt.ts';
import { styleOf, type Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

export async function workerCommand(args: Arguments, { out, err, env }: Terminal): Promise<number> {
  const servers = serverOf(args);
  const { options } = args;
  const asked = deviceOf(args);
  for (const name of ['part-evaluations', 'part-memory'])
    if ((options.get(name) as number) < 1)
      throw new UsageError(`--${name} is ${options.get(name)}.`, 'Pass a number of 1 or more.');
  const { device, release } = await openDevice(asked, { maxEvaluations: 0, relTol: 0, float64: true });
  const interrupt = interruptible();
  const limits = Object.entries({
    evaluations: options.get('part-evaluations'),
    memory: options.get('part-memory'),
    time: options.get('part-time'),
  }).filter(([, value]) => value !== undefined);
  try {
    await work({
      ...optionsFromEnvironment(servers),
      device,
      solve: solveWholes,
      name: options.get('name') as string | undefined,
      limits: Object.fromEntries(limits),
      signal: interrupt.signal,
      log: text => {
        const loud = text.startsWith('THE CONNECTION');
        if (loud) err.write(`${styleOf(err, env).yellow('warning')}: ${visible(text)}\n`);
        else if (!options.has('quiet')) out.write(`${visible(text)}\n`);
      },
    });
  } finally {
    interrupt.done();
    await release();
  }
  return 0;
}

/** The device that workers are to use, all cores unless it is named. */
export function deviceOf({ options }: Arguments): string | string[] {
  const named = (options.get('device') as string | undefined) ?? 'cpu';
  const asked = named.includes(',') ? named.split(',') : named;
  const remedy = [asked].flat().some(isServer)
    ? 'name a device of this machine'
    : (deviceRemedy(asked) ??
      (takesFunctions(asked) ? 'workers do compiled integrands: use cpu or cuda' : undefined));
  if (remedy) throw new OptionError('device', named, remedy);
  return asked;
}

/** The server that a command names. */
export function serverOf({ command, rest }: Arguments): string {
  const [server, more] = rest;
  const example = `Write quadrille ${command} nats://host.`;
  if (server === undefined) throw new UsageError('No server is named.', example);
  if (more !== undefined) throw new UsageError(`quadrille ${command} takes no '${more}'.`, example);
  if (!isServer(server)) throw new UsageError(`'${server}' is no URL of a NATS server.`, example);
  return server;
}

/** Threads for each of so many workers on this machine. */
export const threadsFor = (workers: number): number =>
  Math.max(1, Math.floor(availableParallelism() / workers));
