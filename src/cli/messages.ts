/** Errors of the library in the words of the command line: options as they are typed, points by the names of their variables. */
import { visible } from '../options/visible.ts';
import { isWorded, LIBRARY, type Wording } from '../options/wording.ts';
import { OPTIONS } from './options.ts';
import type { VariableRange } from './ranges.ts';
import { UsageError } from './usage-error.ts';

const FLAGS = new Map(OPTIONS.filter(o => o.sets).map(o => [o.sets!, `--${o.name}`]));

function wordingFor(ranges: readonly VariableRange[]): Wording {
  const variables = ranges.map(r => r.variable);
  return {
    name: option => FLAGS.get(option) ?? LIBRARY.name(option),
    quoted: option => FLAGS.get(option) ?? rangeName(option, ranges) ?? LIBRARY.quoted(option),
    setting: (option, value) =>
      FLAGS.has(option) ? `${FLAGS.get(option)} ${value}` : LIBRARY.setting(option, value),
    point: x =>
      x.length <= variables.length
        ? x.map((xi, i) => `${variables[i]} = ${xi}`).join(', ')
        : LIBRARY.point(x),
  };
}

/** `domain[1]` in the words of somebody who typed a range for y. */
function rangeName(option: string, ranges: readonly VariableRange[]): string | undefined {
  const [, part] = /^domain\[(\d+)\]$/.exec(option) ?? [];
  const parts = ranges.filter(r => r.range !== null);
  const name = part === undefined ? undefined : parts[Number(part)]?.variable;
  return name && `the range of ${name}`;
}

/** What an error says to somebody at the command line, without control characters. `ranges` are those that were typed. */
export function messageOf(error: unknown, ranges: readonly VariableRange[] = []): string {
  const text = isWorded(error)
    ? error.toText(wordingFor(ranges))
    : error instanceof Error
      ? error.message
      : thrown(error);
  return visible(text.replace(LONG, word => `${word.slice(0, 200)}…`));
}

/** A word that is longer than any path: nobody wants a screen full of it. */
const LONG = /\S{4097,}/g;

/** Something that was thrown and is no error; JavaScript cannot make a text of every object. */
export const thrown = (value: unknown): string => (isObject(value) ? 'an object' : String(value));
const isObject = (value: unknown) => typeof value === 'object' && value !== null;

/** An error that names a point is told with the variables of this problem; others stay as they are. */
export function withVariables(error: unknown, ranges: readonly VariableRange[]): unknown {
  return isWorded(error) ? new UsageError(messageOf(error, ranges)) : error;
}
