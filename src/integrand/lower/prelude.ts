/**
 * Array methods and the longer `Math` functions, written in the integrand language itself: a call of
 * `a.map(f)` inlines `map(a, f)` from here, and loops, early exits and unrolling are handled as in any
 * integrand. They may use nothing but their arguments: the compiler reads their text.
 */
import { type ParsedFunction, readInternal } from '../read.ts';

export type F = (...args: unknown[]) => never;
export type A = number[];
type Test = (f: F, later: number, earlier: number) => boolean;

const methods = {
  map(a: A, f: F) {
    const r = Array(a.length);
    for (let i = 0; i < a.length; i++) r[i] = f(a[i], i, a);
    return r;
  },
  reduce(a: A, f: F, s: unknown) {
    for (let i = 0; i < a.length; i++) s = f(s, a[i], i, a);
    return s;
  },
  every(a: A, f: F) {
    for (let i = 0; i < a.length; i++) if (!f(a[i], i, a)) return false;
    return true;
  },
  some(a: A, f: F) {
    for (let i = 0; i < a.length; i++) if (f(a[i], i, a)) return true;
    return false;
  },
  forEach(a: A, f: F) {
    for (let i = 0; i < a.length; i++) f(a[i], i, a);
  },
  fill(a: A, v: number, from = 0, to = a.length) {
    const place = (t: number) => {
      const k = Math.trunc(t) || 0;
      return k < 0 ? Math.max(0, a.length + k) : Math.min(k, a.length);
    };
    const end = place(to);
    for (let i = place(from); i < end; i++) a[i] = v;
    return a;
  },
  slice(a: A, from = 0, to = a.length) {
    const place = (t: number) => {
      const k = Math.trunc(t) || 0;
      return k < 0 ? Math.max(0, a.length + k) : Math.min(k, a.length);
    };
    const [start, end] = [place(from), place(to)];
    const r = Array(Math.max(0, end - start));
    for (let i = start; i < end; i++) r[i - start] = a[i];
    return r;
  },
  at(a: A, i: number) {
    const k = Math.trunc(i) || 0;
    return a[k < 0 ? a.length + k : k];
  },
  reverse(a: A) {
    for (let i = 0; i < Math.floor(a.length / 2); i++) {
      const v = a[i];
      a[i] = a[a.length - 1 - i];
      a[a.length - 1 - i] = v;
    }
    return a;
  },
  toReversed(a: A) {
    const r = Array(a.length);
    for (let i = 0; i < a.length; i++) r[i] = a[a.length - 1 - i];
    return r;
  },
  /** Those that `f` keeps, as filtered.ts has them. */
  filter(a: A, f: F) {
    const values = Array(a.length);
    const kept = Array(a.length);
    for (let i = 0; i < a.length; i++) {
      values[i] = a[i];
      kept[i] = f(values[i], i, a) ? 1 : 0;
    }
    return { values, kept };
  },
};

const functions = {
  /**
   * Sorts by insertion: neighbours change places where `order` says that the later one comes first. It is stable, as
   * JavaScript's is. Every pair is compared, so that each step is a selection and none a jump. Where the elements have no
   * order, because one is NaN or `f` puts two of them each before the other, the integrand's result is NaN.
   */
  sort(a: A, f: F, order: Test, contradicts: Test, demand: (ok: boolean) => void, numbers: boolean) {
    let ordered = true;
    for (let i = 1; i < a.length; i++)
      for (let j = i; j > 0; j--) {
        const u = a[j - 1];
        const v = a[j];
        const before = order(f, v, u);
        ordered = ordered && !contradicts(f, v, u);
        a[j - 1] = before ? v : u;
        a[j] = before ? u : v;
      }
    // biome-ignore lint/suspicious/noSelfCompare: NaN is what differs from itself
    if (numbers) for (let i = 0; i < a.length; i++) ordered = ordered && a[i] === a[i];
    demand(ordered);
    return a;
  },
  /** `reduce` without a first value. */
  reduce1(a: A, f: F) {
    let s = a[0];
    for (let i = 1; i < a.length; i++) s = f(s, a[i], i, a);
    return s;
  },
  count(kept: A) {
    let n = 0;
    for (let i = 0; i < kept.length; i++) n += kept[i];
    return n;
  },
  /** Math.hypot of three and more arguments: √Σaᵢ², scaled by max|aᵢ| if a square may overflow or underflow. */
  hypot(a: A) {
    let s = 0;
    for (let i = 0; i < a.length; i++) s += a[i] * a[i];
    if (s > 1e-280 && s < 1e300) return Math.sqrt(s);
    let m = 0;
    for (let i = 0; i < a.length; i++) if (Math.abs(a[i]) === Infinity) return Infinity;
    for (let i = 0; i < a.length; i++) m = Math.max(m, Math.abs(a[i]));
    if (m === 0) return 0;
    s = 0;
    for (let i = 0; i < a.length; i++) s += (a[i] / m) * (a[i] / m);
    return m * Math.sqrt(s);
  },
  from(n: number, f: F) {
    const r = Array(n);
    for (let i = 0; i < n; i++) r[i] = f(undefined, i);
    return r;
  },
  fromArray(a: A, f: F) {
    const r = Array(a.length);
    for (let i = 0; i < a.length; i++) r[i] = f(a[i], i);
    return r;
  },
  isFinite: (x: number) => Math.abs(x) < Infinity,
  // biome-ignore lint/suspicious/noSelfCompare: NaN is what differs from itself, and isNaN is what is defined here
  isNaN: (x: number) => x !== x,
  isInteger: (x: number) => Math.trunc(x) === x && Math.abs(x) < Infinity,
};

export const lookUp =
  <T extends object>(record: T) =>
  (name: string): ParsedFunction | undefined =>
    Object.hasOwn(record, name) ? readInternal(record[name as keyof T] as object) : undefined;

export const arrayMethod = lookUp(methods);
export const preludeFunction = lookUp(functions);
