/** Reads the values of options. Numbers may be expressions: 1e6, 10^6, 2*pi. */

import { closest } from '../options/suggest.ts';
import { constantOf } from './expression/integrand.ts';
import type { Option } from './options.ts';
import { UsageError } from './usage-error.ts';

/** Units of time, in milliseconds. */
const UNITS: Record<string, number> = { ms: 1, s: 1000, min: 60_000, m: 60_000, h: 3_600_000 };

export type OptionValue = number | bigint | boolean | string;

export function readValue(option: Option, text: string): OptionValue {
  const fail = (wanted: string): never => {
    throw new UsageError(`--${option.name} is '${text}'.`, `${wanted}.`);
  };
  switch (option.kind) {
    case 'number':
      return number(option, text);
    case 'whole': {
      const n = number(option, text);
      return Number.isInteger(n) && n >= 0 ? n : fail('Pass a whole number');
    }
    case 'integer': {
      const n = /^[+-]?\d+$/.test(text) ? BigInt(text) : fail('Pass a whole number, such as 42');
      return n;
    }
    case 'duration':
      return duration(text) ?? fail('Pass a time: 10s, 500ms, 2min, 1h; a number alone is in milliseconds');
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : fail('Pass true or false');
    case 'choice': {
      const choices = option.choices!;
      if (choices.includes(text)) return text;
      const near = closest(text, choices);
      return fail(
        near ? `Did you mean ${near}? There are ${choices.join(', ')}` : `There are ${choices.join(', ')}`,
      );
    }
    default:
      return text === '' ? fail(`Pass ${option.value}`) : text;
  }
}

function number(option: Option, text: string): number {
  try {
    return constantOf(text, `--${option.name}`);
  } catch (e) {
    if (!(e instanceof UsageError)) throw e;
    throw new UsageError(`--${option.name} is no number. ${e.reason}`, e.remedy, e.place);
  }
}

/** A time in milliseconds, which is what a number without a unit is, as in the library. */
function duration(text: string): number | undefined {
  const [, digits, unit = 'ms'] = /^\s*([\d.]+(?:e[+-]?\d+)?)\s*([a-z]+)?\s*$/i.exec(text) ?? [];
  const ms = Number(digits) * UNITS[unit.toLowerCase()];
  return ms > 0 ? ms : undefined;
}
