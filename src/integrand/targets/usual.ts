/**
 * Functions at usual arguments: sines and cosines of angles near 0, and roots of numbers that are neither tiny nor huge. A test of each
 * argument, and a branch to what serves all others, cost a GPU more than what is left: of a product of ten cosines on an H200, 28
 * instructions for each, of which 9 are its polynomial (_trial_). So targets write an integrand twice: once for usual arguments alone, noting
 * whether there was another one; and in full, for points where there was.
 */
import type { Id, Let, Program } from '../ir.ts';
import { sinesAndCosines } from './sines-and-cosines.ts';

/** Angles that are near 0, at most. The polynomials of all targets serve them. */
const NEAR = 1.25;
/** Calls that pay for writing the integrand twice, at least. */
const FEWEST_CALLS = 2;

type Interval = readonly [low: number, high: number];
const ALL: Interval = [-Infinity, Infinity];

/**
 * Calls whose arguments are usual as far as one can tell, if these are enough: for sines and cosines those whose angles are near 0 wherever
 * coordinates lie between 0 and 1, as in most domains; and with `roots` all roots. None in programs with branches, loops, or several results.
 */
export function usualCalls({ body, results }: Program, roots: boolean): ReadonlySet<Id> {
  const none = new Set<Id>();
  if (results.length > 1) return none;
  const paired = sinesAndCosines(body);
  const usual = new Set<Id>();
  const known = new Map<Id, Interval>();
  for (const s of body) {
    if (s.kind !== 'let') return none;
    if (s.type === 'f64') known.set(s.id, intervalOf(s, known));
    const isAngle = s.op === 'call' && (s.fn === 'sin' || s.fn === 'cos') && !paired.has(s.id);
    if (isAngle && known.get(s.args[0])!.every(end => Math.abs(end) <= NEAR)) usual.add(s.id);
    if (roots && s.op === 'sqrt') usual.add(s.id);
  }
  return usual.size < FEWEST_CALLS ? none : usual;
}

function intervalOf(s: Let, known: ReadonlyMap<Id, Interval>): Interval {
  if (s.op === 'const') return [Number(s.value), Number(s.value)];
  if (s.op === 'coord') return [0, 1];
  const [a, b] = 'args' in s ? s.args.map(id => known.get(id) ?? ALL) : [];
  switch (s.op) {
    case 'neg':
      return [-a[1], -a[0]];
    case 'add':
      return [a[0] + b[0], a[1] + b[1]];
    case 'sub':
      return [a[0] - b[1], a[1] - b[0]];
    case 'mul': {
      const ends = a.flatMap(x => b.map(y => x * y));
      return ends.some(Number.isNaN) ? ALL : [Math.min(...ends), Math.max(...ends)];
    }
  }
  return ALL;
}
