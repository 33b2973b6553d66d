/**
 * A machine-made integrand, such as a computer algebra system writes: ten dimensions, four hundred terms like
 * 0.37*sin(3*x[0] + 5*x[7])*exp(-2*x[2])*x[4], one statement for twenty of them. Each term is a product over
 * axes (but for its pair of axes inside sin or cos), so that the integral is known.
 */
import { cube, type Entry } from './entry.ts';
import { uniform } from './points.ts';

const DIMS = 10;
const STATEMENTS = 20;
const TERMS = 20;

interface Factor {
  text: (xi: string) => string;
  integral: number;
}

const FACTORS: Factor[] = [
  { text: xi => `exp(-${xi})`, integral: 1 - Math.exp(-1) },
  { text: xi => `exp(-2*${xi}*${xi})`, integral: 0.5981440066613041 }, // √(π/8)·erf(√2)
  { text: xi => `sqrt(${xi})`, integral: 2 / 3 },
  { text: xi => `(1 - ${xi}*${xi})`, integral: 2 / 3 },
  { text: xi => `log(1 + ${xi})`, integral: 2 * Math.LN2 - 1 },
  { text: xi => `1/(1 + ${xi})`, integral: Math.LN2 },
];

interface Term {
  text: string;
  amplitude: number;
  integral: number;
}

function makeTerm(next: () => number): Term {
  const int = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  const axes = Array.from({ length: DIMS }, (_, i) => i);
  const takeAxis = () => axes.splice(int(0, axes.length - 1), 1)[0];
  const [a, b] = [int(1, 9), int(1, 9)];
  const wave = next() < 0.5 ? 'sin' : 'cos';
  // the integral of exp(iax) over [0, 1] is sin(a/2)/(a/2)·exp(ia/2)
  const sinc = (t: number) => Math.sin(t) / t;
  const waves = sinc(a / 2) * sinc(b / 2) * Math[wave]((a + b) / 2);
  // of the sign that makes every integral positive: with both signs the sum would be lost in any noise
  const amplitude = (int(5, 95) * Math.sign(waves)) / 100;
  let integral = amplitude * waves;
  let text = `${amplitude}*${wave}(${a}*x[${takeAxis()}] + ${b}*x[${takeAxis()}])`;
  for (let k = int(1, 3); k > 0; k--) {
    const factor = FACTORS[int(0, FACTORS.length - 1)];
    text += `*${factor.text(`x[${takeAxis()}]`)}`;
    integral *= factor.integral;
  }
  return { text, amplitude, integral };
}

const next = uniform(20);
const terms = Array.from({ length: STATEMENTS * TERMS }, () => makeTerm(next));

/** The body in C; in JavaScript the functions are those of `Math`. */
export const body = [
  'let s = 0;',
  ...Array.from({ length: STATEMENTS }, (_, k) => {
    const slice = terms.slice(k * TERMS, (k + 1) * TERMS);
    return `s += ${slice.map(t => t.text).join(' + ')};`;
  }),
  'return s;',
].join('\n');

export const oscillating: Entry = {
  name: 'oscillating_10',
  paper: 'made here: a generated sum of 400 terms',
  dims: DIMS,
  domain: cube(DIMS),
  f: new Function('x', body.replace(/\b(sin|cos|exp|log|sqrt)\(/g, 'Math.$1(')) as Entry['f'],
  truth: terms.reduce((sum, t) => sum + t.integral, 0),
  scale: terms.reduce((sum, t) => sum + Math.abs(t.amplitude), 0), // the waves cancel
};
