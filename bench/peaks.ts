/**
 * How often a second peak is found: two Gaussian peaks at random places in the unit cube, of similar widths and heights, with
 * nothing between them. A run that has found only one of them and claims half of the integral is counted as false.
 *
 *     node scripts/run.mjs bench/peaks.ts [RUNS] [METHOD] [RELTOL]
 */
import { type Integrand, integrate } from 'quadrille';

const runs = Number(process.argv[2] ?? 40);
const method = (process.argv[3] ?? 'vegas+') as 'vegas+' | 'mcubes' | 'auto';
const relTol = Number(process.argv[4] ?? 1e-3);

const peaks: Integrand = (x: number[], p) => {
  let [a, b] = [0, 0];
  for (let i = 0; i < x.length; i++) {
    a += ((x[i] - p.first[i]) / p.width) ** 2;
    b += ((x[i] - p.second[i]) / p.width2) ** 2;
  }
  return Math.exp(-a) + p.ratio * Math.exp(-b);
};

let state = 12345;
function random(): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}

/** ∫ exp(−((x − centre)/width)²) dx over [0, 1], by the midpoint rule. */
function gaussian(centre: number, width: number): number {
  const [low, high] = [Math.max(0, centre - 7 * width), Math.min(1, centre + 7 * width)];
  let sum = 0;
  for (let i = 0; i < 2000; i++) {
    const x = low + ((high - low) * (i + 0.5)) / 2000;
    sum += Math.exp(-(((x - centre) / width) ** 2));
  }
  return (sum * (high - low)) / 2000;
}

console.log(
  `two peaks, ${method} to ${relTol}, ${runs} runs each: claims that are true, claims off by more than 5 errors`,
);
for (const dims of [2, 3, 4, 6])
  for (const width of [0.003, 0.01, 0.03, 0.1]) {
    let [right, wrong, evaluations] = [0, 0, 0];
    for (let seed = 1; seed <= runs; seed++) {
      const place = () => Float64Array.from({ length: dims }, () => 0.1 + 0.8 * random());
      const [first, second] = [place(), place()];
      const width2 = width * Math.exp(random() - 0.5);
      const ratio = Math.exp(2 * random() - 1);
      const integral = (at: Float64Array, w: number) => at.reduce((v, c) => v * gaussian(c, w), 1);
      const truth = integral(first, width) + ratio * integral(second, width2);
      const params = { first, second, width, width2, ratio };
      const r = await integrate(peaks, { dims, method, relTol, maxEvaluations: 1e7, seed, params });
      evaluations += r.evaluations / runs;
      if (r.converged && Math.abs(r.value - truth) > 5 * r.error) wrong++;
      else if (r.converged) right++;
    }
    console.log(
      `${dims} dimensions, width ${width}`.padEnd(26),
      `true ${right}`.padEnd(8),
      `false ${wrong}`.padEnd(9),
      `${evaluations.toExponential(1)} evaluations`,
    );
  }
