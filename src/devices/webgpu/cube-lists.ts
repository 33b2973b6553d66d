/** Variances and means of cubes from those of pieces, group by group: for parts of an iteration, and where methods ask for them. */
import { PIECE, type Place, piecesOf } from '../../tasks/pieces.ts';
import type { CubeSums, PlainTask } from '../../tasks/sample.ts';

export class CubeLists {
  readonly #countOf: (cube: number) => number;
  readonly #first: number[] = [];
  readonly #starts: number[] = [0];
  readonly #variances: Float64Array;
  readonly #means: Float64Array | null;
  #n = 0;

  /** A cube that is cut between groups is in each of them. */
  constructor({ counts, cubes: wantsMeans }: PlainTask, most: number) {
    this.#countOf = typeof counts === 'number' ? () => counts : cube => counts.each[cube];
    this.#variances = new Float64Array(most);
    this.#means = wantsMeans ? new Float64Array(most) : null;
  }

  /** Adds the pieces of some groups: a variance and a mean each. */
  add(places: readonly Place[], ofPieces: Float32Array): void {
    let piece = 0;
    for (let g = 0; g < places.length - 1; g++) {
      const end = places[g + 1].piece - places[0].piece;
      let { cube } = places[g];
      let left = piecesOf(this.#countOf(cube)) - Math.ceil(places[g].offset / PIECE);
      this.#first.push(cube);
      while (piece < end) {
        let [variance, mean] = [0, 0];
        for (; left > 0 && piece < end; left--, piece++) {
          variance += ofPieces[2 * piece];
          mean += ofPieces[2 * piece + 1];
        }
        this.#variances[this.#n] = variance;
        if (this.#means) this.#means[this.#n] = mean;
        this.#n++;
        if (piece < end) left = piecesOf(this.#countOf(++cube));
      }
      this.#starts.push(this.#n);
    }
  }

  get sums(): CubeSums {
    return {
      first: Uint32Array.from(this.#first),
      starts: Uint32Array.from(this.#starts),
      variances: this.#variances.slice(0, this.#n),
      means: this.#means?.slice(0, this.#n) ?? null,
    };
  }
}
