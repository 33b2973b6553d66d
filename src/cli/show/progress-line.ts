/** The line that a terminal shows while a run goes on. It is written over itself, and gone when the run is over. */
import { ratio, withError } from '../../result.ts';
import { type Style, styleOf, type Terminal, widthOf } from '../terminal.ts';
import type { Forecast } from './forecast.ts';
import { rounded, time } from './numbers.ts';

const EVERY = 100; // milliseconds
const FIRST = 200; // what is over before needs no line
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

  /** `parts` of the line, most important first: what does not fit is left out. */
  constructor(terminal: Terminal, parts: () => string[]) {
    this.#terminal = terminal;
    this.#style = styleOf(terminal.err, terminal.env);
    this.#parts = parts;
    this.#timer = setInterval(() => this.draw(), EVERY);
    this.#timer.unref();
  }

  /** Draws, unless that was done just now. Methods that keep this thread busy leave timers no turn: call it as things happen. */
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

  /** Takes the line away, for other text; it comes back when something happens. */
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

/** The line of one integral. */
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
