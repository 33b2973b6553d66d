/**
 * Parts of tasks. An iteration of samples is cut into groups, a list of regions into regions; a part is a range of
 * either. Parts may be done by different devices or machines, in any order, and more than once.
 */

/** Groups, or regions, from number `first` on. */
export interface Part {
  /** The number of the first group or region. */
  readonly first: number;
  /** How many there are. */
  readonly count: number;
}

/** Values of the integrand that were not finite. */
export interface NonFinite {
  /** How many there were. */
  count: number;
  /** The one with the lowest sample number, or the lowest region and point of the rule. */
  first: { point: number[]; value: number /** The number of the result, of several. */; result?: number };
}

/** Something in a session's own memory, by a number that the session gave out. Only that session knows what it means. */
export interface Kept {
  /** The number. */
  readonly kept: number;
}

export function isKept(value: unknown): value is Kept {
  return typeof (value as Kept | null)?.kept === 'number';
}

/**
 * Sums of parts in the order of the parts, each once: they may come in any order and several times. Throws when they do not
 * cover all of `whole`.
 */
export function inOrder<P extends { part: Part }>(parts: Iterable<P>, whole: Part): P[] {
  const byFirst = new Map<number, P>();
  for (const p of parts) byFirst.set(p.part.first, p);
  const sorted = [...byFirst.values()].sort((a, b) => a.part.first - b.part.first);
  let next = whole.first;
  for (const { part } of sorted) {
    if (part.first !== next) throw new Error(`the parts of a task overlap or leave a gap at number ${next}`);
    next += part.count;
  }
  const end = whole.first + whole.count;
  if (next !== end) throw new Error(`the parts of a task end at number ${next}, not at ${end}`);
  return sorted;
}

/** Values that were not finite in any of the parts, which are in their order. */
export function mergeNonFinite(parts: readonly { nonFinite: NonFinite | null }[]): NonFinite | null {
  let all: NonFinite | null = null;
  for (const { nonFinite } of parts) {
    if (!nonFinite) continue;
    all ??= { count: 0, first: nonFinite.first };
    all.count += nonFinite.count;
  }
  return all;
}

/** A task cut into parts of about `size`. */
export function partsOf(whole: Part, size: number): Part[] {
  const step = Math.max(1, Math.ceil(size));
  return Array.from({ length: Math.ceil(whole.count / step) }, (_, i) => ({
    first: whole.first + i * step,
    count: Math.min(step, whole.count - i * step),
  }));
}
