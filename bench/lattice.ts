/**
 * Errors against evaluations of `plain`, `vegas+` and `lattice`, with slopes, as a table and a picture; and the evaluations
 * that `lattice` takes to tolerances which the others do not reach, beside what `vegas+` would take by its square root law.
 *
 *     node scripts/run.mjs bench/lattice.ts [SVG]
 *
 * An error is the root mean square of (value − truth)/truth over SEEDS runs that make as many evaluations as they are given.
 */
import { writeFileSync } from 'node:fs';
import { integrate, type Result } from 'quadrille';
import { catalogue } from '../tests/integrands/catalogue.ts';

const SEEDS = 6;
const METHODS = ['plain', 'vegas+', 'lattice'] as const;
const NAMES = ['f2_6', 'f3_8', 'f4_5', 'f4_8', 'f5_8', 'f6_6', 'roos_arnold_10'];
const BUDGETS = [1e5, 4e5, 1.6e6, 6.4e6];
const GOALS: [name: string, relTol: number][] = [
  ['f2_6', 1e-6],
  ['f5_8', 1e-6],
  ['f4_8', 1e-5],
  ['roos_arnold_10', 1e-5],
];

type Method = (typeof METHODS)[number];
interface Point {
  evaluations: number;
  error: number;
}

function run(name: string, method: Method, options: object): Promise<Result> {
  const { f, domain, params = {} } = catalogue.find(e => e.name === name)!;
  return integrate(f as never, { domain, params, method, ...options } as never);
}

const truthOf = (name: string): number => Number(catalogue.find(e => e.name === name)!.truth);

async function pointOf(name: string, method: Method, maxEvaluations: number): Promise<Point> {
  let [square, evaluations] = [0, 0];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const r = await run(name, method, { relTol: 1e-12, maxEvaluations, seed });
    square += ((r.value - truthOf(name)) / truthOf(name)) ** 2 / SEEDS;
    evaluations += r.evaluations / SEEDS;
  }
  return { evaluations, error: Math.sqrt(square) };
}

/** The slope of a line through the points on paper with two logarithmic axes. */
function slopeOf(points: readonly Point[]): number {
  const at = points.map(p => [Math.log(p.evaluations), Math.log(p.error)]);
  const mean = (i: number) => at.reduce((s, p) => s + p[i] / at.length, 0);
  const [x, y] = [mean(0), mean(1)];
  return at.reduce((s, p) => s + (p[0] - x) * (p[1] - y), 0) / at.reduce((s, p) => s + (p[0] - x) ** 2, 0);
}

const COLOURS: Record<Method, string> = { plain: '#888888', 'vegas+': '#c2410c', lattice: '#1d4ed8' };

/** A panel per integrand: error against evaluations, decades as lines. */
function picture(all: Map<string, Map<Method, Point[]>>): string {
  const [width, height, left, top] = [220, 190, 46, 26];
  const [firstX, lastX, firstY, lastY] = [4.5, 7.2, -7, 1];
  const x = (p: Point) =>
    left + ((Math.log10(p.evaluations) - firstX) / (lastX - firstX)) * (width - left - 8);
  const y = (error: number) => {
    const part = (Math.log10(Math.max(1e-7, Math.min(10, error))) - firstY) / (lastY - firstY);
    return top + (1 - part) * (height - top - 22);
  };
  const panels = [...all].map(([name, byMethod], i) => {
    const lines: string[] = [`<text x="${left}" y="16" class="name">${name}</text>`];
    for (let decade = firstY; decade <= lastY; decade += 2)
      lines.push(
        `<line x1="${left}" x2="${width - 8}" y1="${y(10 ** decade)}" y2="${y(10 ** decade)}" class="grid"/>`,
        `<text x="${left - 4}" y="${y(10 ** decade) + 3}" text-anchor="end">1e${decade}</text>`,
      );
    for (const decade of [5, 6, 7]) {
      const at = x({ evaluations: 10 ** decade, error: 1 });
      lines.push(`<text x="${at}" y="${height - 6}" text-anchor="middle">1e${decade}</text>`);
    }
    for (const [method, points] of byMethod) {
      const path = points.map(p => `${x(p).toFixed(1)},${y(p.error).toFixed(1)}`).join(' ');
      lines.push(`<polyline points="${path}" fill="none" stroke="${COLOURS[method]}" stroke-width="2"/>`);
    }
    return `<g transform="translate(${(i % 4) * width} ${Math.floor(i / 4) * height + 24})">${lines.join('')}</g>`;
  });
  const legend = METHODS.map(
    (m, i) => `<text x="${46 + 90 * i}" y="16" fill="${COLOURS[m]}" class="name">${m}</text>`,
  );
  const rows = Math.ceil(all.size / 4);
  const style = 'text{font:10px sans-serif}.name{font-size:12px;font-weight:bold}.grid{stroke:#dddddd}';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${4 * width} ${rows * height + 30}"><title>Relative error against evaluations</title><style>${style}</style><rect width="100%" height="100%" fill="white"/>${legend.join('')}${panels.join('')}</svg>\n`;
}

const all = new Map<string, Map<Method, Point[]>>();
console.log(
  `relative errors, root mean square over ${SEEDS} seeds, with at most ${BUDGETS.join(', ')} evaluations; slope`,
);
for (const name of NAMES) {
  const byMethod = new Map<Method, Point[]>();
  for (const method of METHODS) {
    const points: Point[] = [];
    for (const budget of BUDGETS) points.push(await pointOf(name, method, budget));
    byMethod.set(method, points);
    console.log(
      name.padEnd(16),
      method.padEnd(8),
      ...points.map(p => `${p.error.toExponential(1)} at ${p.evaluations.toExponential(1)}`.padEnd(20)),
      slopeOf(points).toFixed(2),
    );
  }
  all.set(name, byMethod);
}
console.log(
  '\nto a tolerance, seed 1: evaluations of lattice, and of vegas+ by its error at the largest budget above',
);
for (const [name, relTol] of GOALS) {
  const r = await run(name, 'lattice', { relTol, maxEvaluations: 1e9 });
  const last = all.get(name)!.get('vegas+')!.at(-1)!;
  const law = last.evaluations * Math.max(1, (last.error / relTol) ** 2);
  console.log(
    name.padEnd(16),
    `${relTol}`.padEnd(6),
    r.status.padEnd(10),
    `${r.evaluations.toExponential(1)}, off by ${(Math.abs(r.value - truthOf(name)) / r.error).toFixed(1)} errors, ${r.elapsed.toFixed(0)} ms`.padEnd(
      44,
    ),
    `vegas+ ${law.toExponential(1)}: ${(law / r.evaluations).toFixed(0)} times as many`,
  );
}
const file = process.argv[2];
if (file) writeFileSync(file, picture(all));
process.exit(0);
