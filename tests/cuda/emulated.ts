/**
 * Importing this makes the CUDA device run on the CPU: the libraries of emulator/ are built, once for each state of their
 * sources, and named to the device instead of NVIDIA's. Only for a file of its own process: a driver stays loaded.
 */
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const sources = resolve('tests/cuda/emulator');
const cache = resolve('.cache/cuda-emulator');

/** Why there is no emulator; undefined when there is one. */
export const absent =
  process.platform !== 'linux'
    ? 'the CUDA emulator is for Linux'
    : spawnSync('g++', ['--version']).status !== 0
      ? 'the CUDA emulator needs g++, which this machine lacks'
      : undefined;

if (absent) console.warn(`skipped: ${absent}`);
else {
  const folder = await built();
  process.env.QUADRILLE_LIBCUDA = join(folder, 'libcuda.so');
  process.env.QUADRILLE_NVRTC = join(folder, 'libnvrtc.so');
  // compiled kernels are kept as long as the emulator stays the same
  process.env.XDG_CACHE_HOME = folder;
  // Emulated kernels are slow: each run would soon compile those with the integrand inside. Kernels alone are compiled once for all
  // integrands; tiers.test.ts has both.
  process.env.QUADRILLE_TIER ??= 'linked';
}

async function built(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of readdirSync(sources).sort()) hash.update(file).update(readFileSync(join(sources, file)));
  const folder = join(cache, hash.digest('hex').slice(0, 16));
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const part = mkdtempSync(join(cache, 'part-'));
  await Promise.all([
    compile(join(part, 'libcuda.so'), ['driver.cpp', 'machine.cpp']),
    compile(join(part, 'libnvrtc.so'), ['nvrtc.cpp'], `-DEMULATOR_FOLDER="${sources}"`),
  ]);
  try {
    renameSync(part, folder); // at once: nobody sees half of it
  } catch {
    rmSync(part, { recursive: true }); // another process was first
  }
  return folder;
}

async function compile(library: string, files: string[], ...more: string[]): Promise<void> {
  const flags = [
    '-std=c++17',
    '-O1',
    '-Wall',
    '-Wextra',
    '-U_FORTIFY_SOURCE',
    '-fvisibility=hidden',
    ...more,
  ];
  await promisify(execFile)(
    'g++',
    [...flags, '-shared', '-fPIC', '-o', library, ...files, '-ldl', '-lpthread'],
    { cwd: sources },
  );
}
