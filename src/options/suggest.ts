/** Finds the known name that is closest to what was typed. */

/** `Did you mean …?`, or nothing when no name is close. */
export function didYouMean(typed: string, known: Iterable<string>, quote = ''): string | undefined {
  const found = closest(typed, known);
  return found === undefined ? undefined : `Did you mean ${quote}${found}${quote}?`;
}

export function closest(typed: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.min(3, Math.ceil(typed.length / 3)) + 1;
  for (const name of known) {
    if (Math.abs(typed.length - name.length) > 2 * least) continue; // a long word takes long to compare
    const d = distance(plain(typed), plain(name));
    if (d < least) [best, least] = [name, d];
  }
  return best;
}

/** Names that differ only in case and hyphens are equal: --relTol and --rel-tol. */
const plain = (s: string) => s.toLowerCase().replaceAll('-', '');

/** The smallest number of letters to insert, delete, change, or swap with their neighbour (Damerau-Levenshtein). */
function distance(a: string, b: string): number {
  const rows: number[][] = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  for (let j = 1; j <= b.length; j++) rows[0][j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const change = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.length][b.length];
}
