/** The line that a terminal shows while a run goes on. It is overwritten as the run proceeds, and cleared at the end. */
import { ratio } from '../../methods/combine.ts';
import { withError } from '../../result.ts';
import { type Style, styleOf, type Terminal, widthOf } from '../terminal.ts';
import type { Forecast } from './forecast.ts';
import { rounded, time } from './numbers.ts';

/** The line is drawn every 100 ms, and not at all for runs that take less than 200 ms. */
const EVERY = 100;
const FIRST = 200;
const TURNS = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];

export class ProgressLine {
  readonly #terminal: Terminal;
  readonly #style: Style;
  readonly #parts: () => string[];
  readonly #started = performance.now();
  #timer: ReturnType<typeof setInterval> | undefined;
  #drawn = -Infinity;
  #shown = false;
  #turn = 0;

  /** `parts` gives the parts of the line, the most important one first; those that do not fit are left out. */
  constructor(terminal: Terminal, parts: () => string[]) {
    this.#terminal = terminal;
    this.#style = styleOf(terminal.err, terminal.env);
    this.#parts = parts;
    this.#timer = setInterval(() => this.draw(), EVERY);
    this.#timer.unref();
  }

  /** Draws the line, at most every 100 ms. Timers do not fire while a method keeps this thread busy, so callers draw on each event. */
  draw(): void {
    const now = performance.now();
    if (!this.#timer || now - this.#started < FIRST || now - this.#drawn < EVERY - 5) return;
    this.#drawn = now;
    const { unicode } = this.#style;
    const turn = unicode ? TURNS[this.#turn++ % TURNS.length] : '-\\|/'[this.#turn++ % 4];
    const width = widthOf(this.#terminal.err) - 3;
    let text = '';
    for (const part of this.#parts()) {
      const longer = text === '' ? part : `${text}  ${part}`;
      if (longer.length <= width) text = longer;
    }
    this.#terminal.err.write(`\r\x1b[2K${this.#style.cyan(turn)} ${text}`);
    this.#shown = true;
  }

  /** Clears the line so that other text can be printed; the next `draw` shows it again. */
  clear(): void {
    if (this.#shown) this.#terminal.err.write('\r\x1b[2K');
    this.#shown = false;
    this.#drawn = -Infinity;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.clear();
  }
}

/** The parts of the line for one integral. */
export function progressParts(forecast: Forecast, elapsed: number): string[] {
  const { last, speed, left, chi2PerDof } = forecast;
  if (!last) return ['starting', time(elapsed)];
  const estimate = last.error < Infinity ? withError(last.value, last.error) : 'no estimate yet';
  return [
    `iteration ${last.iteration}`,
    last.adapting ? `${estimate} adapting` : estimate,
    ...(chi2PerDof !== undefined ? [`chi2/dof ${ratio(chi2PerDof, 1)}`] : []),
    ...(speed !== undefined ? [`${rounded(speed)}/s`] : []),
    left !== undefined && left > 0 ? `about ${time(left)} left` : time(elapsed),
  ];
}
