/**
 * A text with insertions, and its source map (version 3). No insertion has a line break, so that lines stay what they are, and
 * a map of earlier steps is mended by moving columns to the right.
 */

export interface Insertion {
  /** The offset in the text. */
  at: number;
  text: string;
}

export interface SourceMap {
  version: number;
  sources: (string | null)[];
  sourcesContent?: (string | null)[];
  names: string[];
  mappings: string;
  file?: string;
}

/** The text with its insertions. `map` leads from `text` to its sources; without it, the map leads to `text` itself. */
export function insert(
  text: string,
  insertions: readonly Insertion[],
  map?: SourceMap | null,
): { code: string; map: SourceMap } {
  const sorted = [...insertions].sort((a, b) => a.at - b.at); // stable: at one offset they keep their order
  let code = '';
  let from = 0;
  for (const { at, text: added } of sorted) {
    code += text.slice(from, at) + added;
    from = at;
  }
  code += text.slice(from);
  const lines = map ? decode(map.mappings) : wordsOf(text);
  const own = { version: 3, sources: [''], sourcesContent: [text], names: [] };
  return { code, map: { ...(map ?? own), mappings: encode(shifted(text, lines, sorted)) } };
}

/** A place in a line of the text: its column, then source, line and column there, and sometimes a name. */
type Place = number[];

/** The places of a text that is its own source, one for each word. */
const wordsOf = (text: string): Place[][] =>
  text
    .split('\n')
    .map((line, i) => [...line.matchAll(/\w+|[^\w\s]/g)].map(({ index }) => [index, 0, i, index]));

function shifted(text: string, lines: readonly Place[][], insertions: readonly Insertion[]): Place[][] {
  const byLine = new Map<number, { column: number; length: number }[]>();
  for (const { at, text: added } of insertions) {
    const before = text.slice(0, at);
    const line = before.split('\n').length - 1;
    const here = { column: at - (before.lastIndexOf('\n') + 1), length: added.length };
    byLine.set(line, [...(byLine.get(line) ?? []), here]);
  }
  const moved = (column: number, line: number): number =>
    (byLine.get(line) ?? []).reduce((sum, i) => (i.column <= column ? sum + i.length : sum), column);
  return lines.map((places, line) => places.map(([column, ...rest]) => [moved(column, line), ...rest]));
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Numbers in a map are differences to those before, in base 64 with five bits a digit, the lowest bit being the sign. */
function encode(lines: readonly Place[][]): string {
  const last: Place = [0, 0, 0, 0, 0];
  const digits = (value: number): string => {
    let [left, text] = [value < 0 ? 1 - 2 * value : 2 * value, ''];
    do {
      const digit = left % 32;
      left = Math.floor(left / 32);
      text += DIGITS[left > 0 ? digit + 32 : digit];
    } while (left > 0);
    return text;
  };
  const write = (place: Place) =>
    place
      .map((value, k) => {
        const text = digits(value - last[k]);
        last[k] = value;
        return text;
      })
      .join('');
  return lines
    .map(places => {
      last[0] = 0;
      return places.map(write).join(',');
    })
    .join(';');
}

function decode(mappings: string): Place[][] {
  const last: Place = [0, 0, 0, 0, 0];
  const read = (text: string): Place => {
    const place: Place = [];
    let [value, unit] = [0, 1];
    for (const c of text) {
      const digit = DIGITS.indexOf(c);
      value += (digit % 32) * unit;
      unit *= 32;
      if (digit >= 32) continue;
      const k = place.length;
      last[k] += value % 2 === 1 ? -(value - 1) / 2 : value / 2;
      place.push(last[k]);
      [value, unit] = [0, 1];
    }
    return place;
  };
  return mappings.split(';').map(line => {
    last[0] = 0;
    return line === '' ? [] : line.split(',').map(read);
  });
}
