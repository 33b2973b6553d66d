/**
 * Cuba's Cuhre and Johnson's hcubature as contestants, single-threaded: both are in the library of Debian's
 * r-cran-cubature, installed when it is missing and this is root, and a small C driver is built into the cache folder
 * and kept running as a child process.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';

const CACHE = '.cache/bench';
const DRIVER = `${CACHE}/cubature`;
const PACKAGE = 'r-cran-cubature';
const HOME = '/usr/lib/R/site-library/cubature';
const LIBRARY = `${HOME}/libs/cubature.so`;
/** Cuhre: the result is that of the last iteration, not a mean over all of them. */
const LAST_ONLY = 4;
/** No Cuba workers, and nothing printed: the library prints through R, which is not there. */
const ENVIRONMENT = { ...process.env, CUBACORES: '0', CUBAACCEL: '0', CUBAVERBOSE: '0' };

export interface CubatureRun {
  seconds: number;
  evaluations: number;
  value: number;
  /** What the method claims. */
  error: number;
  converged: boolean;
  /** Ended by the limit of seconds: all but those are NaN then. */
  stopped?: boolean;
}

export interface CubatureOptions {
  /** Wall-clock limit. */
  seconds?: number;
  /** Of Cuhre; 4 unless given. */
  flags?: number;
}

export class CCubature {
  #child!: ChildProcessWithoutNullStreams;
  #lines!: AsyncIterator<string>;

  private constructor() {
    this.#launch();
  }

  /** Builds and starts the driver; a sentence that says why not, where that cannot be. */
  static start(): CCubature | string {
    if (spawnSync('gcc', ['--version']).status !== 0) return 'gcc is absent';
    mkdirSync(CACHE, { recursive: true });
    const failure = (existsSync(LIBRARY) ? undefined : install()) ?? build();
    return failure ?? new CCubature();
  }

  #launch(): void {
    this.#child = spawn(DRIVER, { env: ENVIRONMENT });
    this.#child.stdin.on('error', () => {}); // that a child is gone shows in the end of its output
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Undefined when there was no answer in time: the libraries cannot be interrupted, so another child takes over. */
  async #ask(command: string, seconds = Number.POSITIVE_INFINITY): Promise<string | undefined> {
    let killed = false;
    const kill = () => {
      killed = this.#child.kill('SIGKILL');
    };
    const timer = setTimeout(kill, Math.min(seconds * 1000, 2 ** 31 - 1)); // more would be no delay at all
    this.#child.stdin.write(`${command}\n`);
    const { value, done } = await this.#lines.next();
    clearTimeout(timer);
    if (killed) this.#launch();
    else if (done) throw new Error(`the cubature program ended at '${command}'`);
    return done ? undefined : value;
  }

  /**
   * One integral over the unit cube, one at a time; undefined when the driver has no such integrand. Cuhre counts
   * evaluations in an int and gives up at 2e9.
   */
  async run(
    method: 'cuhre' | 'hcubature',
    integrand: string,
    relTol: number,
    maxEvaluations: number,
    { seconds: limit, flags = LAST_ONLY }: CubatureOptions = {},
  ): Promise<CubatureRun | undefined> {
    const answer = await this.#ask(`${method} ${integrand} ${relTol} ${maxEvaluations} ${flags}`, limit);
    if (answer === 'unknown') return undefined;
    if (answer === undefined) {
      const nothing = { evaluations: Number.NaN, value: Number.NaN, error: Number.NaN };
      return { seconds: limit!, ...nothing, converged: false, stopped: true };
    }
    const [seconds, evaluations, value, error, converged] = answer.split(' ').map(Number);
    return { seconds, evaluations, value, error, converged: converged === 1 };
  }

  /** Also in the middle of a run. */
  stop(): void {
    this.#child.kill();
  }
}

/** Builds the driver and sees it load; a sentence that says why not. */
function build(): string | undefined {
  const flags = ['-O3', '-march=native', '-std=gnu11', `-I${HOME}/include`];
  const gcc = spawnSync('gcc', [...flags, 'bench/c/cubature.c', '-o', DRIVER, LIBRARY, '-lm']);
  if (gcc.status !== 0) return `gcc failed: ${gcc.stderr}`;
  const trial = spawnSync(DRIVER, { env: ENVIRONMENT, input: '' });
  return trial.status === 0 ? undefined : `the cubature program does not start: ${trial.stderr}`;
}

/** A sentence that says why the package is not there. */
function install(): string | undefined {
  if (process.getuid?.() !== 0) return `${PACKAGE} is missing, and only root may install it`;
  if (spawnSync('apt-get', ['--version']).status !== 0) return `${PACKAGE} is missing, and so is apt-get`;
  const get = (...args: string[]) =>
    spawnSync('apt-get', ['-y', '-q', '-o', 'DPkg::Lock::Timeout=120', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  const wanted = ['install', '--no-install-recommends', PACKAGE];
  let done = get(...wanted);
  if (done.status !== 0) {
    get('update'); // the lists may be absent or old
    done = get(...wanted);
  }
  return done.status === 0 ? undefined : `${PACKAGE} cannot be installed: ${`${done.stderr}`.trim()}`;
}
