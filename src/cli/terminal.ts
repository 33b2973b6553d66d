/** Where output goes, and what can be shown there. Tests pass streams of their own. */

export interface Stream {
  write(text: string): unknown;
  isTTY?: boolean | undefined;
  columns?: number | undefined;
}

export interface Terminal {
  out: Stream;
  err: Stream;
  env: Record<string, string | undefined>;
}

/** Colours and signs for a stream; plain text where they would only disturb. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  red(text: string): string;
  cyan(text: string): string;
  /** Whether signs beyond ASCII can be shown. */
  unicode: boolean;
}

export function styleOf(stream: Stream, env: Terminal['env']): Style {
  // no-color.org: any value but an empty one
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
    // the console of Linux without a window system has 256 characters
    unicode: env.TERM !== 'dumb' && env.TERM !== 'linux',
  };
}

/** Whether a line can be written again and again. */
export const isLive = ({ err, env }: Terminal): boolean => err.isTTY === true && env.TERM !== 'dumb';

/** Columns; some terminals say 0 when they do not know. */
export const widthOf = (stream: Stream): number => Math.max(40, Math.min(stream.columns || 80, 120));
