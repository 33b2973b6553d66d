/**
 * GSL's VEGAS as a contestant: the library from Debian, installed when it is missing and this is root, and a small C
 * driver built into the cache folder and kept running as a child process.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { upperGamma } from '../src/methods/combine.ts';

const CACHE = '.cache/bench';
/** Of the manual's example: calls of a warm-up at least, and iterations of a stage. */
const FIRST_CALLS = 10_000;
const ITERATIONS = 5;
/** Iterations whose χ² would be exceeded this rarely are not believed: what our methods ask of theirs. */
const SMALLEST_Q = 1e-3;

export interface GslRun {
  seconds: number;
  evaluations: number;
  value: number;
  error: number;
  /** Per degree of freedom. */
  chi2: number;
}

export class Gsl {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** Builds and starts the driver; a sentence that says why not, where that cannot be. */
  static start(): Gsl | string {
    if (spawnSync('gcc', ['--version']).status !== 0) return 'gcc is absent';
    mkdirSync(CACHE, { recursive: true });
    let failure = build();
    if (failure && /gsl\/gsl_|-lgsl/.test(failure)) {
      const missing = install();
      if (missing) return missing;
      failure = build();
    }
    return failure ? `gcc failed: ${failure}` : new Gsl(spawn(`${CACHE}/gsl-vegas`));
  }

  async #ask(command: string): Promise<string> {
    this.#child.stdin.write(`${command}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`the GSL program ended at '${command}'`);
    return value;
  }

  async #fresh(name: string, seed: number): Promise<void> {
    if ((await this.#ask(`new ${name} ${seed}`)) !== 'ok')
      throw new Error(`bench/c/gsl-vegas.c has no ${name}`);
  }

  async #stage(stage: 0 | 1, calls: number, iterations: number): Promise<GslRun> {
    const answer = await this.#ask(`run ${stage} ${calls} ${iterations}`);
    const [seconds, evaluations, value, error, chi2] = answer.split(' ').map(Number);
    return { seconds, evaluations, value, error, chi2 };
  }

  /** So many iterations of so many calls, from a fresh grid. */
  async run(name: string, calls: number, iterations: number, seed: number): Promise<GslRun> {
    await this.#fresh(name, seed);
    return this.#stage(0, calls, iterations);
  }

  /**
   * Doubles the calls until GSL claims the tolerance with a χ² that can be believed. Each attempt follows the manual's
   * example: a fresh grid, a warm-up of a tenth of the calls, then a stage that keeps the grid alone. Keeping the grid
   * from attempt to attempt would be no favour: with its α of 1.5 the errors of further iterations grow (on f5 8D
   * from 3.5e-4 in the sixth to 4.7e-4 in the sixteenth, calls being the same). Seconds and evaluations are those of
   * the last attempt, as if its user had known how many calls it takes; undefined when another attempt would
   * go beyond the limit.
   */
  async reach(name: string, relTol: number, seed: number, limit: number): Promise<GslRun | undefined> {
    let spent = 0;
    for (let calls = FIRST_CALLS, growth = 1, last = 0; spent + growth * last < limit; calls *= growth) {
      await this.#fresh(name, seed);
      const warmUp = await this.#stage(0, Math.max(FIRST_CALLS, calls / 10), ITERATIONS);
      const stage = await this.#stage(1, calls, ITERATIONS);
      last = warmUp.seconds + stage.seconds;
      spent += last;
      const dof = ITERATIONS - 1;
      const believable = stage.error > 0 && upperGamma(dof / 2, (dof * stage.chi2) / 2) >= SMALLEST_Q;
      const missing = (stage.error / (relTol * stage.value)) ** 2;
      if (believable && missing <= 1)
        return { ...stage, seconds: last, evaluations: warmUp.evaluations + stage.evaluations };
      // leaves out an attempt with less than half of what the error asks for
      growth = believable && missing > 8 ? 4 : 2;
    }
    return undefined;
  }

  stop(): void {
    this.#child.stdin.end();
  }
}

/** What gcc said when it failed. */
function build(): string | undefined {
  const flags = ['-O3', '-march=native', '-std=gnu11'];
  const libraries = ['-lgsl', '-lgslcblas', '-lm'];
  const gcc = spawnSync('gcc', [...flags, 'bench/c/gsl-vegas.c', '-o', `${CACHE}/gsl-vegas`, ...libraries]);
  return gcc.status === 0 ? undefined : `${gcc.stderr}`;
}

/** Debian's libgsl-dev; a sentence that says why it is not there. */
function install(): string | undefined {
  if (process.getuid?.() !== 0) return 'libgsl-dev is missing, and only root may install it';
  if (spawnSync('apt-get', ['--version']).status !== 0) return 'libgsl-dev is missing, and so is apt-get';
  const get = (...args: string[]) =>
    spawnSync('apt-get', ['-y', '-q', '-o', 'DPkg::Lock::Timeout=120', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  const wanted = ['install', '--no-install-recommends', 'libgsl-dev'];
  let done = get(...wanted);
  if (done.status !== 0) {
    get('update'); // the lists may be absent or old
    done = get(...wanted);
  }
  return done.status === 0 ? undefined : `libgsl-dev cannot be installed: ${`${done.stderr}`.trim()}`;
}
