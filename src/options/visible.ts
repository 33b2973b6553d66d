/**
 * Text from outside, for messages: control characters are written as \x1b, so that no message can move the cursor, hide a
 * line, set the title of a terminal or reverse the order of its letters.
 */

// control characters (terminals read U+009B as ESC [), halves of surrogate pairs, and marks that change the direction of text
const HIDDEN = /[\p{Cc}\p{Cs}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;

export const visible = (text: string): string =>
  text.replace(HIDDEN, c => (c === '\n' || c === '\t' ? c : escaped(c)));

/** Every character in one column: for lines with carets below them. */
export const oneColumn = (text: string): string => text.replace(HIDDEN, c => (/\s/.test(c) ? ' ' : '?'));

/** The same for JSON, which has its own way to write a character. JSON.stringify has dealt with those below a space. */
export const visibleJson = (json: string): string => json.replace(HIDDEN, unicode);

const hex = (c: string, digits: number) => c.charCodeAt(0).toString(16).padStart(digits, '0');
const unicode = (c: string) => `\\u${hex(c, 4)}`;
const escaped = (c: string) => (c === '\r' ? '\\r' : c.charCodeAt(0) < 256 ? `\\x${hex(c, 2)}` : unicode(c));
