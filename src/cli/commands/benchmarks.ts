/** The integrands of the papers that `quadrille bench` runs. Their true values are closed forms, rounded to float64. */
import type { Integrand } from '../../integrand/compile.ts';
import type { IntegrateOptions } from '../../problem.ts';

export interface Benchmark {
  name: string;
  /** The paper and the equation that define it. */
  paper: string;
  f: Integrand;
  truth: number;
  options: IntegrateOptions;
}

const box = (dims: number, from: number, to: number) =>
  Array.from({ length: dims }, (): [number, number] => [from, to]);

export const BENCHMARKS: readonly Benchmark[] = [
  {
    name: 'oscillatory 5D',
    paper: 'm-Cubes, PAGANI eq. 1',
    f: (x: number[]) => Math.cos(x.reduce((s, xi, i) => s + (i + 1) * xi, 0)),
    truth: 0.020242422119901897,
    options: { dims: 5, relTol: 1e-8 },
  },
  {
    name: 'product peak 6D',
    paper: 'm-Cubes, PAGANI eq. 2',
    f: (x: number[]) => x.reduce((product, xi) => product / (1 / 50 ** 2 + (xi - 0.5) ** 2), 1),
    truth: 12868879901109.879,
    options: { dims: 6, relTol: 5e-4 },
  },
  {
    name: 'Gaussian 8D',
    paper: 'm-Cubes, PAGANI eq. 4',
    f: (x: number[]) => Math.exp(-625 * x.reduce((s, xi) => s + (xi - 0.5) ** 2, 0)),
    truth: 6.383802190004384e-10,
    options: { dims: 8, relTol: 2e-4 },
  },
  {
    name: 'kinked 8D',
    paper: 'm-Cubes, PAGANI eq. 5',
    f: (x: number[]) => Math.exp(-10 * x.reduce((s, xi) => s + Math.abs(xi - 0.5), 0)),
    truth: 2.4252176256418858e-6,
    options: { dims: 8, relTol: 2e-4 },
  },
  {
    name: 'discontinuous 6D',
    paper: 'm-Cubes, PAGANI eq. 6',
    f: (x: number[]) =>
      x.every((xi, i) => xi < (4 + i) / 10) ? Math.exp(x.reduce((s, xi, i) => s + (i + 5) * xi, 0)) : 0,
    truth: 154773678.85091206,
    options: { dims: 6, relTol: 5e-4 },
  },
  {
    name: 'Roos-Arnold 10D',
    paper: 'cuVegas table 3 (5)',
    f: (x: number[]) => x.reduce((product, xi) => product * Math.abs(4 * xi - 2), 1),
    truth: 1,
    options: { dims: 10, relTol: 2e-4 },
  },
  {
    name: 'narrow Gaussian 9D',
    paper: 'ZMCintegral eq. 2',
    f: (x: number[], p: { sigma: number }) =>
      Math.exp(-x.reduce((s, xi) => s + xi * xi, 0) / (2 * p.sigma ** 2)) /
      (Math.sqrt(2 * Math.PI) * p.sigma) ** x.length,
    truth: 1,
    options: { domain: box(9, -1, 1), params: { sigma: 0.01 }, relTol: 5e-4 },
  },
];
