/**
 * The two integrals of ZMCintegral's paper (Wu, Zhang, Pang and Wang, Computer Physics Communications, 2020; tables 1 and 2)
 * beside ours. The sine of a sum oscillates over six dimensions of length 10; the Gaussian, of width 0.01 in nine
 * dimensions of length 2, is a peak in 1e-14 of the volume.
 *
 * See: the paper had up to four GPUs (NVIDIA Tesla K40m) and minutes; ours has this machine's processor and seconds. The
 * Gaussian is a product over the axes, which is what VEGAS+ learns; `zmc`, the paper's method, asks for no shape and
 * pays for that. The sine all but cancels: a volume of 1e6 leaves -49. In so few samples `zmc` cannot see that, and
 * its error says so. Cubature is near with a 300th of the paper's evaluations, though it can promise less than it has.
 */
import { type Integrand, type IntegrateOptions, integrate } from 'quadrille';

type Row = [who: string, value: number, error: number, evaluations: number, seconds: number];

async function ours(f: Integrand, options: IntegrateOptions): Promise<Row> {
  const r = await integrate(f, options);
  return [`${r.method} on ${r.device}`, r.value, r.error, r.evaluations, r.elapsed / 1000];
}

function print(what: string, truth: number, digits: number, rows: Row[]) {
  console.log(`${what}, true value ${truth.toFixed(digits)}`);
  console.log('who                         found      error     off by (errors)  evaluations  seconds');
  for (const [who, value, error, evaluations, seconds] of rows) {
    const cells = [
      who.padEnd(27),
      value.toFixed(digits).padEnd(10),
      error.toFixed(digits).padEnd(9),
      ((value - truth) / error).toFixed(1).padEnd(16),
      evaluations.toExponential(1).padEnd(12),
      seconds.toFixed(1),
    ];
    console.log(cells.join(' '));
  }
}

const sine: Integrand = ([a, b, c, d, e, f]) => Math.sin(a + b + c + d + e + f);
const six = { domain: Array.from({ length: 6 }, () => [0, 10] as const) };
print('sin(x1 + x2 + x3 + x4 + x5 + x6)', (2 * Math.sin(5)) ** 6 * Math.sin(30), 2, [
  ['paper: ZMC, 1 GPU', -49.56, 1.4, 4.67e10, 313.5],
  ['paper: ZMC, 4 GPUs', -49.09, 0.61, 4.67e10, 96.2],
  ['paper: VEGAS, CPU, batches', -48.94, 1.98, 1e9, 3857.2],
  await ours(sine, { ...six, method: 'zmc', maxEvaluations: 2e7 }),
  await ours(sine, { ...six, method: 'pagani', maxEvaluations: 1.5e8 }),
]);

console.log();
const gaussian: Integrand = (x: number[], { sigma }: { sigma: number }) => {
  const r2 = x.reduce((s, xi) => s + xi * xi, 0);
  return Math.exp(-r2 / (2 * sigma ** 2)) / (Math.sqrt(2 * Math.PI) * sigma) ** x.length;
};
const nine = { domain: Array.from({ length: 9 }, () => [-1, 1] as const), params: { sigma: 0.01 } };
print('a Gaussian of width 0.01', 1, 5, [
  ['paper: ZMC, 1 GPU', 1.00001, 0.00051, 3.87e8, 69.7],
  ['paper: ZMC, 4 GPUs', 1.00026, 0.00045, 3.87e8, 33.2],
  ['paper: VEGAS, CPU', 0.99987, 0.0005, 1e7, 510],
  await ours(gaussian, { ...nine, method: 'zmc', relTol: 5e-3 }),
  await ours(gaussian, { ...nine, method: 'vegas+', relTol: 5e-4 }),
]);
