/**
 * The options `goals` and `learnFrom`: results of an integrand by name. Names are checked against what the integrand returns
 * once that is known.
 */
import { type BoundProgram, boundShape } from './integrand/bound.ts';
import { leaves, shapeText } from './integrand/shape.ts';
import type { Several } from './methods/method.ts';
import { OptionError } from './options/option-error.ts';
import { closest } from './options/suggest.ts';
import type { Text } from './options/wording.ts';
import { pairedBlocks, RESULTS_PER_PASS } from './tasks/correlation.ts';

/** A result of an integrand: its name, such as `mean`, `z.re` or `[0]`, or its number in their order. */
export type ResultName = string | number;

/** Results whose covariances may all be asked for: they take 120 passes over the same points. */
const MAX_PAIRED = 128;

type Names = ResultName | readonly ResultName[] | undefined;

const REMEDY = "pass the name of a result, such as 'mean' or 'z.re', or a list of names";

/** Throws unless a value is a name or a list of names. */
export function checkNames(option: string, value: unknown): void {
  const list = Array.isArray(value) ? value : [value];
  const isName = (v: unknown) => typeof v === 'string' || (typeof v === 'number' && Number.isInteger(v));
  if (list.length === 0 || !list.every(isName)) throw new OptionError(option, value, REMEDY);
}

/** What methods must know of several results; undefined for an integrand that returns a number. */
export function severalOf(
  integrand: BoundProgram,
  { goals, learnFrom, covariance }: { goals?: Names; learnFrom?: Names; covariance?: 'passes' | 'all' },
): Several | undefined {
  const shape = boundShape(integrand);
  for (const [option, value] of Object.entries({ goals, learnFrom }))
    if (shape === 'number' && value !== undefined)
      throw new OptionError(
        option,
        value,
        'leave it out, or return an array or object of numbers',
        w => `${w.quoted(option)} is given, and the integrand returns a single number`,
      );
  if (shape === 'number') return undefined;
  const names = leaves(shape);
  const found = (option: string, given: Names): number[] | undefined => {
    if (given === undefined) return undefined;
    const list = Array.isArray(given) ? given : [given];
    const numbers = list.flatMap(name => named(option, name, names, shapeText(shape)));
    return [...new Set(numbers)].sort((a, b) => a - b);
  };
  const own = found('goals', goals) ?? names.map((_, i) => i);
  const allPairs = covariance === 'all' && names.length > RESULTS_PER_PASS;
  if (allPairs && names.length > MAX_PAIRED)
    throw new OptionError(
      'covariance',
      covariance,
      `leave it out, or return at most ${MAX_PAIRED} results`,
      `the integrand returns ${names.length} results, and all of their pairs would take ${pairedBlocks(names.length).length} passes`,
    );
  return {
    count: names.length,
    goals: own,
    leads: found('learnFrom', learnFrom) ?? own,
    names,
    ...(allPairs && { allPairs }),
  };
}

/**
 * The number of the one result that an option names: 0 for an integrand that returns a number, and leaves the option out. `caller`
 * is the function that has the option.
 */
export function namedResult(
  integrand: BoundProgram,
  option: string,
  name: ResultName | undefined,
  caller?: string,
): number {
  const shape = boundShape(integrand);
  const refuse = (remedy: string, reason: Text) => new OptionError(option, name, remedy, reason, caller);
  if (shape === 'number') {
    if (name === undefined) return 0;
    throw refuse(
      'leave it out, or return an array or object of numbers',
      w => `${w.quoted(option)} is given, and the integrand returns a single number`,
    );
  }
  const names = leaves(shape);
  const returned = shapeText(shape);
  if (name === undefined)
    throw refuse(
      `name one with it, such as ${names[0].startsWith('[') ? 0 : `'${names[0]}'`}`,
      w => `the integrand returns ${returned}, and ${w.quoted(option)} names none of these results`,
    );
  const numbers = named(option, name, names, returned, caller);
  if (numbers.length === 1) return numbers[0];
  throw refuse(
    `pass the name of one, such as '${names[numbers[0]]}'`,
    w => `${w.quoted(option)} names ${numbers.length} results: '${name}'`,
  );
}

/** The numbers of the results that a name stands for: one, or all of a group. */
function named(
  option: string,
  name: ResultName,
  names: readonly string[],
  shape: string,
  caller?: string,
): number[] {
  const all = names.map((_, i) => i);
  const inGroup = (i: number) => names[i].startsWith(`${name}.`) || names[i].startsWith(`${name}[`);
  const numbers =
    typeof name === 'number'
      ? all.filter(i => i === name)
      : all.filter(i => names[i] === name || (name !== '' && inGroup(i)));
  if (numbers.length > 0) return numbers;
  const near = typeof name === 'string' ? closest(name, names) : undefined;
  throw new OptionError(
    option,
    name,
    near === undefined
      ? `the integrand returns ${shape}`
      : `did you mean '${near}'? The integrand returns ${shape}`,
    w => `${w.quoted(option)} names no result: ${typeof name === 'string' ? `'${name}'` : name}`,
    caller,
  );
}
