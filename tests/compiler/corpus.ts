/**
 * Integrands as people write them, as TypeScript text: what tool-chains are given. Together they use what
 * tool-chains rewrite: destructuring, defaults, spread, `**`, `??`, for-of, closures, early returns, loops.
 */
import type { Params } from '../../src/integrand/params.ts';
import { table } from '../../src/integrand/tables.ts';

export const DIMS = 3;

export const params: Params = {
  width: 0.4,
  cut: true,
  weights: Float64Array.of(0.5, 1.5, 2.5),
  spectrum: table([[0, 0.25, 0.6, 1]], [0, 2, 1, 0.5]),
  decay: table([[0.01, 0.1, 0.3, 2]], [5, 3, 3.5, 0], { kind: 'cubic', log: true }),
  field: table(
    [
      [0, 0.5, 1],
      [0, 0.2, 0.3, 1],
      [0, 1],
    ],
    Array.from({ length: 24 }, (_, i) => Math.sin(i)),
    { kind: 'cubic', outside: 'zero' },
  ),
};

const HEAD = '(x: number[], p: any, m: any): number';

export const corpus: Record<string, string> = {
  gaussian: `${HEAD} => {
    let s = 0;
    for (const v of x) s += (v - 0.5) ** 2;
    return Math.exp(-s / (2 * p.width ** 2)) / (p.width * Math.sqrt(2 * Math.PI)) ** x.length;
  }`,
  destructured: `([a, b, c]: number[], { width, offset = 0.25 }: any): number => {
    const [u, v = 2, w = a] = [b, c];
    return (a * u + v ** 3 - w) * width + offset;
  }`,
  earlyReturns: `${HEAD} => {
    if (x[0] < 0.2) return 0;
    for (let i = 1; i < x.length; i++) {
      if (x[i] > 0.8) return x[i] - x[0];
      else if (x[i] < 0.1) continue;
      if (x[i] > x[i - 1] && p.cut) return 2;
    }
    return x[2] > 0.5 ? 1 : -1;
  }`,
  helpers: `${HEAD} => {
    const square = (t: number) => t * t;
    function norm(a: number, b = 1): number {
      const s = square(a) + square(b);
      if (s > 1) return s;
      return Math.sqrt(s);
    }
    return norm(x[0]) + norm(x[1], x[2]) * square(p.width);
  }`,
  methods: `${HEAD} => {
    const y = x.map((v, i) => v * p.weights[i]);
    const inside = y.every(v => v < 2) || x.some(v => v > 0.99);
    return inside ? y.reduce((a, b) => a + b, 0) : y.reduce((a, b) => a * b);
  }`,
  closures: `${HEAD} => {
    let calls = 0;
    const next = () => {
      calls += 1;
      return calls * x[0];
    };
    const total = next() + next() * x[1] - next();
    return total + calls;
  }`,
  dynamicLoop: `${HEAD} => {
    let t = x[0];
    let n = 0;
    while (t < 5 && n < 40) {
      t = t * (1 + x[1]) + 0.1;
      n++;
    }
    outer: for (let i = 0; i < 4; i++) {
      for (let j = 0; j < 4; j++) {
        if (i * j > 5 * x[2]) break outer;
        if (j > i) continue outer;
        t += i - j;
      }
    }
    return t / n;
  }`,
  arrays: `${HEAD} => {
    const a = [0, 0, 0, 1];
    const k = Math.floor(4 * Math.min(Math.abs(x[0]), 0.999));
    a[k] += x[1];
    a[(k + 1) % 4] -= x[2];
    [a[0], a[1]] = [a[1], a[0]];
    return a[0] + 2 * a[1] + 3 * a[2] + 4 * a[k];
  }`,
  nullish: `${HEAD} => {
    const scale = p.scale ?? 3;
    const shift = p.cut ? p?.width : 0;
    let q = x[0] || 1;
    q ||= 2;
    q &&= q + 1;
    return scale * x[1] + shift + q;
  }`,
  spread: `${HEAD} => {
    const y = [...x, p.width];
    const [first, ...others] = y;
    return Math.max(...others) - Math.min(...y) + Math.hypot(first, ...others);
  }`,
  rest: `${HEAD} => {
    const sum = (first: number, ...more: number[]) => more.reduce((a, b) => a + b, first);
    return sum(x[0]) + sum(x[1], x[2], p.width);
  }`,
  cubicTables: `${HEAD} => p.decay(x[0]) * p.field(x[1], x[2], 1.25 * x[0])`,
  tables: `${HEAD} => {
    const rate = p.spectrum(x[0]) * p.spectrum(1 - x[1]);
    return rate > 0.5 ? rate : rate ** 1.5;
  }`,
  special: `(x: number[], p: any, { erf, lgamma }: any): number => {
    const z = (x[0] - p.width) / Math.SQRT2;
    const tail = 0.5 * (1 + erf(z));
    return tail + lgamma(1 + x[1]) - Math.tanh(x[2]) + (x[2] > 0.5 ? Math.cos(x[0]) : Math.sin(x[0]));
  }`,
  objects: `${HEAD} => {
    const polar = (a: number, b: number) => ({ r: Math.hypot(a, b), phi: Math.atan2(b, a) });
    const { r, phi: angle } = polar(x[0], x[1]);
    const start = { r: 1, phi: 0 };
    return r < 0.5 ? start.r + angle : r * angle;
  }`,
  arraysInLoops: `${HEAD} => {
    let z = [0, 0];
    let n = 0;
    while (n < 40 && z[0] * z[0] + z[1] * z[1] < 4) {
      z = [z[0] * z[0] - z[1] * z[1] + 2 * x[0] - 1.5, 2 * z[0] * z[1] + x[1]];
      n++;
    }
    let [a, b] = [x[1], x[2]];
    for (let i = 0; i < 20 * x[2]; i++) [a, b] = [b, (a + b) / 2];
    return n + z[1] + a;
  }`,
  changedObjects: `${HEAD} => {
    let s = { re: x[0], im: 0, count: { turns: 0 } };
    const { count } = s;
    while (count.turns < 12 * x[1]) {
      s = { re: s.re * s.re - s.im * s.im + p.width, im: 2 * s.re * s.im + x[2], count };
      s.im /= 2;
      count.turns++;
    }
    let total = 0;
    for (const [name, value] of Object.entries({ re: s.re, im: s.im })) total += name === 're' ? value : 3 * value;
    return total + s.count.turns;
  }`,
  sorted: `${HEAD} => {
    const order = [...x, p.width].sort((a, b) => a - b);
    const far = x.filter(v => Math.abs(v - 0.5) > 0.25);
    let s = far.length;
    far.forEach((v, i) => { s += v * i; });
    for (const v of order) s = 2 * s + v;
    return s + far.map(v => v * v).reduce((a, b) => a + b, 0);
  }`,
};
