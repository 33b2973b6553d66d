/**
 * The outside oracle: reference.c, which asks MPFR, built once into .cache/ and again whenever its source
 * changes.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('./reference.c', import.meta.url));
const cache = fileURLToPath(new URL('../../.cache/math/', import.meta.url));

function build(): string {
  const digest = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 16);
  const binary = `${cache}reference-${digest}`;
  if (existsSync(binary)) return binary;
  mkdirSync(cache, { recursive: true });
  const compile = () =>
    spawnSync('gcc', ['-O2', '-o', binary, source, '-lmpfr', '-lgmp', '-lm'], { encoding: 'utf8' });
  let made = compile();
  if (made.status !== 0 && process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0) {
    spawnSync('apt-get', ['update']);
    spawnSync('apt-get', ['install', '-y', 'gcc', 'libmpfr-dev']);
    made = compile();
  }
  if (made.status !== 0) throw new Error(made.error?.message ?? made.stderr.trim().split('\n')[0]);
  return binary;
}

/** The oracle's binary, or why there is none. */
export const oracle: { binary: string } | { absent: string } = (() => {
  try {
    return { binary: build() };
  } catch (error) {
    return { absent: `no MPFR reference: ${(error as Error).message}` };
  }
})();

/** The true values at the points (one or two arguments each, in turn), as pairs hi and lo, lo in ulp of hi. */
export function reference(binary: string, name: string, points: Float64Array): Float64Array {
  const bytes = execFileSync(binary, [name], {
    input: new Uint8Array(points.buffer, points.byteOffset, points.byteLength),
    maxBuffer: 1 << 28,
  });
  return new Float64Array(new Uint8Array(bytes).buffer);
}
