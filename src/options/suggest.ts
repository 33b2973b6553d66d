/**
 * Finds the known name that is closest to what was typed. Distances are counted in letters, and slips of the fingers weigh less
 * than other mistakes: `sinn` is `sin` with a letter typed twice, more likely than `sign` or `sinh` with a wrong one.
 */

/** A letter typed twice, or once where the name has it twice. */
const DOUBLED = 0.4;
/** Two neighbours in the wrong order. */
const SWAPPED = 0.6;
/** What each letter that agrees from the start on takes off the distance: among names at one distance, beginnings decide. */
const BEGINNING = 0.01;

/** `Did you mean …?`, or nothing when no name is close. */
export function didYouMean(typed: string, known: Iterable<string>, quote = ''): string | undefined {
  const found = closest(typed, known);
  return found === undefined ? undefined : `Did you mean ${quote}${found}${quote}?`;
}

export function closest(typed: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.min(3, Math.ceil(typed.length / 3)) + 0.5; // whole letters, and what beginnings take off
  for (const name of known) {
    if (Math.abs(typed.length - name.length) > 2 * least) continue; // a long word takes long to compare
    const [a, b] = [plain(typed), plain(name)];
    const d = distance(a, b) - BEGINNING * commonBeginning(a, b);
    if (d < least) [best, least] = [name, d];
  }
  return best ?? beginning(typed, known);
}

/** A name that begins with what was typed, or that the latter begins with: --rel-tolerance, --max-eval. */
function beginning(typed: string, known: Iterable<string>): string | undefined {
  const own = plain(typed);
  const fits = (name: string) => plain(name).startsWith(own) || own.startsWith(plain(name));
  return [...known].find(name => Math.min(own.length, name.length) >= 4 && fits(name));
}

/** Names that differ only in case and hyphens are equal: --relTol and --rel-tol. */
const plain = (s: string) => s.toLowerCase().replaceAll('-', '');

function commonBeginning(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}

/** The smallest weight of letters to insert, delete, change, or swap with their neighbour (Damerau-Levenshtein). */
function distance(a: string, b: string): number {
  const rows: number[][] = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  for (let j = 1; j <= b.length; j++) rows[0][j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const change = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      const twice = (s: string, at: number) => (s[at] === s[at - 1] ? DOUBLED : 1);
      rows[i][j] = Math.min(rows[i - 1][j] + twice(a, i - 1), rows[i][j - 1] + twice(b, j - 1), change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + SWAPPED);
    }
  }
  return rows[a.length][b.length];
}
