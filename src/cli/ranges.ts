/**
 * Reads ranges: x=0..1, y=-inf..inf, r=0..sqrt(2), or x,y,z=0..1 for several variables. Bounds may depend on variables whose ranges
 * come before, and on parameters: x=0..1 y=0..x. What stands between the bounds are breaks: x=0..0.3..1. Behind an infinite range,
 * @ says where the integrand lies and ~ how far it reaches: x=-inf..inf@5~0.1. Several variables together may have a shape, with its
 * size in brackets and its centre behind @: x,y=ball, x,y,z=sphere(2), x,y=ball(2)@1,0 (shape-ranges.ts).
 */
import type { DomainPart } from '../integrand/domain.ts';
import { boundsOf, constantOf, freeNames, nameWithoutValue } from './expression/integrand.ts';
import { FUNCTIONS, NAME } from './expression/names.ts';
import { shapeIn } from './shape-ranges.ts';
import { UsageError } from './usage-error.ts';

export interface VariableRange {
  variable: string;
  /** Null for all variables of a shape but the first. */
  range: DomainPart | null;
  /** The bounds as they are shown: numbers, or the expressions of those that depend on variables. Of a shape, its text. */
  shown: [string] | [number | string, number | string];
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
    const names = [...namesOf(text.slice(0, equals))];
    for (const { name, start } of names) {
      const place = { text, start, end: start + Math.max(1, name.length) };
      checkName(name, place);
      if (found.some(f => f.variable === name) || names.some(n => n.name === name && n.start < start))
        throw new UsageError(`The variable ${name} has two ranges.`, 'Give it one.', place);
    }
    const shape = shapeIn(text, equals + 1, names.length);
    if (shape) {
      for (const [i, { name }] of names.entries())
        found.push({
          variable: name,
          range: i === 0 ? shape : null,
          shown: [text.replace('=', ' ')],
          breaks: [],
        });
      continue;
    }
    const { end, ...around } = aroundOf(text, equals + 1);
    const pieces = piecesOf(text.slice(0, end), equals + 1);
    if (pieces.length < 2) {
      throw new UsageError(
        `'${text}' is no range.`,
        `A range has two dots, ${text.slice(0, equals) || 'x'}=0..1; a fixed value is --param ${text}.`,
        { text, start: equals + 1, end: text.length },
      );
    }
    const [from, to] = [pieces[0], pieces[pieces.length - 1]];
    const known = [...found.map(f => f.variable), ...params];
    const shown: [number | string, number | string] = [
      bound(text, from, 'from where', known),
      bound(text, to, 'to where', known),
    ];
    const breaks = pieces.slice(1, -1).map(piece => bound(text, piece, 'where its break is', []) as number);
    checkAround(around, shown, { text, start: end, end: text.length });
    const variables = found.map(f => f.variable);
    const range = shown.some(b => typeof b === 'string')
      ? boundsOf([text.slice(from.start, from.end), text.slice(to.start, to.end)], variables, params)
      : Object.keys(around).length > 0
        ? { from: shown[0] as number, to: shown[1] as number, ...around }
        : (shown as [number, number]);
    for (const { name } of names) found.push({ variable: name, range, shown, breaks });
  }
  return found;
}

interface Around {
  centre?: number;
  scale?: number;
}

/** What stands behind a range, and where the range itself ends: @ and the centre, then ~ and the scale. */
function aroundOf(text: string, start: number): Around & { end: number } {
  const found: Around & { end: number } = { end: text.length };
  for (const [sign, member, what] of [
    ['~', 'scale', 'a scale'],
    ['@', 'centre', 'a centre'],
  ] as const) {
    const at = text.indexOf(sign, start);
    if (at < 0 || at >= found.end) continue;
    const own = text.slice(at + 1, found.end);
    found[member] = within(text, at + 1, () => constantOf(own, what));
    found.end = at;
  }
  return found;
}

/** Throws where a range has no use for a centre or a scale. */
function checkAround(
  { centre, scale }: Around,
  shown: readonly (number | string)[],
  place: { text: string; start: number; end: number },
): void {
  if (centre === undefined && scale === undefined) return;
  const infinite = shown.filter(b => Math.abs(Number(b)) === Infinity).length;
  if (infinite === 0 || shown.some(b => typeof b === 'string'))
    throw new UsageError(
      '@ and ~ are for infinite ranges with fixed ends.',
      'Leave them out; where the integrand has a narrow peak is said by --point.',
      place,
    );
  if (centre !== undefined && infinite < 2)
    throw new UsageError(
      '@ is for ranges that are infinite at both ends.',
      'Leave it out; ~ says how far from its end the integrand reaches.',
      place,
    );
  if (scale !== undefined && !(scale > 0 && scale < Infinity))
    throw new UsageError(`The scale behind ~ is ${scale}.`, 'Give a number above 0.', place);
  if (centre !== undefined && !Number.isFinite(centre))
    throw new UsageError(`The centre behind @ is ${centre}.`, 'Give a number.', place);
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
