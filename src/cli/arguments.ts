/**
 * Reads the command line: a command, its arguments and its options. A reader of our own is needed because expressions may
 * begin with a minus as options do: -x^2 is an expression, since no option has that name. Behind `--` nothing is an option.
 */

import { closest } from '../options/suggest.ts';
import { type OptionValue, readValue } from './option-values.ts';
import { COMMANDS, type Command, kebab, OPTIONS, type Option } from './options.ts';
import { UsageError } from './usage-error.ts';

export interface Arguments {
  command: Command;
  /** The arguments that are not options: expressions, ranges, files. */
  rest: string[];
  /** The options by their names in the table. An option that may be repeated has a list as its value. */
  options: Map<string, OptionValue | string[]>;
  /** Whether --help or the word help was typed. */
  help: boolean;
  version: boolean;
}

export function readArguments(argv: readonly string[]): Arguments {
  const rest: string[] = [];
  const options = new Map<string, OptionValue | string[]>();
  const given: { option: Option; typed: string }[] = [];
  let command: Command | undefined;
  let help = false;
  const argument = (text: string) => {
    if (rest.length === 0 && command === undefined && text === 'help' && !help) help = true;
    else if (rest.length === 0 && command === undefined && isCommand(text)) command = text;
    else rest.push(text);
  };
  for (let i = 0; i < argv.length; i++) {
    const text = argv[i];
    if (text === '--') {
      rest.push(...argv.slice(i + 1));
      break;
    }
    const [typed, inline] = splitOption(text);
    const option = typed === undefined ? undefined : find(typed);
    if (!option) {
      if (typed?.startsWith('--')) throw unknownOption(typed);
      argument(text);
      continue;
    }
    given.push({ option, typed: typed! });
    if (option.kind === 'flag') {
      if (inline !== undefined) throw new UsageError(`${typed} takes no value.`, `Write ${typed} alone.`);
      options.set(option.name, true);
      continue;
    }
    const value = inline ?? argv[++i];
    if (value === undefined)
      throw new UsageError(`${typed} has no value.`, `Write ${typed} ${option.value}: ${option.help}.`);
    if (option.repeats) options.set(option.name, [...((options.get(option.name) as string[]) ?? []), value]);
    else if (options.has(option.name)) throw new UsageError(`${typed} is given twice.`, 'Give it once.');
    else options.set(option.name, readValue(option, value));
  }
  const found = command ?? 'integrate';
  for (const { option, typed } of given) checkUse(option, typed, found);
  return {
    command: found,
    rest,
    options,
    help: help || options.has('help'),
    version: options.has('version'),
  };
}

const isCommand = (text: string): text is Command =>
  text !== 'integrate' && (COMMANDS as readonly string[]).includes(text);

/** Splits `--name=value` into name and value; the name is undefined when the text is no option. */
function splitOption(text: string): [string | undefined, string | undefined] {
  const [, name, value] = /^(--[a-z][\w.-]*)(?:=(.*))?$/is.exec(text) ?? [];
  return name !== undefined ? [name, value] : [/^-[a-z]$/i.test(text) ? text : undefined, undefined];
}

function find(typed: string): Option | undefined {
  if (!typed.startsWith('--')) return OPTIONS.find(o => o.short === typed.slice(1));
  const name = typed.slice(2);
  // options of a family may also be written as in the library: --vegas.maxStrata
  return OPTIONS.find(o => o.name === name || (o.name.includes('.') && o.name === kebab(name)));
}

function unknownOption(typed: string): UsageError {
  const near = closest(
    typed.slice(2),
    OPTIONS.map(o => o.name),
  );
  return new UsageError(
    `There is no option ${typed}.`,
    near ? `Did you mean --${near}?` : 'quadrille --help lists them; an expression goes behind --.',
  );
}

function checkUse(option: Option, typed: string, command: Command): void {
  if (option.commands.includes(command)) return;
  const where = option.commands.map(c => (c === 'integrate' ? "quadrille 'expression'" : `quadrille ${c}`));
  throw new UsageError(
    `${typed} is no option of ${command === 'integrate' ? 'an expression' : `quadrille ${command}`}.`,
    `It belongs to ${where.join(', ')}.`,
  );
}
