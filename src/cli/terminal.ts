/** The streams that output goes to, and what they can show. Tests pass streams of their own. */

export interface Stream {
  write(text: string): unknown;
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  rows?: number | undefined;
}

export interface Terminal {
  out: Stream;
  err: Stream;
  env: Record<string, string | undefined>;
}

/** Colours and characters for a stream; text stays plain where the stream is no terminal. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  red(text: string): string;
  cyan(text: string): string;
  /** Whether characters beyond ASCII can be shown. */
  unicode: boolean;
}

export function styleOf(stream: Stream, env: Terminal['env']): Style {
  // no-color.org: any value but the empty one turns colours off
  const colours = stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  const paint = (open: number, close: number) => (text: string) =>
    colours ? `\x1b[${open}m${text}\x1b[${close}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    green: paint(32, 39),
    yellow: paint(33, 39),
    red: paint(31, 39),
    cyan: paint(36, 39),
    // the text console of Linux has a font of 256 characters
    unicode: env.TERM !== 'dumb' && env.TERM !== 'linux',
  };
}

/** Whether a line on stderr can be overwritten. */
export const isLive = ({ err, env }: Terminal): boolean => err.isTTY === true && env.TERM !== 'dumb';

/** The width in characters, from 40 to 120. Some terminals report 0 when they do not know it. */
export const widthOf = (stream: Stream): number => Math.max(40, Math.min(stream.columns || 80, 120));
