/** The command line as a function: what was typed goes in, an exit code comes out. Commands are loaded as they are needed. */
import { createRequire } from 'node:module';
import { type Arguments, readArguments } from './arguments.ts';
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
      return 1;
    }
    const run = await RUN[args.command]();
    return await run(args, terminal);
  } catch (e) {
    const { err, env } = terminal;
    err.write(`${styleOf(err, env).red('error')}: ${explain(e)}\n`);
    return 1;
  }
}

async function help(command: Command, { out, env }: Terminal): Promise<void> {
  const { helpText } = await import('./commands/help.ts');
  out.write(helpText(command, styleOf(out, env)));
}

/** Names of errors whose message says what to do. */
const EXPECTED = ['IntegrandError', 'OptionError', 'CudaError', 'TypeError', 'RangeError'];

/** What people did wrong is said without a stack; what we did wrong keeps it, for the report. */
function explain(e: unknown): string {
  const expected = e instanceof UsageError || !(e instanceof Error) || EXPECTED.includes(e.name);
  return expected ? messageOf(e) : (e.stack ?? e.message);
}

function version(): string {
  return (createRequire(import.meta.url)('../../package.json') as { version: string }).version;
}
