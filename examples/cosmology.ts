/**
 * Functions read from a file: how many clusters of galaxies would a survey of 5000 square degrees count? The model comes as
 * tables (data/clusters.csv; what is in them, and how they were made, stands in data/clusters.ts): the volume at
 * redshift z, and the number of clusters by redshift and mass. A survey sees neither exactly, so there are four
 * dimensions: redshift and mass as they are, and both as they are measured, with normal errors.
 *
 * See: measured redshift and mass can be integrated by hand, which gives the `erf`s of `counted`. The two dimensions
 * that are left, to seven digits, are the true value for all four. It is true of the tables: what lies between the
 * knots is linear, and that is an approximation of its own.
 */
import { readFileSync } from 'node:fs';
import { type Integrand, integrate, table } from 'quadrille';

// knots along a row and a column, and what they frame
const [header, ...rows] = readFileSync('examples/data/clusters.csv', 'utf8')
  .trim()
  .split('\n')
  .filter(line => !line.startsWith('#'))
  .map(line => line.split(',').map(Number));
const redshifts = rows.map(r => r[0]);
const masses = header.slice(2);
const volume = table(
  [redshifts],
  rows.map(r => r[1]),
);
const logDensity = table(
  [redshifts, masses],
  rows.map(r => r.slice(2)),
);

const params = {
  volume,
  logDensity, // of clusters, by ln M
  area: 5000 * (Math.PI / 180) ** 2,
  zError: 0.02, // times 1 + z
  mError: 0.1, // of log10 M
  // what is counted
  z1: 0.2,
  z2: 0.6,
  m1: 14,
  m2: 15,
};

const measured: Integrand = ([z, m, zSeen, mSeen], p) => {
  const bell = (x: number, width: number) =>
    Math.exp((-x * x) / (2 * width * width)) / (Math.sqrt(2 * Math.PI) * width);
  const clusters = p.area * p.volume(z) * Math.exp(p.logDensity(z, m)) * Math.LN10;
  return clusters * bell(zSeen - z, p.zError * (1 + z)) * bell(mSeen - m, p.mError);
};
const counted: Integrand = ([z, m], p, { erf }) => {
  const within = (from: number, to: number, x: number, width: number) =>
    (erf((to - x) / (Math.SQRT2 * width)) - erf((from - x) / (Math.SQRT2 * width))) / 2;
  const clusters = p.area * p.volume(z) * Math.exp(p.logDensity(z, m)) * Math.LN10;
  return clusters * within(p.z1, p.z2, z, p.zError * (1 + z)) * within(p.m1, p.m2, m, p.mError);
};

const whole = [
  [0, 0.8],
  [13.2, 15.8],
] as const;
const seen = [
  [params.z1, params.z2],
  [params.m1, params.m2],
] as const;
const truth = await integrate(counted, { domain: whole, params, relTol: 1e-7 });
const found = await integrate(measured, {
  domain: [...whole, ...seen],
  params,
  method: 'vegas+',
  relTol: 5e-4,
});
const off = ((found.value - truth.value) / found.error).toFixed(1);

console.log(
  `${redshifts.length} redshifts and ${masses.length} masses read from examples/data/clusters.csv\n`,
);
console.log('clusters of 1e14 to 1e15 solar masses/h between redshifts 0.2 and 0.6, in 5000 square degrees');
console.log(`two dimensions   ${truth}`);
console.log(`four dimensions  ${found}`);
console.log(`                 off by ${off} errors`);
