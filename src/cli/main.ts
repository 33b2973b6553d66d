#!/usr/bin/env node
/** The executable: calls `cli` with the streams of the process. */
import { cli } from './cli.ts';
import { FAILED } from './exit-codes.ts';

process.stdout.on('error', (e: NodeJS.ErrnoException) => {
  // `quadrille scan … | head` closes the pipe early: that is no error, and nobody reads the rest
  if (e.code === 'EPIPE') process.exit(0);
  process.stderr.write(`error: The output could not be written: ${e.message}.\n`);
  process.exit(FAILED);
});
// where messages cannot be written, the result and the exit code still count
process.stderr.on('error', () => {});

// Node ends a process that waits for nothing but promises, silently and with exit code 13
let ended = false;
process.on('exit', () => {
  if (ended || (process.exitCode !== undefined && process.exitCode !== 13)) return;
  process.stderr.write('error: The file waits for a promise that nothing settles.\n');
  process.exitCode = FAILED;
});

process.exitCode = await cli(process.argv.slice(2), {
  out: process.stdout,
  err: process.stderr,
  env: process.env,
});
ended = true;
// timers and connections that a file has left do not keep the command alive; what was written comes first
process.stdout.write('', e => {
  if (!e) process.stderr.write('', () => process.exit());
});
