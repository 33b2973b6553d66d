/** What can be said while a run goes on: how fast it is, when it should be there, and whether its iterations agree. */
import { combine, type Estimate } from '../../combine.ts';
import type { IntegrateOptions, Progress } from '../../problem.ts';

/** Methods whose error falls with the square root of the evaluations. */
const RANDOM = ['vegas+', 'mcubes', 'mcubes1d', 'plain', 'zmc'];
/** Methods whose progress tells what each iteration found: they learn again before they begin a measurement anew. */
const ITERATIONS = ['vegas+', 'mcubes', 'mcubes1d'];
/** How far back a slope is taken, as a ratio of evaluations. */
const BACK = 4;

export class Forecast {
  readonly #options: IntegrateOptions;
  readonly #seen: (Progress & { at: number })[] = [];

  constructor(options: IntegrateOptions) {
    this.#options = options;
  }

  /** `at` is milliseconds since the start. */
  add(progress: Progress, at: number): void {
    this.#seen.push({ ...progress, at });
  }

  get last(): Progress | undefined {
    return this.#seen.at(-1);
  }

  /** Evaluations a second, lately. */
  get speed(): number | undefined {
    const now = this.#seen.at(-1);
    if (!now) return undefined;
    const before = this.#seen.findLast(s => s.at < now.at - 1000) ?? { at: 0, evaluations: 0 };
    const speed = (1000 * (now.evaluations - before.evaluations)) / (now.at - before.at);
    return Number.isFinite(speed) && speed > 0 ? speed : undefined;
  }

  /** Milliseconds to the tolerance; undefined when nothing can be said, or a limit will be there first. */
  get left(): number | undefined {
    const now = this.#seen.at(-1);
    const { speed } = this;
    const { relTol = 1e-3, absTol = 0, method = 'auto' } = this.#options;
    if (!now || !speed || now.adapting || !(now.error > 0 && now.error < Infinity)) return undefined;
    const missing = now.error / Math.max(absTol, relTol * Math.abs(now.value));
    if (!Number.isFinite(missing)) return undefined;
    if (missing <= 1) return 0;
    const slope = RANDOM.includes(method) ? 0.5 : this.#slope();
    const counted = RANDOM.includes(method) ? this.#counted(now) : now.evaluations;
    if (!(slope > 0.05)) return undefined;
    return (1000 * counted * (missing ** (1 / slope) - 1)) / speed;
  }

  /** χ² per degree of freedom of the iterations that count so far. */
  get chi2PerDof(): number | undefined {
    if (!ITERATIONS.includes(this.#options.method ?? 'auto')) return undefined;
    const { chi2, dof } = combine(this.#own());
    return dof > 0 ? chi2 / dof : undefined;
  }

  /** Evaluations behind the running estimate: those since the map last changed. */
  #counted(now: Progress): number {
    return now.evaluations - (this.#seen.findLast(s => s.adapting)?.evaluations ?? 0);
  }

  /** By how the error has fallen lately, as a power of the evaluations. */
  #slope(): number {
    const now = this.#seen.at(-1)!;
    const before = this.#seen.findLast(s => s.evaluations <= now.evaluations / BACK) ?? this.#seen[0];
    return Math.log(before.error / now.error) / Math.log(now.evaluations / before.evaluations);
  }

  /**
   * What each iteration found, from running estimates: these are averages by the number of evaluations (combine.ts), so that
   * n·value and (n·error)² of one iteration are the differences of those of all.
   */
  #own(): Estimate[] {
    const start = this.#seen.findLastIndex(s => s.adapting);
    const before = this.#seen[start]?.evaluations ?? 0;
    let sum = { n: 0, value: 0, square: 0 };
    const own: Estimate[] = [];
    for (const s of this.#seen.slice(start + 1)) {
      const n = s.evaluations - before;
      const now = { n, value: n * s.value, square: (n * s.error) ** 2 };
      const evaluations = n - sum.n;
      own.push({
        evaluations,
        value: (now.value - sum.value) / evaluations,
        error: Math.sqrt(Math.max(0, now.square - sum.square)) / evaluations,
      });
      sum = now;
    }
    return own;
  }
}
