/** An error in what was typed: the reason, the place with carets below it, and what to type instead. */

import { oneColumn } from '../options/visible.ts';

/** A part of a text that was typed. */
export interface Place {
  text: string;
  start: number;
  end: number;
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly reason: string;
  readonly remedy: string | undefined;
  readonly place: Place | undefined;

  constructor(reason: string, remedy?: string, place?: Place) {
    super([reason, ...(place ? [pointAt(place)] : []), ...(remedy ? [remedy] : [])].join('\n'));
    this.reason = reason;
    this.remedy = remedy;
    this.place = place;
  }
}

/** How many characters of a long text are shown. */
const WIDTH = 76;

/** The text with carets below the place. Of a long text only the part around the place is shown. */
function pointAt({ text, start, end }: Place): string {
  const flat = oneColumn(text.replace(/[\n\t]/g, ' '));
  const left = flat.length > WIDTH ? Math.max(0, Math.min(start - WIDTH / 2, flat.length - WIDTH)) : 0;
  const shown = flat.slice(left, left + WIDTH);
  const carets = Math.max(1, Math.min(end - start, WIDTH - (start - left)));
  return `  ${shown}\n  ${' '.repeat(start - left)}${'^'.repeat(carets)}`;
}
