/** Numbers, times and tables as text. */

/** A number such as 1.2e6, without the plus sign of toExponential. */
export const rounded = (n: number, digits = 1): string =>
  Number.isFinite(n) ? n.toExponential(digits).replace('e+', 'e') : `${n}`;

/** A count, such as 640, 65,536 or 1.2e6. */
export const count = (n: number): string => (n < 1e5 ? n.toLocaleString('en-US') : rounded(n));

/** A time, such as 3 ms, 1.2 s or 2 min 5 s. */
export function time(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const [h, min, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h} h ${min} min` : `${min} min ${s} s`;
}

/** A bound of a range, to six digits. */
export const bound = (x: number, unicode: boolean): string =>
  Number.isFinite(x) ? `${Number(x.toPrecision(6))}` : `${x < 0 ? '-' : ''}${unicode ? '∞' : 'inf'}`;

/** The rows of a table. A column is as wide as its widest cell; those whose indices are in `right` are right-aligned. */
export function columns(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const widths = rows[0].map((_, c) => Math.max(...rows.map(r => r[c].length)));
  return rows.map(r =>
    r
      .map((cell, c) => (right.includes(c) ? cell.padStart(widths[c]) : cell.padEnd(widths[c])))
      .join('  ')
      .trimEnd(),
  );
}
