/** Reads ranges: x=0..1, y=-inf..inf, r=0..sqrt(2), or x,y,z=0..1 for several variables. */
import { constantOf } from './expression/integrand.ts';
import { FUNCTIONS, NAME } from './expression/names.ts';
import { UsageError } from './usage-error.ts';

export interface VariableRange {
  variable: string;
  range: [number, number];
}

/** Whether an argument is a range: it has names before an = that is not part of ==. */
export const isRange = (text: string): boolean => /^[^=<>!()]*=(?!=)/.test(text);

export function parseRanges(texts: readonly string[]): VariableRange[] {
  const found: VariableRange[] = [];
  for (const text of texts) {
    const equals = text.indexOf('=');
    const bounds = text.slice(equals + 1);
    const dots = bounds.indexOf('..');
    if (dots < 0) {
      throw new UsageError(
        `'${text}' is no range.`,
        `A range has two dots, ${text.slice(0, equals) || 'x'}=0..1; a fixed value is --param ${text}.`,
        { text, start: equals + 1, end: text.length },
      );
    }
    const at = equals + 1 + dots;
    const range: [number, number] = [
      bound(text, equals + 1, at, 'from where'),
      bound(text, at + 2, text.length, 'to where'),
    ];
    for (const { name, start } of namesOf(text.slice(0, equals))) {
      checkName(name, { text, start, end: start + Math.max(1, name.length) });
      if (found.some(f => f.variable === name))
        throw new UsageError(`The variable ${name} has two ranges.`, 'Give it one.', {
          text,
          start,
          end: start + name.length,
        });
      found.push({ variable: name, range });
    }
  }
  return found;
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

function bound(text: string, start: number, end: number, what: string): number {
  const place = { text, start, end: Math.max(end, start + 1) };
  const own = text.slice(start, end);
  if (own.trim() === '') throw new UsageError(`The range does not say ${what}.`, 'Write x=0..1.', place);
  return within(text, start, () => constantOf(own, 'a bound'), boundRemedy);
}

/** People often try variables in a bound first; a condition in the integrand gives the same domain. */
const boundRemedy = (remedy: string | undefined) =>
  remedy ?? 'A domain whose bounds depend on variables is written as a condition: (y < x) * f over a box.';

/** Reads a part of a longer text, so that errors point to their place in the whole text. */
export function within<T>(
  whole: string,
  offset: number,
  step: () => T,
  remedy: (r: string | undefined) => string | undefined = r => r,
): T {
  try {
    return step();
  } catch (e) {
    if (!(e instanceof UsageError) || !e.place) throw e;
    const { start, end } = e.place;
    throw new UsageError(e.reason, remedy(e.remedy), {
      text: whole,
      start: start + offset,
      end: end + offset,
    });
  }
}
