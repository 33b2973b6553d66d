/** Random choices from a seed (mulberry32): the same seed gives the same program, on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1). */
  unit(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from 0 to n − 1. */
  below(n: number): number {
    return Math.floor(this.unit() * n);
  }

  chance(p: number): boolean {
    return this.unit() < p;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }

  /** One of the choices, each as likely as its weight. */
  weighted<T>(choices: readonly (readonly [weight: number, value: T])[]): T {
    let at = this.unit() * choices.reduce((s, [w]) => s + w, 0);
    for (const [w, value] of choices) {
      at -= w;
      if (at < 0) return value;
    }
    return choices[choices.length - 1][1];
  }
}
