/** What prelude.ts is for arrays, for what `filter` keeps. */
import { type A, type F, lookUp } from './prelude.ts';

/** Methods of what `filter` kept; the index that a function is given counts those that were kept. */
const afterFilter = {
  map(values: A, kept: A, self: unknown, f: F) {
    const r = Array(values.length);
    let k = 0;
    for (let i = 0; i < values.length; i++) {
      r[i] = kept[i] > 0 ? f(values[i], k, self) : NaN;
      k += kept[i];
    }
    return r;
  },
  filter(values: A, kept: A, self: unknown, f: F) {
    const r = Array(values.length);
    let k = 0;
    for (let i = 0; i < values.length; i++) {
      r[i] = kept[i] > 0 && f(values[i], k, self) ? 1 : 0;
      k += kept[i];
    }
    return r;
  },
  reduce(values: A, kept: A, self: unknown, f: F, s: unknown) {
    let k = 0;
    for (let i = 0; i < values.length; i++) {
      if (kept[i] > 0) s = f(s, values[i], k, self);
      k += kept[i];
    }
    return s;
  },
  every(values: A, kept: A, self: unknown, f: F) {
    let k = 0;
    for (let i = 0; i < values.length; i++) {
      if (kept[i] > 0 && !f(values[i], k, self)) return false;
      k += kept[i];
    }
    return true;
  },
  some(values: A, kept: A, self: unknown, f: F) {
    let k = 0;
    for (let i = 0; i < values.length; i++) {
      if (kept[i] > 0 && f(values[i], k, self)) return true;
      k += kept[i];
    }
    return false;
  },
  forEach(values: A, kept: A, self: unknown, f: F) {
    let k = 0;
    for (let i = 0; i < values.length; i++) {
      if (kept[i] > 0) f(values[i], k, self);
      k += kept[i];
    }
  },
};

export const filteredMethod = lookUp(afterFilter);
