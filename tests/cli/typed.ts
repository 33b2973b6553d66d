/** The command line inside the test's own process, with streams that remember. */
import { cli } from '../../src/cli/cli.ts';
import { UsageError } from '../../src/cli/usage-error.ts';

export interface Printed {
  code: number;
  out: string;
  err: string;
}

export interface Surroundings {
  /** Whether stdout and stderr are terminals. */
  outTTY?: boolean;
  errTTY?: boolean;
  columns?: number;
  env?: Record<string, string>;
}

export async function typed(argv: string[], surroundings: Surroundings = {}): Promise<Printed> {
  const { outTTY = false, errTTY = false, columns = 80, env = {} } = surroundings;
  const text = { out: '', err: '' };
  const stream = (which: 'out' | 'err', isTTY: boolean) => ({
    isTTY,
    columns,
    write: (s: string) => {
      text[which] += s;
    },
  });
  const code = await cli(argv, { out: stream('out', outTTY), err: stream('err', errTTY), env });
  return { code, ...text };
}

/** The mistake that a step makes. */
export function mistake(step: () => unknown): UsageError {
  try {
    step();
  } catch (e) {
    if (e instanceof UsageError) return e;
    throw e;
  }
  throw new Error('no mistake was found');
}

/** The text that a mistake points at. */
export function pointed(step: () => unknown): string {
  const { place } = mistake(step);
  if (!place) throw new Error('the mistake has no place');
  return place.text.slice(place.start, place.end);
}
