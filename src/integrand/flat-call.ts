/**
 * A plain function whose array or object of numbers is given as one list of numbers, in the order of its results; or whose
 * number is given as it is, and any array or object in its place as NaN.
 */
import type { PlainValue } from './plain.ts';
import type { Shape } from './shape.ts';

/**
 * `f` as a function that gives the list, or a promise of it. It uses nothing but its arguments: its text is a part of the program
 * of workers. Numbers are taken as `flatten` in shape.ts takes them.
 */
export function flatCall(
  f: (x: number[]) => unknown,
  shape: Shape,
): (x: number[]) => PlainValue | Promise<PlainValue> {
  const fits = (v: unknown, s: Shape, found: number[]): boolean => {
    if (s === 'number') {
      if (typeof v !== 'number' && typeof v !== 'boolean' && v !== undefined) return false;
      return found.push(Number(v)) > 0;
    }
    if (typeof v !== 'object' || v === null) return false;
    const members = Object.entries(s as Record<string, Shape>);
    const own = Array.isArray(v) || ArrayBuffer.isView(v);
    if (own !== Array.isArray(s)) return false;
    const size = own ? (v as ArrayLike<unknown>).length : Object.keys(v).length;
    if (size !== members.length) return false;
    for (const [key, member] of members) {
      if (!(key in v) || !fits((v as Record<string, unknown>)[key], member, found)) return false;
    }
    return true;
  };
  const flat = (value: unknown): PlainValue => {
    if (shape === 'number') return typeof value === 'object' ? Number.NaN : (value as number);
    const found: number[] = [];
    if (fits(value, shape, found)) return found;
    throw new TypeError(
      'the function returns one array or object of numbers at one point and another at a second one; return the same on every path.',
    );
  };
  return x => {
    const y = f(x) as { then?: unknown } | undefined;
    return typeof y?.then === 'function' ? (y as unknown as Promise<unknown>).then(flat) : flat(y);
  };
}
