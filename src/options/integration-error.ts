import { inWords, LIBRARY, type Text, type Worded, type Wording } from './wording.ts';

/** A run that cannot go on because of what the integrand gives. The message names the call that people know. */
export class IntegrationError extends RangeError implements Worded {
  readonly #text: Text;

  constructor(text: Text, caller = 'integrate') {
    super(`${caller}: ${inWords(text, LIBRARY)}`);
    this.#text = text;
  }

  toText(wording: Wording): string {
    return inWords(this.#text, wording);
  }
}
