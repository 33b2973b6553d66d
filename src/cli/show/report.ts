/** Results as text: one line for pipes, and a block with details for terminals. */
import { isShape } from '../../integrand/shapes.ts';
import { ratio } from '../../methods/combine.ts';
import { visible } from '../../options/visible.ts';
import type { AllOptions } from '../../problem.ts';
import { type Result, rowsOf, type Status, withError } from '../../result.ts';
import type { Setup } from '../setup.ts';
import type { Style } from '../terminal.ts';
import { chart } from './chart.ts';
import { toleranceFor } from './forecast.ts';
import { historyOf } from './history.ts';
import { bound, count, rounded, time } from './numbers.ts';

const STATUS_TEXT: Record<Status, string> = {
  converged: 'converged',
  budget: 'not converged: its evaluations are used up',
  time: 'not converged: its time is over',
  memory: 'not converged: its memory is full',
  roundoff: 'not converged: rounding errors are in the way',
  aborted: 'stopped: the best estimate so far',
  failed: 'failed',
};

/**
 * The result in one line: value, status, method, device, evaluations and time. Several results have a line each, before that of
 * the status.
 */
export function line(r: Result): string {
  const parts: string[] = [r.status];
  if (r.witnesses === 0) parts.push('not checked by random points');
  if (!r.shape) parts.unshift(hasEstimate(r) ? withError(r.value, r.error) : 'no estimate yet');
  if (r.dof > 0 && !r.shape) parts.push(`chi2/dof ${ratio(r.chi2, r.dof)}`);
  const method = r.choice ? `${r.method} (auto)` : r.method;
  parts.push(`${method} on ${r.device}, ${count(r.evaluations)} evaluations, ${time(r.elapsed)}`);
  return [...(r.shape ? valueLines(r) : []), parts.join('  ')].join('\n');
}

/** A line for each of several results. */
function valueLines(r: Result): string[] {
  const rows = rowsOf(r);
  const wide = Math.max(...rows.map(({ name }) => name.length));
  return rows.map(({ name, value, error, chi2 }) => {
    const own = error < Infinity ? withError(value, error) : 'no estimate yet';
    const agreement = r.dof > 0 ? `  chi2/dof ${ratio(chi2, r.dof)}` : '';
    return `${visible(name).padEnd(wide)} = ${own}${agreement}`;
  });
}

/** Whether there is an estimate; a run that was stopped early may have none. */
export const hasEstimate = (r: Result): boolean =>
  rowsOf(r).some(({ value, error }) => error < Infinity && !Number.isNaN(value));

/** The result with details, warnings and a plot of the convergence. */
export function block(r: Result, setup: Setup, style: Style, width: number): string[] {
  const mark = r.converged
    ? style.green(`${style.unicode ? '✓ ' : ''}converged`)
    : style.yellow(`${style.unicode ? '▲ ' : ''}${STATUS_TEXT[r.status]}`);
  const found = r.shape ? valueLines(r) : [hasEstimate(r) ? withError(r.value, r.error) : 'no estimate yet'];
  const rows = details(r);
  const wide = Math.max(...rows.map(([name]) => name.length));
  return [
    heading(setup, style),
    '',
    ...found.map((value, i) => `  ${style.bold(value)}${i === found.length - 1 ? `   ${mark}` : ''}`),
    '',
    ...rows.map(([name, text]) => `  ${style.dim(name.padEnd(wide))}   ${text}`),
    ...warnings(r, style),
    ...plot(r, setup, style, width),
  ];
}

/** The integrand and its domain. */
function heading({ title, ranges, options }: Setup, style: Style): string {
  const shown = (b: number | string) => (typeof b === 'number' ? bound(b, style.unicode) : visible(b));
  const axes =
    ranges.length > 0
      ? ranges
          .filter(r => r.range !== null)
          .map(({ variable, shown: [a, b] }) =>
            b === undefined ? shown(a) : `${variable} ${shown(a)}..${shown(b)}`,
          )
      : [`${dimensionsOf(options)} dimensions`];
  return `${style.bold(visible(title))}  ${style.dim(axes.join('  '))}`;
}

/** The number of coordinates of a point. */
export function dimensionsOf({ domain, dims = 0 }: AllOptions): number {
  if (!domain) return dims;
  const parts = isShape(domain) ? [domain] : domain;
  return parts.reduce<number>((n, part) => n + (isShape(part) ? part.dims : 1), 0);
}

function details(r: Result): [string, string][] {
  const rows: [string, string][] = [];
  if (hasEstimate(r) && !r.shape) {
    const relative = r.value === 0 ? '' : `, ${rounded(Math.abs(r.error / r.value))} of the value`;
    rows.push(['error', `${rounded(r.error)}${relative}`]);
  }
  // `choice` begins with the name of the method
  const why = r.choice?.replace(`${r.method}: `, '');
  rows.push(['method', why === undefined ? r.method : `${r.method}, taken by auto: ${why}`]);
  rows.push(['device', r.device]);
  const speed =
    r.elapsed > 0 && r.evaluations > 0 ? `, ${rounded((1000 * r.evaluations) / r.elapsed)}/s` : '';
  rows.push(['evaluations', `${count(r.evaluations)} in ${time(r.elapsed)}${speed}`]);
  if (r.regions !== undefined) rows.push(['regions', count(r.regions)]);
  if (r.witnesses !== undefined)
    rows.push(['witnesses', r.witnesses === 0 ? 'none: not checked by random points' : count(r.witnesses)]);
  if (r.dof > 0 && !r.shape) rows.push(['chi2/dof', `${ratio(r.chi2, r.dof)}, Q ${r.q.toFixed(2)}`]);
  if (r.regions === undefined) rows.push(['seed', `${r.seed}`]);
  return rows;
}

export const warnings = (r: Result, style: Style): string[] =>
  r.warnings.map(w => `  ${style.yellow('warning')}   ${visible(w)}`);

function plot(r: Result, { options }: Setup, style: Style, width: number): string[] {
  const history = historyOf(r);
  // of several results, the history of the first goal is drawn
  const value = r.shape ? (history.at(-1)?.value ?? 0) : r.value;
  const lines = chart(history, toleranceFor(options, value), width, style);
  return lines.length > 0 ? ['', ...lines] : [];
}
