/** Reads parameters: a=3, and in a scan also a=0:10:0.5 (from, to, step) and a=1,2,3. */
import { constantOf } from './expression/integrand.ts';
import { checkName, within } from './ranges.ts';
import { UsageError } from './usage-error.ts';

/** The largest number of integrals in a scan: a larger one is most likely a step mistyped. */
const MAX_INTEGRALS = 1e6;

/** Reads one value for each parameter. */
export function parseParams(texts: readonly string[]): Record<string, number> {
  const found = new Map<string, number>();
  for (const text of texts) {
    const [name, values] = parseOne(text);
    if (values.length !== 1 || text.includes(':'))
      throw new UsageError(
        `'${text}' gives ${name} more than one value.`,
        'Several values are for quadrille scan; here, give one: --param a=3.',
        { text, start: name.length + 1, end: text.length },
      );
    add(found, name, values[0], text);
  }
  return Object.fromEntries(found);
}

/** Reads the values of each parameter, in the order in which they were given. */
export function parseScan(texts: readonly string[]): Map<string, number[]> {
  const lists = new Map<string, number[]>();
  for (const text of texts) add(lists, ...parseOne(text), text);
  const total = [...lists.values()].reduce((n, l) => n * l.length, 1);
  if (total > MAX_INTEGRALS)
    throw new UsageError(
      `This scan has ${total} integrals.`,
      `Make its steps wider: at most ${MAX_INTEGRALS}.`,
    );
  return lists;
}

/** All combinations of the values; the last parameter changes fastest. */
export function product(lists: ReadonlyMap<string, readonly number[]>): Record<string, number>[] {
  let sets: Record<string, number>[] = [{}];
  for (const [name, values] of lists)
    sets = sets.flatMap(set => values.map(value => ({ ...set, [name]: value })));
  return sets;
}

function add<T>(found: Map<string, T>, name: string, value: T, text: string): void {
  if (found.has(name))
    throw new UsageError(`The parameter ${name} is given twice.`, 'Give it once.', {
      text,
      start: 0,
      end: name.length,
    });
  found.set(name, value);
}

function parseOne(text: string): [string, number[]] {
  const equals = text.indexOf('=');
  const name = text.slice(0, Math.max(0, equals)).trim();
  if (equals < 0)
    throw new UsageError(`'${text}' gives no value.`, 'Write --param a=3.', {
      text,
      start: text.length,
      end: text.length + 1,
    });
  checkName(name, { text, start: 0, end: Math.max(1, equals) });
  const rest = text.slice(equals + 1);
  const numbers = (sign: string): number[] => {
    let start = equals + 1;
    return rest.split(sign).map(part => {
      const at = start;
      start += part.length + 1;
      const place = { text, start: at, end: at + Math.max(1, part.length) };
      if (part.trim() === '') throw new UsageError('A number is missing.', undefined, place);
      const value = within(text, at, () => constantOf(part, 'a parameter'));
      if (!Number.isFinite(value)) throw new UsageError('A parameter is a finite number.', undefined, place);
      return value;
    });
  };
  if (!rest.includes(':')) return [name, numbers(topCommas(rest) ? ',' : '\0')];
  const [from, to, step, more] = numbers(':');
  const place = { text, start: equals + 1, end: text.length };
  if (step === undefined || more !== undefined)
    throw new UsageError('A range of a parameter is from:to:step.', `Write ${name}=0:10:0.5.`, place);
  if (step === 0 || (to - from) / step < 0)
    throw new UsageError(`A step of ${step} does not lead from ${from} to ${to}.`, undefined, place);
  const count = (to - from) / step;
  if (count > MAX_INTEGRALS)
    throw new UsageError(`This is ${Math.floor(count)} values.`, 'Take a wider step.', place);
  // steps such as 0.1 are not exact in binary: rounding may put the last value just short of the end
  return [name, Array.from({ length: Math.floor(count + 1e-9) + 1 }, (_, i) => tidy(from + i * step))];
}

/** Whether commas separate values; those inside brackets separate arguments, as in atan2(1, 2). */
function topCommas(text: string): boolean {
  return text.includes(',') && !text.includes('(');
}

/** Rounds to 14 digits, so that 0.1 + 2·0.1 is 0.3. */
const tidy = (x: number): number => Number(x.toPrecision(14));
