/** What is known while a run goes on: its speed, the time that it still needs, and whether its iterations agree. */
import { evaluationsFor, slopeOf } from '../../methods/convergence.ts';
import { FAMILIES, METHOD_NAMES } from '../../methods/names.ts';
import { type AllOptions, INTEGRATE_OPTIONS, type Progress } from '../../problem.ts';

/** Methods whose error falls with the square root of the evaluations. */
const MONTE_CARLO: string[] = METHOD_NAMES.filter(m => FAMILIES[m] === 'vegas' || FAMILIES[m] === 'zmc');

/** The error that a problem asks for at this value. */
export function toleranceFor(options: AllOptions, value: number): number {
  const { relTol, absTol } = INTEGRATE_OPTIONS;
  const relative = (options.relTol ?? relTol.default) * Math.abs(value);
  return Math.max(options.absTol ?? absTol.default, relative);
}

export class Forecast {
  readonly #options: AllOptions;
  readonly #seen: (Progress & { at: number })[] = [];

  constructor(options: AllOptions) {
    this.#options = options;
  }

  /** `at` is the time since the start, in milliseconds. */
  add(progress: Progress, at: number): void {
    this.#seen.push({ ...progress, at });
  }

  get last(): Progress | undefined {
    return this.#seen.at(-1);
  }

  /** Evaluations per second, averaged over the last second or a little more. */
  get speed(): number | undefined {
    const now = this.#seen.at(-1);
    if (!now) return undefined;
    const before = this.#seen.findLast(s => s.at < now.at - 1000) ?? { at: 0, evaluations: 0 };
    const speed = (1000 * (now.evaluations - before.evaluations)) / (now.at - before.at);
    return Number.isFinite(speed) && speed > 0 ? speed : undefined;
  }

  /** Milliseconds until the tolerance is reached; undefined when no forecast is possible. */
  get left(): number | undefined {
    const now = this.#seen.at(-1);
    const { speed } = this;
    if (!now || !speed || now.adapting || !(now.error > 0 && now.error < Infinity)) return undefined;
    const missing = now.error / toleranceFor(this.#options, now.value);
    if (!Number.isFinite(missing)) return undefined;
    if (missing <= 1) return 0;
    const random = MONTE_CARLO.includes(now.method);
    const slope = random
      ? 0.5
      : slopeOf(
          this.#seen.filter(s => s.method === now.method),
          now,
        );
    const counted = random ? this.#counted(now) : now.evaluations;
    if (!(slope > 0.05)) return undefined;
    return (1000 * evaluationsFor(missing, counted, slope)) / speed;
  }

  /** χ² per degree of freedom of the iterations that count so far. */
  get chi2PerDof(): number | undefined {
    const { chi2, dof } = this.#seen.at(-1) ?? { chi2: 0, dof: 0 };
    return dof > 0 ? chi2 / dof : undefined;
  }

  /** The evaluations that the running estimate is made of: those since the map last changed. */
  #counted(now: Progress): number {
    return now.evaluations - (this.#seen.findLast(s => s.adapting)?.evaluations ?? 0);
  }
}
