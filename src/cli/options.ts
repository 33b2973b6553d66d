/**
 * Every option of the command line, in one table: parsing, help, completion and suggestions all read it. Options of the
 * library come from its own tables; only what the library does not have is declared here.
 */

import { DEVICES } from '../devices/registry.ts';
import { FAMILIES, METHOD_NAMES } from '../methods/names.ts';
import type { Entry, Kind as LibraryKind, OptionTable } from '../options/table.ts';
import { INTEGRATE_OPTIONS } from '../problem.ts';
import { OPTION_WORDS } from './words.ts';

export const COMMANDS = [
  'integrate',
  'run',
  'scan',
  'explain',
  'devices',
  'worker',
  'workers',
  'cluster',
  'bench',
  'completion',
] as const;
export type Command = (typeof COMMANDS)[number];

/** How the value of an option is read; a `flag` has no value. */
export type Kind =
  | Exclude<LibraryKind, 'signal' | 'function' | 'family' | 'other'>
  | 'flag'
  | 'text'
  | 'file';

export interface Option {
  name: string;
  short?: string;
  kind: Kind;
  /** What stands for the value in help texts. */
  value?: string;
  choices?: readonly string[];
  repeats?: boolean;
  help: string;
  commands: readonly Command[];
  /** The member of the library's options that it sets, as `relTol` or `vegas.bins`. */
  sets?: string;
}

const SOLVING = ['integrate', 'run', 'scan'] as const;

/** Options of the library that belong to other commands than those that integrate. */
const COMMANDS_OF: Record<string, readonly Command[]> = {
  device: [...SOLVING, 'bench', 'worker', 'cluster'],
  dims: ['run', 'scan', 'explain'],
};

/** What stands for a value of each kind; kinds that are not here cannot be typed. */
const PLACEHOLDERS: Partial<Record<LibraryKind, string>> = {
  number: 'X',
  whole: 'N',
  integer: 'N',
  duration: 'TIME',
  boolean: 'BOOL',
  choice: 'NAME',
  device: 'NAME',
};

export function* optionsFrom(
  table: OptionTable,
  words: Readonly<Record<string, string>>,
  family = '',
): Iterable<Option> {
  for (const [name, entry] of Object.entries(table)) {
    if (entry.kind === 'family') yield* optionsFrom(entry.table!, words, name);
    const kind = entry.typedAs ?? entry.kind;
    const placeholder = PLACEHOLDERS[kind];
    if (!placeholder) continue;
    const choices = choicesOf(entry);
    yield {
      name: kebab(family ? `${family}.${name}` : name),
      kind: kind as Kind,
      value: entry.placeholder ?? placeholder,
      ...(choices && { choices }),
      help: family ? `options of ${methodsOf(family).join(', ')}` : helpOf(words[name] ?? '', entry),
      commands: COMMANDS_OF[name] ?? SOLVING,
      sets: family ? `${family}.${name}` : name,
    };
  }
}

function choicesOf({ kind, choices }: Entry): readonly string[] | undefined {
  if (kind === 'device') return DEVICES.map(d => d.kind);
  return kind === 'boolean' ? ['true', 'false'] : choices;
}

const methodsOf = (family: string): string[] => METHOD_NAMES.filter(m => FAMILIES[m] === family);

/** The words, with the default value where it is one that can be typed. */
function helpOf(help: string, { default: value }: Entry): string {
  if (value === undefined || value === Infinity) return help;
  return `${help} (${typeof value === 'number' ? shortest(value) : value})`;
}

/** A number as people type it: 1e9 rather than 1000000000, 0.5 rather than 5e-1. */
function shortest(value: number): string {
  const exponential = value.toExponential().replace('e+', 'e');
  return exponential.length < String(value).length ? exponential : String(value);
}

export const OPTIONS: readonly Option[] = [
  ...optionsFrom(INTEGRATE_OPTIONS, OPTION_WORDS),
  {
    name: 'param',
    short: 'p',
    kind: 'text',
    value: 'A=VALUE',
    repeats: true,
    help: 'a value for a name in the integrand; repeat it for other names',
    commands: [...SOLVING, 'explain'],
  },
  {
    name: 'table',
    kind: 'text',
    value: 'F=FILE',
    repeats: true,
    help: 'a table f(x) to f(x, y, z) from a CSV file; F=FILE:cubic,log for cubics and logarithmic axes',
    commands: [...SOLVING, 'explain'],
  },
  {
    name: 'point',
    kind: 'text',
    value: 'X,Y',
    repeats: true,
    help: 'where a narrow peak is, a coordinate per variable; repeat it for other peaks',
    commands: SOLVING,
  },
  {
    name: 'target',
    kind: 'choice',
    value: 'NAME',
    choices: ['ir', 'js', 'wasm', 'cuda', 'wgsl'],
    help: 'what to show: ir (default), js, wasm, cuda or wgsl',
    commands: ['explain'],
  },
  {
    name: 'json',
    kind: 'flag',
    help: 'print JSON',
    commands: ['integrate', 'run', 'scan', 'devices', 'workers', 'bench'],
  },
  {
    name: 'svg',
    kind: 'file',
    value: 'FILE',
    help: 'draw the convergence into a file',
    commands: ['integrate', 'run'],
  },
  {
    name: 'quiet',
    short: 'q',
    kind: 'flag',
    help: 'print the result and nothing else',
    commands: [...SOLVING, 'worker'],
  },
  {
    name: 'resume',
    kind: 'text',
    value: 'RUN',
    help: 'with --device nats://host: a name for the run; the same command goes on after a death',
    commands: SOLVING,
  },
  {
    name: 'name',
    kind: 'text',
    value: 'NAME',
    help: 'what the worker is called; by default the machine and the number of the process',
    commands: ['worker'],
  },
  {
    name: 'part-evaluations',
    kind: 'number',
    value: 'N',
    help: 'refuse parts that take more evaluations (1e12)',
    commands: ['worker'],
  },
  {
    name: 'part-memory',
    kind: 'number',
    value: 'BYTES',
    help: 'refuse parts whose program and lists take more bytes (1073741824)',
    commands: ['worker'],
  },
  {
    name: 'part-time',
    kind: 'duration',
    value: 'TIME',
    help: 'end parts that take longer (10min)',
    commands: ['worker'],
  },
  {
    name: 'workers',
    kind: 'whole',
    value: 'N',
    help: 'how many workers to start, which share the cores (2)',
    commands: ['cluster'],
  },
  { name: 'help', short: 'h', kind: 'flag', help: 'show help', commands: COMMANDS },
  { name: 'version', short: 'V', kind: 'flag', help: 'show the version', commands: COMMANDS },
];

/** Turns relTol into rel-tol. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, c => `-${c.toLowerCase()}`);
}

export const optionsOf = (command: Command): Option[] => OPTIONS.filter(o => o.commands.includes(command));
