/**
 * The integrands in C: built with gcc into the cache folder and kept running as a child process, which is told
 * what to evaluate and answers with the time it took.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { body } from '../tests/integrands/oscillating.ts';

const CACHE = '.cache/bench';

export class CProgram {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** Builds and starts the program; a sentence that says why not, where there is no gcc. */
  static start(): CProgram | string {
    const version = spawnSync('gcc', ['--version']);
    if (version.status !== 0) return 'gcc is absent';
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(`${CACHE}/oscillating.inc`, body.replace('let s', 'double s'));
    const flags = ['-O3', '-march=native', '-std=gnu11', `-I${CACHE}`];
    const gcc = spawnSync('gcc', [...flags, 'bench/c/integrands.c', '-o', `${CACHE}/integrands`, '-lm']);
    if (gcc.status !== 0) return `gcc failed: ${gcc.stderr}`;
    return new CProgram(spawn(`${CACHE}/integrands`));
  }

  async #ask(command: string): Promise<string> {
    this.#child.stdin.write(`${command}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`the C program ended at '${command}'`);
    return value;
  }

  /** False when the C program has no such integrand. */
  async load(name: string, points: Float64Array): Promise<boolean> {
    const file = `${CACHE}/points.f64`;
    writeFileSync(file, new Uint8Array(points.buffer, points.byteOffset, points.byteLength));
    return (await this.#ask(`load ${name} ${file}`)) === 'ok';
  }

  /** Seconds for so many batches, and the sum of the values of one. */
  async run(repeats: number): Promise<{ seconds: number; sum: number }> {
    const [seconds, sum] = (await this.#ask(`run ${repeats}`)).split(' ').map(Number);
    return { seconds, sum };
  }

  stop(): void {
    this.#child.stdin.end();
  }
}
