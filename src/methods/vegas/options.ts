/** The options of the VEGAS family, named as in the papers. */
import { OptionError } from '../../options/option-error.ts';
import type { OptionsOf, OptionTable } from '../../options/table.ts';

export const VEGAS_OPTIONS = {
  /** Bins of the map per axis, at most 65,536. Default 1024 for `vegas+`, 512 for `mcubes` and `mcubes1d`. */
  bins: { kind: 'whole', least: 1, most: 2 ** 16 },
  /** How fast the map follows what it sees, from 0 (never) to 2. Default 0.5, and 1 while the map is far off. */
  alpha: { kind: 'number', least: 0, most: 2 },
  /** How far samples follow the variances of cubes, from 0 (not at all) to 2. Default 0.75 for `vegas+`, 0 for the others. */
  beta: { kind: 'number', least: 0, most: 2 },
  /** The largest number of cubes. Default 2^20 where their variances are kept (`beta` above 0), 2^52 for `mcubes`. */
  maxStrata: { kind: 'whole', least: 1 },
  /** Samples per iteration; with this or `iterations` the run follows a fixed protocol. */
  evaluations: {
    kind: 'whole',
    least: 4,
    most: 2 ** 32 - 1,
    remedyAbove: 'pass less than 2^32, and more iterations',
  },
  /** Iterations in all; 20 when another option asks for a protocol. */
  iterations: { kind: 'whole', least: 1 },
  /** How many of the iterations adapt, by default half; the others are frozen and collect no histogram. */
  adapt: { kind: 'whole', least: 0 },
  /** How many of the iterations are left out of the result; by default those that adapt. */
  skip: { kind: 'whole', least: 0 },
} as const satisfies OptionTable;

/** Options of the VEGAS family: `vegas+`, `mcubes`, `mcubes1d` and, where they mean something, `plain`. */
export interface VegasOptions extends OptionsOf<typeof VEGAS_OPTIONS> {}

/** Whether the options prescribe iterations, in the place of a run until the tolerance is met. */
export const isProtocol = (options: VegasOptions): boolean =>
  (['evaluations', 'iterations', 'adapt', 'skip'] as const).some(name => options[name] !== undefined);

/** Iterations of a protocol that does not say how many it has. */
export const PROTOCOL_ITERATIONS = 20;

/** At least one iteration has to enter the result, and one that enters it has to be frozen unless `skip` says otherwise. */
export function checkProtocol({ iterations = PROTOCOL_ITERATIONS, skip, adapt = 0 }: VegasOptions): void {
  if (skip !== undefined && skip >= iterations)
    throw new OptionError(
      'vegas.skip',
      skip,
      `leave at least one of the ${iterations} iterations in the result`,
    );
  if (skip === undefined && adapt >= iterations)
    throw new OptionError(
      'vegas.adapt',
      adapt,
      `leave at least one of the ${iterations} iterations frozen, or say how many to \`skip\``,
    );
}
