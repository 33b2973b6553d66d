/**
 * The same integral on every device of this machine: the volume under a product of |4x - 2| in ten dimensions (Roos and
 * Arnold), whose true value is 1.
 *
 * See: a seed names the samples, whatever the device; so values agree to rounding, far inside their error, and only the
 * times differ. `cpu` runs vector code on every core, `js` the function as it is. The first run on a device
 * compiles and starts workers; the second one shows its speed. A device that cannot be used says why.
 */
import { devices, integrate, type Result } from 'quadrille';

const f = (x: number[]) => x.reduce((product, xi) => product * Math.abs(4 * xi - 2), 1);
const truth = 1;

const run = (device: string) =>
  integrate(f, {
    dims: 10,
    device,
    seed: 1,
    method: 'vegas+',
    relTol: 0,
    vegas: { evaluations: 2e5, iterations: 10, adapt: 5 },
  });

console.log(`true value ${truth}\n`);
console.log('device  found        off by (errors)  from the first  first run  second run  evaluations/s');
const list = await devices();
let first: Result | undefined;
async function line(device: string): Promise<string> {
  const cold = await run(device);
  const warm = await run(device);
  first ??= warm;
  const cells = [
    `${warm}`.split(' ')[0].padEnd(12),
    ((warm.value - truth) / warm.error).toFixed(1).padEnd(16),
    (warm.value - first.value).toExponential(1).padEnd(15),
    `${cold.elapsed.toFixed(0)} ms`.padEnd(10),
    `${warm.elapsed.toFixed(0)} ms`.padEnd(11),
    ((1000 * warm.evaluations) / warm.elapsed).toExponential(1),
  ];
  return cells.join(' ');
}
for (const { name, missing } of list)
  console.log(`${name.padEnd(7)} ${missing ?? (await line(name).catch(e => e.message))}`);
console.log();
for (const { name, description, missing } of list)
  if (!missing) console.log(`${name.padEnd(7)} ${description}`);
