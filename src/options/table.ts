/**
 * An option is declared once, as an entry of a table. From the table come its type (`OptionsOf`), its check, its default
 * value, its flag on the command line with completion (cli/words.ts has its help), and its row in docs/api.md. The doc comment of an entry is
 * its documentation: editors show it where the option is used, and scripts/api.mjs copies it.
 *
 * The tables stand with what they configure: `INTEGRATE_OPTIONS` in problem.ts, those of methods in methods/.
 */
import { OptionError } from './option-error.ts';
import { closest } from './suggest.ts';
import type { Text } from './wording.ts';

/** What values an option takes. The command line can read the kinds up to `device`. */
export type Kind =
  | 'number'
  | 'whole'
  | 'integer'
  | 'duration'
  | 'boolean'
  | 'choice'
  | 'device'
  | 'signal'
  | 'function'
  | 'family'
  | 'other';

export interface Entry {
  kind: Kind;
  /** Numbers: the smallest value, or a value that all have to be above; and the largest value. */
  least?: number;
  above?: number;
  most?: number;
  /** Numbers: Infinity is allowed. */
  infinite?: boolean;
  /** `choice`: the names. */
  choices?: readonly string[];
  /** `family`: the options of a family of methods. */
  table?: OptionTable;
  /** The value without the option, where that is one value for all methods. */
  default?: unknown;
  /** A condition that kind and bounds cannot express. */
  accepts?(value: number): boolean;
  /** What to pass instead of a value that is refused, where the sentence made from kind and bounds does not do. */
  remedy?: Text;
  /** The same for a value above `most`. */
  remedyAbove?: Text;
  /** Throws unless a value of kind `device` or `other` makes sense. */
  check?(value: unknown): void;
  /** The command line: what stands for the value in help texts. */
  placeholder?: string;
  /** The command line: another way to read the value. */
  typedAs?: Kind;
}

export type OptionTable = { readonly [name: string]: Entry };

declare const TYPE: unique symbol;

/** An entry whose values have the type T. */
export type EntryOf<T> = Entry & { readonly [TYPE]?: T };

/** Gives an entry a type that does not follow from its kind. */
export const entryOf = <T>(entry: Entry): EntryOf<T> => entry;

type ValueOf<E> = typeof TYPE extends keyof E
  ? Exclude<E[typeof TYPE], undefined>
  : E extends { choices: readonly (infer C)[] }
    ? C
    : E extends { kind: 'integer' }
      ? number | bigint | string
      : E extends { kind: 'boolean' }
        ? boolean
        : number;

/** The options that a table declares, with the doc comments of its entries. */
export type OptionsOf<T> = { -readonly [K in keyof T]?: ValueOf<T[K]> };

/** Refuses options that the table does not have, and values that its entries do not allow. `family` is '' for `integrate`. */
export function checkOptions(table: OptionTable, given: object, family = ''): void {
  const names = Object.keys(table);
  const full = (name: string) => (family ? `${family}.${name}` : name);
  if (given === null || typeof given !== 'object' || Array.isArray(given))
    throw new OptionError(family, given, `pass an object with ${names.join(', ')}`);
  const unknown = Object.keys(given).find(name => !names.includes(name));
  const near = unknown && closest(unknown, names);
  if (unknown)
    throw new OptionError(
      full(unknown),
      undefined,
      `${near ? `did you mean \`${full(near)}\`? The` : 'the'} ${family ? 'knobs' : 'options'} are ${names.join(', ')}`,
      w => `unknown option ${w.quoted(full(unknown))}`,
    );
  for (const name of names) {
    const value = (given as Record<string, unknown>)[name];
    if (value !== undefined) checkValue(full(name), table[name], value);
  }
}

/** The given options, and the defaults of those that are undefined. */
export function withDefaults<T extends object>(table: OptionTable, given: T): T {
  const all = { ...given } as Record<string, unknown>;
  for (const name of Object.keys(table)) {
    const { default: usual } = table[name];
    if (usual !== undefined) all[name] ??= usual;
  }
  return all as T;
}

function checkValue(name: string, entry: Entry, value: unknown): void {
  const refuse = (remedy: Text): never => {
    throw new OptionError(name, value, entry.remedy ?? remedy);
  };
  switch (entry.kind) {
    case 'number':
    case 'whole':
    case 'duration':
      return checkNumber(name, entry, value);
    case 'integer':
      if (typeof value !== 'bigint' && !Number.isSafeInteger(value) && !isDigits(value))
        refuse('pass a whole number, a bigint, or its digits as a string');
      // with more bits, seeds that differ would give the same numbers
      if (BigInt(value as bigint) >= 2n ** 64n || BigInt(value as bigint) < -(2n ** 63n))
        refuse('pass a whole number of at most 64 bits');
      return;
    case 'boolean':
      if (typeof value !== 'boolean') refuse('pass true or false, or leave it out');
      return;
    case 'choice':
      if (!entry.choices!.includes(value as string))
        refuse(`use ${entry.choices!.map(c => `'${c}'`).join(', ')}`);
      return;
    case 'signal':
      if (!(value instanceof AbortSignal)) refuse('pass the signal of an AbortController');
      return;
    case 'function':
      if (typeof value !== 'function') refuse('pass a function');
      return;
    case 'family':
      return checkOptions(entry.table!, value as object, name);
    default:
      entry.check?.(value);
  }
}

/** A whole number as text. */
const isDigits = (value: unknown): boolean => typeof value === 'string' && /^-?\d{1,20}$/.test(value);

function checkNumber(name: string, entry: Entry, value: unknown): void {
  const { kind, least, above, most = Infinity, infinite = false, accepts, remedy, remedyAbove } = entry;
  const noun = kind === 'whole' ? 'whole number' : 'number';
  const fits =
    typeof value === 'number' &&
    (least === undefined || value >= least) &&
    (above === undefined || value > above) &&
    (infinite || value < Infinity) &&
    (kind !== 'whole' || Number.isInteger(value)) &&
    (accepts?.(value) ?? true);
  const from = least === undefined ? `above ${above}` : `from ${least} on`;
  if (!fits) throw new OptionError(name, value, remedy ?? `pass a ${noun} ${from}`);
  const range = kind === 'whole' ? `pass at most ${most}` : `pass a ${noun} from ${least} to ${most}`;
  if (value > most) throw new OptionError(name, value, remedyAbove ?? remedy ?? range);
}
