/** The workers that a coordinator has heard of: how fast each is, and whether its sums are trusted. */
import type { Worker } from './protocol.ts';

/** Workers that nothing was heard of for so long, in milliseconds, are gone. */
export const GONE_MS = 30_000;

interface Known {
  parts: number;
  /** Evaluations per millisecond: those of its last parts, by their length. */
  rate: number;
  evaluations: number;
  ms: number;
  /** When it was last heard of. */
  seen: number;
  /** Another worker has confirmed its sums, or is asked to. */
  trusted: boolean;
  examined: boolean;
}

const newlyKnown = (rate: number): Known => ({
  parts: 0,
  rate,
  evaluations: 0,
  ms: 0,
  seen: performance.now(),
  trusted: false,
  examined: false,
});

export class Roster {
  readonly leftOut = new Set<string>();
  readonly #known = new Map<string, Known>();

  constructor(workers: readonly Worker[]) {
    for (const w of workers) this.#known.set(w.name, newlyKnown(w.rate / 1000));
  }

  /** Workers that were heard of lately. */
  get count(): number {
    const now = performance.now();
    const lately = [...this.#known].filter(([name, w]) => !this.leftOut.has(name) && now - w.seen < GONE_MS);
    return Math.max(1, lately.length);
  }

  /** Evaluations per millisecond of a worker, on average; 0 when none has done anything. */
  get rate(): number {
    const rates = this.#rates();
    return rates.length > 0 ? rates.reduce((a, b) => a + b) / rates.length : 0;
  }

  /** The rate of the slowest worker over the average; 1 when nothing is known. */
  get slowest(): number {
    return this.rate > 0 ? Math.min(...this.#rates()) / this.rate : 1;
  }

  /** The workers that did parts, and how many. */
  get shares(): [name: string, parts: number][] {
    return [...this.#known].map(([n, w]): [string, number] => [n, w.parts]).filter(([, parts]) => parts > 0);
  }

  /** When any worker was last heard of. */
  get heardAt(): number {
    return Math.max(...[...this.#known.values()].map(w => w.seen));
  }

  get(name: string): Readonly<Known> | undefined {
    return this.#known.get(name);
  }

  heard(name: string): Known {
    const known = this.#known.get(name) ?? newlyKnown(0);
    known.seen = performance.now();
    this.#known.set(name, known);
    return known;
  }

  /** All are given time from now on. */
  wait(): void {
    for (const w of this.#known.values()) w.seen = performance.now();
  }

  /** Counts a part for a worker. */
  credit(name: string, evaluations: number, ms: number): void {
    const known = this.heard(name);
    known.parts++;
    known.evaluations = known.evaluations / 2 + evaluations;
    known.ms = known.ms / 2 + ms;
    if (known.evaluations > 0) known.rate = known.evaluations / Math.max(1, known.ms);
  }

  /** Of the workers that were heard of lately, those that have done something. */
  #rates(): number[] {
    const now = performance.now();
    return [...this.#known.values()].filter(w => w.rate > 0 && now - w.seen < GONE_MS).map(w => w.rate);
  }
}
