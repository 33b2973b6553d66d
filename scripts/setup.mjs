// Brings a fresh machine to where the other commands work: the npm packages of the lock file, and with
// `--tests` the Debian packages that tests use. Does nothing when all is there.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { npm } from './npm.mjs';

const installed = 'node_modules/.package-lock.json';
const current = existsSync(installed) && statSync(installed).mtimeMs >= statSync('package-lock.json').mtimeMs;
if (!current) {
  console.log('setup: npm ci');
  const { status } = npm(['ci']);
  if (status !== 0) process.exit(status ?? 1);
}

// gcc and MPFR measure the accuracy of the math library against high precision, g++ runs CUDA text on the CPU; Chromium
// runs the library in a page; clusters are tried on a real NATS server
const wanted = [
  ['gcc', () => spawnSync('gcc', ['--version']).status === 0],
  ['g++', () => spawnSync('g++', ['--version']).status === 0],
  ['libmpfr-dev', () => spawnSync('sh', ['-c', 'echo "#include <mpfr.h>" | gcc -E -']).status === 0],
  ['chromium', () => existsSync('/usr/bin/chromium')],
  [
    'nats-server',
    () => ['nats-server', '/usr/sbin/nats-server'].some(c => !spawnSync(c, ['--version']).error),
  ],
];
const missing = process.argv.includes('--tests')
  ? wanted.filter(([, isThere]) => !isThere()).map(([name]) => name)
  : [];
if (missing.length > 0) {
  if (process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0) {
    const patient = ['-o', 'DPkg::Lock::Timeout=300'];
    run('apt-get', [...patient, 'update', '-qq']);
    run('apt-get', [
      ...patient,
      'install',
      '-y',
      '-qq',
      '--no-install-recommends',
      ...missing,
      ...(missing.includes('gcc') ? ['libc6-dev'] : []),
    ]);
  } else {
    console.warn(
      `setup: ${missing.join(' and ')} not found, and no root with apt-get to install them: the tests that need them will be skipped.`,
    );
  }
}

function run(command, args) {
  console.log(`setup: ${command} ${args.join(' ')}`);
  execFileSync(command, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}
