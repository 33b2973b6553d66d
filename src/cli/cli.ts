/** The command line as a function of its arguments that returns the exit code. A command is loaded when it is run. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { DeviceError } from '../devices/device.ts';
import { visible } from '../options/visible.ts';
import { type Arguments, readArguments } from './arguments.ts';
import { FAILED } from './exit-codes.ts';
import { messageOf } from './messages.ts';
import type { Command } from './options.ts';
import { styleOf, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

type Run = (args: Arguments, terminal: Terminal) => Promise<number>;

const RUN: Record<Command, () => Promise<Run>> = {
  integrate: async () => (await import('./commands/integrate.ts')).integrateCommand,
  run: async () => (await import('./commands/integrate.ts')).integrateCommand,
  scan: async () => (await import('./commands/scan.ts')).scanCommand,
  explain: async () => (await import('./commands/explain.ts')).explainCommand,
  devices: async () => (await import('./commands/devices.ts')).devicesCommand,
  worker: async () => (await import('./commands/worker.ts')).workerCommand,
  workers: async () => (await import('./commands/workers.ts')).workersCommand,
  cluster: async () => (await import('./commands/cluster.ts')).clusterCommand,
  bench: async () => (await import('./commands/bench.ts')).benchCommand,
  completion: async () => (await import('./commands/completion.ts')).completionCommand,
};

export async function cli(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const args = readArguments(argv);
    if (args.version) {
      terminal.out.write(`quadrille ${version()}\n`);
      return 0;
    }
    if (args.help) {
      await help(args.command, terminal);
      return 0;
    }
    if (argv.length === 0) {
      await help('integrate', { ...terminal, out: terminal.err });
      return FAILED;
    }
    const run = await RUN[args.command]();
    return await run(args, terminal);
  } catch (e) {
    const { err, env } = terminal;
    err.write(`${styleOf(err, env).red('error')}: ${explain(e)}\n`);
    return FAILED;
  }
}

async function help(command: Command, { out, env }: Terminal): Promise<void> {
  const { helpText } = await import('./commands/help.ts');
  out.write(helpText(command, styleOf(out, env)));
}

/** The names of errors, besides those of devices, whose messages tell the user what to do. */
const EXPECTED = ['IntegrandError', 'OptionError', 'TypeError', 'RangeError'];

/**
 * Errors of the user and of the machine are printed without a stack trace, those of the user's functions with their place;
 * all others, which are bugs, with a stack trace for the report.
 */
function explain(e: unknown): string {
  if (e instanceof UsageError || !(e instanceof Error)) return messageOf(e);
  const place = placeInTheirs(e);
  if (place !== undefined) return visible(`${e.name}: ${e.message}\n  ${place}`);
  const expected = e instanceof DeviceError || EXPECTED.includes(e.name) || 'syscall' in e;
  return expected ? messageOf(e) : visible(e.stack ?? e.message);
}

/** Where an error was thrown, if that is in a file of the user: in none of this package, of other packages or of Node. */
function placeInTheirs({ stack = '' }: Error): string | undefined {
  const [frame] = stack.split('\n').filter(line => /^ +at /.test(line));
  const ours = new URL('..', import.meta.url);
  // frames name modules by URL, and what was loaded with require by path
  const isTheirs = /[/\\].*:\d+:\d+\)?$/.test(frame ?? '') && !/node:|node_modules|data:|blob:/.test(frame);
  return isTheirs && !frame.includes(ours.href) && !frame.includes(fileURLToPath(ours))
    ? frame.trim()
    : undefined;
}

function version(): string {
  return (createRequire(import.meta.url)('../../package.json') as { version: string }).version;
}
