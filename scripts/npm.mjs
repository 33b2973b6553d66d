// npm as a child process. On Windows `npm` is a command file, which only a shell starts; when npm itself runs the
// script that asks, its program is known.
import { spawnSync } from 'node:child_process';

export const npm = args => start(args, { stdio: ['ignore', 'ignore', 'inherit'] });

/** What npm prints; its warnings and errors are left out. */
export const npmText = args =>
  start(args, { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8', maxBuffer: 2 ** 26 }).stdout ?? '';

function start(args, options) {
  const program = process.env.npm_execpath;
  return program?.endsWith('.js')
    ? spawnSync(process.execPath, [program, ...args], options)
    : spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
}
