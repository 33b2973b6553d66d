/**
 * Plots the convergence with characters: the error against the evaluations, both logarithmic. The error of Monte Carlo
 * falls along a straight line with slope -1/2, that of a cubature rule on a smooth integrand much faster. The tolerance
 * is a dashed line.
 */
import type { Style } from '../terminal.ts';
import type { Step } from './history.ts';
import { rounded } from './numbers.ts';

const HEIGHT = 8;
/** The width of the labels at the left. */
const LABEL = 8;

/** The lines of the plot; none when there are fewer than three points. */
export function chart(steps: readonly Step[], tolerance: number, width: number, style: Style): string[] {
  const shown = steps.filter(s => s.error > 0);
  if (new Set(shown.map(s => s.evaluations)).size < 3) return [];
  const inner = Math.max(20, Math.min(64, width - LABEL - 4));
  const x = scale(
    shown.map(s => s.evaluations),
    inner,
  );
  const levels = shown.map(s => s.error);
  if (tolerance > 0) levels.push(tolerance);
  const y = scale(levels, HEIGHT);
  const signs = style.unicode ? UNICODE : ASCII;
  const grid = Array.from({ length: HEIGHT }, () => Array<string>(inner).fill(' '));
  const row = (error: number) => HEIGHT - 1 - y.at(error);
  if (tolerance > 0) grid[row(tolerance)].fill(style.dim(signs.dash));
  for (const s of shown)
    grid[row(s.error)][x.at(s.evaluations)] = s.adapting ? style.dim(signs.faint) : style.cyan(signs.dot);
  const labels = new Map([
    [0, rounded(y.high, 0)],
    [HEIGHT - 1, rounded(y.low, 0)],
  ]);
  if (tolerance > 0) labels.set(row(tolerance), 'tol');
  const lines = grid.map((cells, r) => {
    const label = labels.get(r);
    const axis = label === undefined ? signs.side : signs.tick;
    return `${style.dim(`${(label ?? '').padStart(LABEL)} ${axis}`)}${cells.join('').trimEnd()}`;
  });
  const [from, to] = [rounded(x.low, 0), rounded(x.high, 0)];
  const middle = 'evaluations';
  const gap = inner - from.length - to.length - middle.length;
  const below = `${from}${' '.repeat(Math.ceil(gap / 2))}${middle}${' '.repeat(Math.floor(gap / 2))}${to}`;
  return [
    style.dim(`${'error'.padStart(LABEL)}`),
    ...lines,
    style.dim(`${' '.repeat(LABEL + 1)}${signs.corner}${signs.line.repeat(inner)}`),
    style.dim(`${' '.repeat(LABEL + 2)}${below}`),
  ];
}

const UNICODE = { dot: '●', faint: '·', dash: '┄', side: '│', tick: '┤', corner: '└', line: '─' };
const ASCII = { dot: 'o', faint: '.', dash: '-', side: '|', tick: '+', corner: '+', line: '-' };

/** A logarithmic scale: `at` maps a value to one of the cells. */
function scale(values: readonly number[], cells: number) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const span = Math.log(high / low) || 1;
  return {
    low,
    high,
    at: (v: number) => Math.min(cells - 1, Math.max(0, Math.round((Math.log(v / low) / span) * (cells - 1)))),
  };
}
