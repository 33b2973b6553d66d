// npm as a child process. On Windows `npm` is a command file, which only a shell starts; when npm itself runs the
// script that asks, its program is known.
import { spawnSync } from 'node:child_process';

export function npm(args) {
  const stdio = ['ignore', 'ignore', 'inherit'];
  const program = process.env.npm_execpath;
  return program?.endsWith('.js')
    ? spawnSync(process.execPath, [program, ...args], { stdio })
    : spawnSync('npm', args, { stdio, shell: process.platform === 'win32' });
}
