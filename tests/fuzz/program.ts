/**
 * Random programs near the border of the integrand language. Most are made of the grammar's templates: inside the language
 * but for at most two places, because the first construct that is refused hides whatever comes after it. Some are the
 * generator's larger programs of the language, and some have tokens changed.
 */
import { generate } from '../compiler/generate.ts';
import { mutate, pieces } from '../compiler/mutate.ts';
import { Random } from '../compiler/random.ts';
import { HEAD, type Hole, INSIDE, LEAVES, OUTSIDE } from './grammar.ts';

/** The number of coordinates of the points that programs are run at. */
export const DIMS = 3;

/** The program of a seed, as the text of a function of (x, p, m). */
export function program(seed: number): string {
  const r = new Random(seed);
  return r.weighted<() => string>([
    [
      95,
      () =>
        new Expansion(
          r,
          r.weighted([
            [2, 0],
            [6, 1],
            [2, 2],
          ]),
        ).whole(),
    ],
    [1, () => generate(seed, r.chance(0.5) ? 'exact' : 'smooth', DIMS).text],
    [4, () => mutate(pieces(new Expansion(r, r.below(2)).whole()) ?? ['x'], r)],
  ])();
}

class Expansion {
  readonly #r: Random;
  /** How many templates of OUTSIDE are still to be used. */
  #outside: number;
  /** How many templates may still be expanded. */
  #left: number;

  constructor(r: Random, outside: number) {
    this.#r = r;
    this.#outside = outside;
    this.#left = 10 + r.below(25);
  }

  whole(): string {
    const r = this.#r;
    const body = Array.from({ length: 1 + r.below(4) }, () => this.#fill('#Z', 0));
    const result = this.#fill('#N', 0);
    const start = r.pick([
      '(x, p, m) =>',
      '(x, p, m) =>',
      'function (x, p, m)',
      'function integrand(x, p, m)',
    ]);
    return `${start} {\n${[...HEAD, ...body, `return ${result};`].map(l => `  ${l}\n`).join('')}}`;
  }

  #fill(template: string, depth: number): string {
    return template.replace(/#([NBASFIKZ])/g, (_, hole: Hole) => this.#expand(hole, depth + 1));
  }

  #expand(hole: Hole, depth: number): string {
    const r = this.#r;
    this.#left--;
    if (this.#outside > 0 && r.chance(0.25)) {
      this.#outside--;
      return this.#template(r.pick(OUTSIDE[hole]), depth + 2);
    }
    if (this.#left <= 0 || depth > 5 || r.chance(0.15 * depth)) return r.pick(LEAVES[hole]);
    return this.#template(r.pick(INSIDE[hole]), depth);
  }

  /** Declarations mostly get a block, since two of one name in a block are no JavaScript. */
  #template(template: string, depth: number): string {
    const text = this.#fill(template, depth);
    return /^(let|const|class|function) /.test(template) && this.#r.chance(0.9) ? `{ ${text} }` : text;
  }
}
