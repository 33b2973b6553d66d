#!/usr/bin/env node
/** The executable: calls `cli` with the streams of the process. */
import { cli } from './cli.ts';

// `quadrille scan … | head` closes the pipe early: that is no error, and nobody reads the rest
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (e: NodeJS.ErrnoException) => {
    if (e.code !== 'EPIPE') throw e;
    process.exit(0);
  });

process.exitCode = await cli(process.argv.slice(2), {
  out: process.stdout,
  err: process.stderr,
  env: process.env,
});
