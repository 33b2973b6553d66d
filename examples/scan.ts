/**
 * A parameter scan with a plot: how much light, neutrons or X-rays a ball of radius 1 scatters, by the momentum q that it
 * hands over. The amplitude is the mean of cos(q·r) over the ball; textbooks give it as 3(sin q - q cos q)/q³.
 *
 * See: one call of `scan` makes all integrals; the function is compiled once. A star is an integral, a dot the closed
 * form where no star covers it: there should be none. The line at the end names the worst of all.
 */
import { scan } from 'quadrille';

const qs = Array.from({ length: 71 }, (_, i) => 0.2 * i);

// the ball in its radius and the cosine of the angle between r and q
const results = await scan(([r, cosine], p) => 1.5 * r ** 2 * Math.cos(p.q * r * cosine), {
  domain: [
    [0, 1],
    [-1, 1],
  ],
  params: qs.map(q => ({ q })),
  relTol: 0,
  absTol: 1e-8,
});

const closedForm = (q: number) => (q === 0 ? 1 : (3 * (Math.sin(q) - q * Math.cos(q))) / q ** 3);

// a character is 0.2 of q wide and 0.05 of the amplitude high
const [top, bottom] = [1, -0.1];
const step = 0.05;
const heightOf = (amplitude: number) => Math.round((top - amplitude) / step);
for (let height = 0; height <= heightOf(bottom); height++) {
  const line = qs.map((q, i) => {
    if (heightOf(results[i].value) === height) return '*';
    if (heightOf(closedForm(q)) === height) return '.';
    return height === heightOf(0) ? '-' : ' ';
  });
  const label = height % 5 === 0 ? (top - height * step).toFixed(2) : '';
  console.log(`${label.padStart(6)} |${line.join('').trimEnd()}`);
}
console.log(
  `        ${qs.map((q, i) => (i % 10 === 0 ? `${q.toFixed(0)}`.padEnd(10) : '')).join('')}`.trimEnd(),
);
console.log('        amplitude over q\n');

console.log('q     found                  closed form    off by');
for (const i of [0, 10, 20, 30, 40, 50, 60, 70]) {
  const { value } = results[i];
  const truth = closedForm(qs[i]);
  console.log(
    `${qs[i].toFixed(1).padEnd(5)} ${`${results[i]}`.split(' ')[0].padEnd(22)} ${truth.toFixed(10).padStart(13)}  ${(value - truth).toExponential(0)}`,
  );
}
const worst = Math.max(...results.map((r, i) => Math.abs(r.value - closedForm(qs[i]))));
const converged = results.filter(r => r.converged).length;
console.log(
  `\n${results.length} integrals, ${converged} converged to 1e-8; the worst is off by ${worst.toExponential(1)}`,
);
