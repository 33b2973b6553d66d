/**
 * Reads tables for `--table name=file.csv`: one point of the grid per line, its coordinates and then the value there. A table has
 * one, two or three coordinates; lines may come in any order. Columns are separated by commas, semicolons or blanks. A
 * first line that has no number is a header; empty lines and lines that begin with # are comments.
 *
 * Words behind a colon say how values are interpolated: `--table name=file.csv:cubic,log`.
 */
import { readFileSync } from 'node:fs';
import { type Table, type TableOptions, table } from '../integrand/tables.ts';
import { didYouMean } from '../options/suggest.ts';
import { checkName } from './ranges.ts';
import { type Place, UsageError } from './usage-error.ts';

type Options = { -readonly [K in keyof TableOptions]: TableOptions[K] };

/** What a word behind the colon sets. */
const WORDS: ReadonlyMap<string, (options: Options & { log: boolean[] }) => void> = new Map([
  ['linear', o => Object.assign(o, { kind: 'linear' })],
  ['cubic', o => Object.assign(o, { kind: 'cubic' })],
  ['clamp', o => Object.assign(o, { outside: 'clamp' })],
  ['zero', o => Object.assign(o, { outside: 'zero' })],
  ['log', o => o.log.fill(true)],
  ...[0, 1, 2].map((k): [string, (o: { log: boolean[] }) => void] => [
    `log${k + 1}`,
    o => {
      o.log[k] = true;
    },
  ]),
]);

/** A file name, and the words behind its last colon; a path may have a colon itself, but not before words alone. */
const SOURCE = /^(.*?)(?::([\w,]+))?$/s;

export function readTables(texts: readonly string[]): Record<string, Table> {
  const found: Record<string, Table> = {};
  for (const text of texts) {
    const equals = text.indexOf('=');
    const name = text.slice(0, Math.max(0, equals)).trim();
    if (equals < 0)
      throw new UsageError(
        `'${text}' names no file.`,
        'Write --table f=points.csv, and f(x) in the expression.',
      );
    const place = { text, start: 0, end: Math.max(1, equals) };
    checkName(name, place);
    if (Object.hasOwn(found, name))
      throw new UsageError(`The table ${name} is given twice.`, 'Give it once.', place);
    const [, file, words = ''] = SOURCE.exec(text.slice(equals + 1))!;
    found[name] = readTable(file, words, { text, start: text.length - words.length, end: text.length });
  }
  return found;
}

function readTable(file: string, words: string, place: Place): Table {
  const rows = rowsOf(file, textOf(file));
  const dims = rows[0].numbers.length - 1;
  const options = { log: Array<boolean>(dims).fill(false) };
  for (const word of words.split(',').filter(Boolean)) {
    const set = WORDS.get(word);
    const axis = /^log(\d)$/.exec(word);
    if (!set || (axis && Number(axis[1]) > dims))
      throw new UsageError(
        set
          ? `The table has ${dims} axes, and '${word}' is about another.`
          : `'${word}' says nothing of a table.`,
        (set ? undefined : didYouMean(word, WORDS.keys())) ??
          `The words are ${[...WORDS.keys()].join(', ')}.`,
        place,
      );
    set(options);
  }
  const axes = Array.from({ length: dims }, (_, k) =>
    [...new Set(rows.map(r => r.numbers[k]))].sort((a, b) => a - b),
  );
  try {
    return table(axes as [number[]], valuesOn(axes, rows, file), options);
  } catch (e) {
    if (!(e instanceof TypeError)) throw e;
    throw new UsageError(`${file}: ${e.message.replace(/^table: /, '')}`);
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (e) {
    const absent = (e as NodeJS.ErrnoException).code === 'ENOENT';
    throw new UsageError(
      absent ? `There is no file ${file}.` : `${file} cannot be read: ${(e as Error).message}.`,
      'Write --table f=points.csv, or --table f=points.csv:cubic.',
    );
  }
}

/** A line of the file: its number from 1, and its columns. */
interface Row {
  line: number;
  numbers: number[];
}

function rowsOf(file: string, text: string): Row[] {
  const rows: Row[] = [];
  let headed = false;
  for (const [i, whole] of text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    const trimmed = whole.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const cells = trimmed.split(/[,;]/.test(trimmed) ? /\s*[,;]\s*/ : /\s+/);
    const numbers = cells.map(c => (c === '' ? NaN : Number(c)));
    const where = `${file}:${i + 1}`;
    if (rows.length === 0 && !headed && numbers.every(Number.isNaN)) {
      headed = true;
      continue;
    }
    const wrong = numbers.findIndex(v => !Number.isFinite(v));
    if (wrong >= 0)
      throw new UsageError(`${where}: column ${wrong + 1} is '${cells[wrong]}', which is no finite number.`);
    if (numbers.length < 2 || numbers.length > 4)
      throw new UsageError(
        `${where}: this line has ${numbers.length} ${numbers.length === 1 ? 'column' : 'columns'}.`,
        'A line has one, two or three coordinates, and the value there.',
      );
    if (rows.length > 0 && numbers.length !== rows[0].numbers.length)
      throw new UsageError(
        `${where}: this line has ${numbers.length} columns, and line ${rows[0].line} has ${rows[0].numbers.length}.`,
      );
    rows.push({ line: i + 1, numbers });
  }
  if (rows.length > 0) return rows;
  throw new UsageError(
    `${file} has no numbers.`,
    'A line has one, two or three coordinates, and the value there.',
  );
}

/** The values on the grid, row by row; each of its points has to be there once. */
function valuesOn(axes: readonly number[][], rows: readonly Row[], file: string): Float64Array {
  const places = axes.map(axis => new Map(axis.map((x, i) => [x, i])));
  const size = axes.reduce((n, axis) => n * axis.length, 1);
  const lines = new Map<number, number>();
  // two lines that are far from a grid of their own would ask for a huge one: the points are counted first
  const values = new Float64Array(size <= 2 * rows.length + 64 ? size : 0);
  for (const { line, numbers } of rows) {
    const at = places.reduce((k, place, d) => k * axes[d].length + place.get(numbers[d])!, 0);
    const before = lines.get(at);
    if (before !== undefined)
      throw new UsageError(
        `${file}:${line}: the point ${pointText(numbers)} is on line ${before} already.`,
        'Give each point once.',
      );
    lines.set(at, line);
    if (at < values.length) values[at] = numbers[numbers.length - 1];
  }
  if (lines.size === size) return values;
  let missing = 0;
  while (lines.has(missing)) missing++;
  const point: number[] = [];
  for (let d = axes.length - 1, rest = missing; d >= 0; d--) {
    point.unshift(axes[d][rest % axes[d].length]);
    rest = Math.floor(rest / axes[d].length);
  }
  throw new UsageError(
    `${file} has ${rows.length} points, and not all of the ${axes.map(a => a.length).join(' × ')} of its grid: (${point.join(', ')}) is missing.`,
    'A table needs a value at each combination of its coordinates.',
  );
}

const pointText = (numbers: readonly number[]) => `(${numbers.slice(0, -1).join(', ')})`;
