/**
 * The error that refuses an integrand: its reason, its place as a code frame, and what to write instead.
 */
import { inWords, LIBRARY, type Text, type Worded, type Wording } from '../options/wording.ts';

/**
 * A text that nodes point into. `internal` marks functions of this library, whose text a user does not know. `called` is what
 * messages call a function that is not the integrand itself: `params.lorentz`.
 */
export interface Source {
  text: string;
  internal: boolean;
  called?: string;
  /** Whether it gets params as its second argument; by default the integrand alone does. */
  takesParams?: boolean;
}

/** A part of a source, as character offsets like those of acorn's nodes. */
export interface Span {
  start: number;
  end: number;
}

/** An integrand that cannot be compiled; `message` holds reason, code frame and remedy. */
export class IntegrandError extends Error implements Worded {
  override readonly name = 'IntegrandError';
  /** What cannot be compiled. */
  readonly reason: string;
  /** What to write instead. */
  readonly remedy: string;
  /** Line and column in the text of the integrand, or of the function that `reason` names, both from 1; undefined when no place is to blame. */
  readonly line: number | undefined;
  /** See `line`. */
  readonly column: number | undefined;

  /** @internal whether the function may run without being compiled; false when something that it needs is missing */
  readonly runsAsItIs: boolean;
  /** The lines of the message. */
  readonly #lines: Text[];

  constructor(reason: string, remedy: Text, place?: { source: Source; span: Span }, runsAsItIs = true) {
    const frame = place && codeFrame(place.source.text, place.span);
    const lines = [reason, ...(frame ? [frame.text] : []), remedy];
    super(lines.map(l => inWords(l, LIBRARY)).join('\n'));
    this.reason = reason;
    this.remedy = inWords(remedy, LIBRARY);
    this.runsAsItIs = runsAsItIs;
    this.line = frame?.line;
    this.column = frame?.column;
    this.#lines = lines;
  }

  /** @internal adds a line to the message */
  add(line: Text): void {
    this.#lines.push(line);
    this.message = this.toText(LIBRARY);
  }

  /** @internal the message in the words of an interface: the library or the command line */
  toText(wording: Wording): string {
    return this.#lines.map(l => inWords(l, wording)).join('\n');
  }
}

/** Runs a step of the compiler; turns the stack overflow of too deeply nested text into an `IntegrandError`. */
export function withinDepth<T>(source: Source, step: () => T): T {
  try {
    return step();
  } catch (e) {
    if (!isStackOverflow(e)) throw e;
    throw new IntegrandError(
      'The integrand is nested too deeply.',
      'Use variables or loops to make it flatter.',
      {
        source,
        span: { start: 0, end: 1 },
      },
    );
  }
}

/** Whether the stack was too small, in the words of the engines and of acorn. */
export const isStackOverflow = (e: unknown): boolean =>
  (e instanceof RangeError || e instanceof SyntaxError || (e as Error)?.name === 'InternalError') &&
  /call stack|not enough stack|too much recursion/i.test((e as Error).message);

const CONTEXT = 2; // lines shown above and below the place
const WIDTH = 100; // characters shown of a line: minified integrands are one long line

function codeFrame(text: string, span: Span): { text: string; line: number; column: number } {
  const before = text.slice(0, span.start).split('\n');
  const line = before.length;
  const column = before[line - 1].length + 1;
  const lines = text.split('\n');
  const from = Math.max(1, line - CONTEXT);
  const to = Math.min(lines.length, line + CONTEXT);
  const cut = Math.max(0, column - WIDTH / 2); // characters dropped at the left, for long lines only
  const left = lines.slice(from - 1, to).some(l => l.length > WIDTH) ? cut : 0;
  const gutter = String(to).length;
  const rows: string[] = [];
  for (let n = from; n <= to; n++) {
    const shown = lines[n - 1].slice(left, left + WIDTH);
    rows.push(`${n === line ? '>' : ' '} ${String(n).padStart(gutter)} | ${shown}`);
    if (n === line) {
      const length = Math.max(1, Math.min(span.end - span.start, lines[n - 1].length - column + 1));
      rows.push(
        `  ${' '.repeat(gutter)} | ${' '.repeat(column - 1 - left)}${'^'.repeat(Math.min(length, WIDTH))}`,
      );
    }
  }
  return { text: rows.join('\n'), line, column };
}
