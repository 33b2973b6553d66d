/**
 * Messages name options, and points of the domain, in the words of whoever reports them: the library writes `relTol`
 * and onNonFinite: 'zero', the command line writes --rel-tol and --on-non-finite zero. So an error keeps its text as a
 * function of a wording, and nobody has to change a finished sentence.
 */
export interface Wording {
  /** An option inside a sentence. */
  name(option: string): string;
  /** An option in quotes. */
  quoted(option: string): string;
  /** An option with a value that it should get. */
  setting(option: string, value: string): string;
  /** A point of the domain. */
  point(x: readonly number[]): string;
}

/** A text that may depend on the wording. */
export type Text = string | ((wording: Wording) => string);

/** An error that can be told in any wording; its `message` is in that of the library. */
export interface Worded {
  toText(wording: Wording): string;
}

const MOST_COORDINATES = 16;

/** The wording of the library. */
export const LIBRARY: Wording = {
  name: option => option,
  quoted: option => `\`${option}\``,
  setting: (option, value) => `${option}: '${value}'`,
  point: x => `[${x.slice(0, MOST_COORDINATES).join(', ')}${x.length > MOST_COORDINATES ? ', …' : ''}]`,
};

export function inWords(text: Text, wording: Wording): string {
  return typeof text === 'string' ? text : text(wording);
}

export function isWorded(error: unknown): error is Error & Worded {
  return error instanceof Error && 'toText' in error;
}
