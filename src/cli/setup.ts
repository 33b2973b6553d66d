/** Makes a problem for the library from the arguments: the integrand, from an expression or a file, and its options. */
import { isServer } from '../devices/cluster/server-url.ts';
import { takesFunctions } from '../devices/registry.ts';
import { checkParams } from '../integrand/check-params.ts';
import type { Integrand } from '../integrand/compile.ts';
import { closest } from '../options/suggest.ts';
import type { AllOptions } from '../problem.ts';
import type { Arguments } from './arguments.ts';
import { constantOf, freeNames, integrandOf } from './expression/integrand.ts';
import { CONSTANTS, type Tables } from './expression/names.ts';
import { isFile, load } from './load.ts';
import { COMMANDS, OPTIONS } from './options.ts';
import { isRange, parseRanges, type VariableRange, within } from './ranges.ts';
import { readTables } from './table-file.ts';
import { UsageError } from './usage-error.ts';

export interface Setup {
  integrand: Integrand | URL;
  options: AllOptions;
  /** The expression or the name of the file, as it was typed. */
  title: string;
  /** The names of the axes. With a file they are known only if ranges were given. */
  variables: string[];
  /** The ranges that were typed, one for each variable. */
  ranges: readonly VariableRange[];
}

/** `params` has the values of the names that the integrand may use beside its variables. */
export async function setUp(
  { command, rest, options }: Arguments,
  params: Record<string, number>,
): Promise<Setup> {
  const ranges = parseRanges(rest.filter(isRange), Object.keys(params));
  const sources = rest.filter(text => !isRange(text));
  if (sources.length === 0)
    throw new UsageError(
      command === 'run' ? 'There is no file to run.' : 'There is no expression.',
      command === 'run'
        ? 'Write quadrille run integrand.ts --dims 3.'
        : "Write quadrille 'exp(-x^2)' x=0..1.",
    );
  if (sources.length > 1) throw severalSources(command, sources, ranges);
  const [title] = sources;
  const ours = libraryOptions(options);
  const setup = { title, variables: ranges.map(r => r.variable), ranges };
  const tables = readTables((options.get('table') as string[]) ?? []);
  if (command === 'run' || (command !== 'integrate' && isFile(title))) {
    const loaded = await load(title);
    if (loaded.options.params !== undefined) checkParams(loaded.options.params);
    const device = ours.device ?? loaded.options.device;
    const asIs = loaded.url && device !== undefined && takesFunctions(device);
    return {
      ...setup,
      integrand: asIs ? loaded.url! : loaded.integrand,
      options: {
        ...loaded.options,
        ...ours,
        ...domainOf(title, ranges, options.get('dims') as number | undefined, loaded.options),
        params: { ...loaded.options.params, ...params, ...tables },
      },
    };
  }
  if (isFile(title)) throw new UsageError(`${title} is a file.`, `Did you mean quadrille run ${title}?`);
  if (options.has('dims'))
    throw new UsageError('--dims is for integrands from files.', 'Give each variable a range: x=0..1.');
  const { variables } = setup;
  checkWord(title, [...variables, ...Object.keys(params)]);
  if (variables.length === 0) throw noRanges(title, Object.keys(params), tables);
  const both = variables.find(v => Object.hasOwn(params, v));
  if (both) throw new UsageError(`${both} has a range and a value.`, 'Give it one of them.');
  const twice = Object.keys(tables).find(t => variables.includes(t) || Object.hasOwn(params, t));
  if (twice) throw new UsageError(`${twice} is a table and a number.`, 'Give one of them another name.');
  const { f } = integrandOf(title, variables, Object.keys(params), tables);
  const all = { ...params, ...tables };
  return {
    ...setup,
    integrand: f,
    options: { ...ours, ...rangesAs(ranges), ...(Object.keys(all).length > 0 && { params: all }) },
  };
}

/** Ranges as the library takes them. */
function rangesAs(ranges: readonly VariableRange[]): AllOptions {
  const parts = ranges.filter(r => r.range !== null);
  return {
    domain: parts.map(r => r.range!),
    ...(parts.some(r => r.breaks.length > 0) && { breaks: ranges.map(r => r.breaks) }), // one list per coordinate
  };
}

/** Coordinates that are separated by commas. */
function parsePoint(text: string): number[] {
  let start = 0;
  return text.split(',').map(part => {
    const value = within(text, start, () => constantOf(part, 'a coordinate'));
    start += part.length + 1;
    return value;
  });
}

/** The options of the library that were given on the command line. */
export function libraryOptions(given: Arguments['options']): AllOptions {
  const found: Record<string, unknown> = {};
  for (const { name, sets } of OPTIONS) {
    if (!sets || !given.has(name)) continue;
    const [family, knob] = sets.split('.');
    found[family] = knob ? { ...(found[family] as object), [knob]: given.get(name) } : given.get(name);
  }
  const points = (given.get('point') as string[] | undefined)?.map(parsePoint);
  if (points) found.points = points;
  // several devices are separated by commas
  if (typeof found.device === 'string' && found.device.includes(',')) found.device = found.device.split(',');
  if (given.has('resume')) found.device = resumed(found.device, given.get('resume') as string);
  return found as AllOptions;
}

/** The URL of a cluster with the name of a run. */
function resumed(device: unknown, run: string): string {
  if (!isServer(device))
    throw new UsageError('--resume is for clusters.', 'Name one: --device nats://host --resume RUN.');
  const named = new URL(device as string).pathname.slice(1);
  if (named)
    throw new UsageError(`The run has two names: ${named} in the URL, and ${run}.`, 'Leave one of them out.');
  const url = `${(device as string).replace(/\/$/, '')}/${run}`;
  if (isServer(url)) return url;
  throw new UsageError(`--resume is '${run}'.`, 'Use letters, digits, - and _, at most 64.');
}

function domainOf(
  title: string,
  ranges: readonly VariableRange[],
  dims: number | undefined,
  theirs: AllOptions,
): AllOptions {
  if (ranges.length > 0 && dims !== undefined)
    throw new UsageError('Ranges and --dims are both given.', 'Give one of them: --dims is the unit cube.');
  // the command line goes before the file, also when one has `dims` and the other `domain`
  const none = { dims: undefined, domain: undefined } as unknown as AllOptions;
  if (ranges.length > 0) return { ...none, ...rangesAs(ranges) };
  if (dims !== undefined) return { ...none, dims };
  if (theirs.domain !== undefined || theirs.dims !== undefined) return {};
  throw new UsageError(
    `${title} does not say how many dimensions its integrand has.`,
    'Give ranges, x=0..1 y=0..2, or --dims 2 for the unit cube; or export { integrand, dims: 2 }.',
  );
}

function severalSources(
  command: string,
  sources: readonly string[],
  ranges: readonly VariableRange[],
): UsageError {
  if (
    command === 'integrate' &&
    /^[a-z]+$/i.test(sources[0]) &&
    !ranges.some(r => r.variable === sources[0])
  ) {
    const near = closest(
      sources[0],
      COMMANDS.filter(c => c !== 'integrate'),
    );
    if (near) return new UsageError(`There is no command ${sources[0]}.`, `Did you mean quadrille ${near}?`);
  }
  return new UsageError(
    `There are ${sources.length} expressions: ${sources.map(s => `'${s}'`).join(' and ')}.`,
    "Put the whole expression into quotes: 'x * y'. A range is written x=0..1.",
  );
}

/** Throws when an expression of one word, which is no name of this problem, is close to the name of a command. */
function checkWord(text: string, known: readonly string[]): void {
  if (!/^[a-z]{3,}$/i.test(text) || known.includes(text) || CONSTANTS.has(text)) return;
  const near = closest(text, ['help', ...COMMANDS.filter(c => c !== 'integrate')]);
  if (near) throw new UsageError(`There is no command ${text}.`, `Did you mean quadrille ${near}?`);
}

function noRanges(text: string, params: readonly string[], tables: Tables): UsageError {
  const names = freeNames(text, params, tables);
  const wanted = (names.length > 0 ? names : ['x']).map(n => `${n}=0..1`).join(' ');
  return new UsageError('No variable has a range.', `Write quadrille '${text}' ${wanted}.`);
}
