/**
 * Reads ranges: x=0..1, y=-inf..inf, r=0..sqrt(2), or x,y,z=0..1 for several variables. Bounds may depend on variables whose ranges
 * come before, and on parameters: x=0..1 y=0..x. What stands between the bounds are breaks: x=0..0.3..1.
 */
import type { BoundsFunction } from '../integrand/function-bounds.ts';
import { boundsOf, constantOf, freeNames, nameWithoutValue } from './expression/integrand.ts';
import { FUNCTIONS, NAME } from './expression/names.ts';
import { UsageError } from './usage-error.ts';

export interface VariableRange {
  variable: string;
  range: [number, number] | BoundsFunction;
  /** The bounds as they are shown: numbers, or the expressions of those that depend on variables. */
  shown: [number | string, number | string];
  /** Places between the bounds where the integrand has a kink or a step. */
  breaks: number[];
}

/** Whether an argument is a range: it has names before an = that is not part of ==. */
export const isRange = (text: string): boolean => /^[^=<>!()]*=(?!=)/.test(text);

/** `params` are the names of the parameters. */
export function parseRanges(texts: readonly string[], params: readonly string[] = []): VariableRange[] {
  const found: VariableRange[] = [];
  for (const text of texts) {
    const equals = text.indexOf('=');
    const pieces = piecesOf(text, equals + 1);
    if (pieces.length < 2) {
      throw new UsageError(
        `'${text}' is no range.`,
        `A range has two dots, ${text.slice(0, equals) || 'x'}=0..1; a fixed value is --param ${text}.`,
        { text, start: equals + 1, end: text.length },
      );
    }
    const [from, to] = [pieces[0], pieces[pieces.length - 1]];
    const known = [...found.map(f => f.variable), ...params];
    const shown: VariableRange['shown'] = [
      bound(text, from, 'from where', known),
      bound(text, to, 'to where', known),
    ];
    const breaks = pieces.slice(1, -1).map(piece => bound(text, piece, 'where its break is', []) as number);
    const variables = found.map(f => f.variable);
    const range = shown.some(b => typeof b === 'string')
      ? boundsOf([text.slice(from.start, from.end), text.slice(to.start, to.end)], variables, params)
      : (shown as [number, number]);
    for (const { name, start } of namesOf(text.slice(0, equals))) {
      checkName(name, { text, start, end: start + Math.max(1, name.length) });
      if (found.some(f => f.variable === name))
        throw new UsageError(`The variable ${name} has two ranges.`, 'Give it one.', {
          text,
          start,
          end: start + name.length,
        });
      found.push({ variable: name, range, shown, breaks });
    }
  }
  return found;
}

interface Piece {
  start: number;
  end: number;
}

/** What stands between pairs of dots; 0...5 is 0 and .5. */
function piecesOf(text: string, start: number): Piece[] {
  const dots = text.indexOf('..', start);
  if (dots < 0) return [{ start, end: text.length }];
  return [{ start, end: dots }, ...piecesOf(text, dots + 2)];
}

function* namesOf(text: string): Iterable<{ name: string; start: number }> {
  let start = 0;
  for (const part of text.split(',')) {
    yield { name: part.trim(), start: start + (part.length - part.trimStart().length) };
    start += part.length + 1;
  }
}

/** Throws unless a variable or parameter may have this name. */
export function checkName(name: string, place: { text: string; start: number; end: number }): void {
  if (!NAME.test(name))
    throw new UsageError(
      `'${name}' is no name.`,
      'Names are made of letters, digits and _, such as x, x1 or theta.',
      place,
    );
  if (name === '__proto__')
    throw new UsageError('__proto__ has a meaning of its own in JavaScript.', 'Take another name.', place);
  if (FUNCTIONS.has(name))
    throw new UsageError(
      `${name} is a function, and cannot be a variable as well.`,
      'Take another name.',
      place,
    );
}

/** A number, or the expression of a bound that depends on some of the `known` names. */
function bound(text: string, { start, end }: Piece, what: string, known: readonly string[]): number | string {
  const place = { text, start, end: Math.max(end, start + 1) };
  const own = text.slice(start, end);
  if (own.trim() === '') throw new UsageError(`The range does not say ${what}.`, 'Write x=0..1.', place);
  return within(text, start, () => {
    if (freeNames(own, []).length === 0) return constantOf(own, 'a bound');
    nameWithoutValue(
      own,
      known,
      name => `Give ${name} a range before this one, or a value: --param ${name}=1.`,
    );
    return own.trim();
  });
}

/** Reads a part of a longer text, so that errors point to their place in the whole text. */
export function within<T>(whole: string, offset: number, step: () => T): T {
  try {
    return step();
  } catch (e) {
    if (!(e instanceof UsageError) || !e.place) throw e;
    const { start, end } = e.place;
    throw new UsageError(e.reason, e.remedy, {
      text: whole,
      start: start + offset,
      end: end + offset,
    });
  }
}
