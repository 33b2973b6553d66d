/** Every option of the command line, in one table: parsing, help, completion and suggestions all read it. */
import { CUBATURE_OPTIONS, RULES } from '../methods/cubature/cubature.ts';
import { VEGAS_OPTIONS } from '../methods/vegas/vegas.ts';
import { ZMC_OPTIONS } from '../methods/zmc/zmc.ts';
import { METHODS } from '../problem.ts';

export const COMMANDS = ['integrate', 'run', 'scan', 'explain', 'devices', 'bench', 'completion'] as const;
export type Command = (typeof COMMANDS)[number];

/** How the text behind an option is read; a `flag` has none. */
export type Kind =
  | 'flag'
  | 'number'
  | 'whole'
  | 'integer'
  | 'duration'
  | 'switch'
  | 'choice'
  | 'text'
  | 'file';

export interface Option {
  name: string;
  short?: string;
  kind: Kind;
  /** Stands for the value in help texts. */
  value?: string;
  choices?: readonly string[];
  repeats?: boolean;
  help: string;
  commands: readonly Command[];
  /** The member of the library's options that it sets, as `relTol` or `vegas.bins`. */
  sets?: string;
}

const SOLVING = ['integrate', 'run', 'scan'] as const;

const problem = (
  name: string,
  kind: Kind,
  value: string,
  help: string,
  more: Partial<Option> = {},
): Option => ({
  name,
  kind,
  value,
  help,
  commands: SOLVING,
  sets: camel(name),
  ...more,
});

/** Knobs that are no whole numbers. */
const KNOBS: Record<string, Partial<Option>> = {
  'vegas.alpha': { kind: 'number' },
  'vegas.beta': { kind: 'number' },
  'cubature.rule': { kind: 'choice', value: 'RULE', choices: RULES },
  'cubature.relErrFilter': { kind: 'switch', value: 'BOOL', choices: ['true', 'false'] },
  'zmc.sigma': { kind: 'number' },
};

const knobs = (family: string, names: readonly string[], methods: string): Option[] =>
  names.map(name => ({
    name: `${family}.${kebab(name)}`,
    kind: 'whole',
    value: 'N',
    help: `knobs of ${methods}`,
    commands: SOLVING,
    sets: `${family}.${name}`,
    ...KNOBS[`${family}.${name}`],
  }));

export const OPTIONS: readonly Option[] = [
  problem('rel-tol', 'number', 'X', 'relative error to reach (1e-3)'),
  problem('abs-tol', 'number', 'X', 'absolute error that is enough as well (0)'),
  problem('method', 'choice', 'NAME', `one of ${METHODS.join(', ')}`, { choices: METHODS }),
  problem(
    'device',
    'text',
    'NAME',
    'cpu (every core), cpu:3 (three workers), cuda, cuda:1, cuda:0,cuda:1, cuda:* (all), js',
    {
      commands: [...SOLVING, 'bench'],
      choices: ['auto', 'cpu', 'cuda', 'js'],
    },
  ),
  problem('seed', 'integer', 'N', 'same seed, same digits (1)'),
  problem('max-evaluations', 'number', 'N', 'stop after so many evaluations (1e9)'),
  problem('max-time', 'duration', 'TIME', 'stop after 10s, 500ms, 2min'),
  problem('max-iterations', 'whole', 'N', 'stop after so many iterations (10000)'),
  {
    name: 'param',
    short: 'p',
    kind: 'text',
    value: 'A=VALUE',
    repeats: true,
    help: 'a value for a name in the integrand; again for another one',
    commands: [...SOLVING, 'explain'],
  },
  problem('on-non-finite', 'choice', 'WHAT', 'error (stop) or zero (count NaN and infinities as 0)', {
    choices: ['error', 'zero'],
  }),
  {
    name: 'dims',
    kind: 'whole',
    value: 'N',
    help: 'the unit cube of N dimensions, for an integrand from a file',
    commands: ['run', 'scan', 'explain'],
  },
  {
    name: 'target',
    kind: 'choice',
    value: 'NAME',
    choices: ['ir', 'js', 'wasm', 'cuda'],
    help: 'what to show: ir (default), js, wasm or cuda',
    commands: ['explain'],
  },
  {
    name: 'json',
    kind: 'flag',
    help: 'print JSON',
    commands: ['integrate', 'run', 'scan', 'devices', 'bench'],
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
    commands: SOLVING,
  },
  ...knobs('vegas', VEGAS_OPTIONS, 'vegas+, mcubes, mcubes1d, plain'),
  ...knobs('cubature', CUBATURE_OPTIONS, 'pagani, cuhre, two-phase'),
  ...knobs('zmc', ZMC_OPTIONS, 'zmc'),
  { name: 'help', short: 'h', kind: 'flag', help: 'show help', commands: COMMANDS },
  { name: 'version', short: 'V', kind: 'flag', help: 'show the version', commands: COMMANDS },
];

/** relTol as rel-tol. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, c => `-${c.toLowerCase()}`);
}

/** rel-tol as relTol. */
export function camel(name: string): string {
  return name.replace(/-([a-z])/g, (_, c: string) => c.toUpperCase());
}

export const optionsOf = (command: Command): Option[] => OPTIONS.filter(o => o.commands.includes(command));
