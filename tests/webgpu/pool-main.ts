/**
 * The pool of regions of WebGPU beside that of the host with lists of the same device, step by step, in a process that finds a driver:
 * prints what each has after each step as a line of JSON.
 */
import { WebGpuDevice } from '../../src/devices/webgpu/webgpu.ts';
import { integrate, type Result, type State } from '../../src/index.ts';
import { HostPool } from '../../src/tasks/pool/host-pool.ts';
import type { RegionPool } from '../../src/tasks/pool/pool.ts';
import { allRegions } from '../../src/tasks/region.ts';
import { type Integrand, lowerFor } from '../devices/program.ts';

const device = new WebGpuDevice();
const say = (name: string, found: object) => console.log(JSON.stringify({ name, ...found }));
const ranges = [
  [0, 3],
  [0.5, 1.5],
] as const;
const task = { rule: 'degree7', ranges } as const;

/** How often only the largest error is halved; after that, errors of regions are so near to each other that lists select others. */
const SINGLE: Record<string, number> = { peak: 6, slab: 0, face: 2 };

/** A peak beside a border of wide regions; a slab that points of a rule miss in these; a face where it is infinite. */
const INTEGRANDS: Record<string, Integrand> = {
  peak: ([x, y]) => Math.exp(-3000 * ((x - 1.503) * (x - 1.503) + 2 * (y - 0.97) * (y - 0.97))),
  slab: ([x, y]) => Math.cos(x - y) + (0.31 < x && x < 0.34 ? 9 : 0),
  face: ([x, y]) => (1 + y * y * y) / Math.sqrt(x),
};

for (const [name, f] of Object.entries(INTEGRANDS)) {
  const session = await device.open(lowerFor(f, 2));
  const host = new HostPool(
    regions => session.regions(regions, allRegions(regions)),
    witnesses => session.witness(witnesses, allRegions(witnesses)),
    task,
  );
  const steps = async (pool: RegionPool) => {
    const found: object[] = [];
    const note = (step: string, what: object = {}) =>
      found.push({ step, count: pool.count, ...pool.sums, ...what });
    note('start', await pool.start(1));
    for (let i = 0; i < 4 + SINGLE[name]; i++) {
      // all regions, or the one with the largest error
      await pool.select(i < 4 ? Number.POSITIVE_INFINITY : 1e-9 * pool.sums.error);
      note('halve', await pool.halve(1000));
    }
    note('look', await pool.look(0, 1000));
    for (const witnesses of [20_000, 100]) {
      const draw = { key: [1, 2] as const, round: witnesses, witnesses, absolute: pool.sums.absolute };
      note('witness', await pool.witness(draw));
    }
    await pool.blame('surprised', 0.01);
    note('surprised');
    await pool.blame('deviating', 0.01);
    note('deviating');
    await pool.finish(1e-3, { relTol: 0.1, absTol: 0 });
    note('finish');
    return found;
  };
  const lists = await steps(host);
  say(name, { lists, pool: await steps(await session.pool!(task)), noise: await session.noise!() });
  session.close();
}

/** More regions than the first lists have room for; then more than there may be. */
const waves: Integrand = ([x]) => 1 + Math.sin(2e4 * x * x);
const options = { dims: 1, device, method: 'pagani', relTol: 1e-5, maxEvaluations: 2e6 } as const;
const many = await integrate(waves, options);
say('many', { regions: many.regions, value: many.value, error: many.error, status: many.status });
const few = await integrate(waves, { ...options, cubature: { maxMemory: 2 ** 20, witnesses: 0 } });
say('few', { regions: few.regions, value: few.value, error: few.error, status: few.status });

/** An integrand with a loop has a workgroup per region. */
const loop = ([x, y]: number[], p: { n: number }) => {
  let sum = 0;
  for (let i = 1; i <= p.n; i++) sum += Math.cos(i * x) / (i + y);
  return sum;
};
const looped = { dims: 2, params: { n: 7 }, method: 'pagani', relTol: 1e-4 } as const;
const [single, double] = [await integrate(loop, { ...looped, device }), await integrate(loop, looped)];
say('loop', {
  off: Math.abs(single.value - double.value),
  evaluations: [single.evaluations, double.evaluations],
});

/** Runs that go on later, beside runs that were not interrupted; the strip is contradicted by random points. */
const strip = ([x, y]: number[]) => x * y + (x > 0.31 && x < 0.34 ? 9 : 0);
const smooth: Integrand = ([x, y]) => 1 / (0.02 + (x - 0.3) * (x - 0.3) + (y - 0.6) * (y - 0.6));
const bitsOf = ({ elapsed: _, ...r }: Result) => JSON.stringify(r);
for (const [name, f] of Object.entries({ smooth, strip })) {
  const given = {
    dims: 2,
    device,
    method: 'pagani',
    cubature: { witnesses: 2000, rule: 'degree7' },
  } as const;
  const at = (relTol: number, state?: State) =>
    integrate(f, { ...given, relTol, resume: state && JSON.parse(JSON.stringify(state)) });
  const [rough, whole] = [await at(5e-2), await at(1e-3)];
  const runs = { resumed: await at(1e-3, rough.state), again: await at(1e-3, whole.state) };
  const back = await at(5e-2, whole.state);
  say(`resumed ${name}`, {
    whole: bitsOf(whole),
    resumed: bitsOf(runs.resumed),
    again: bitsOf(runs.again),
    rough: bitsOf(rough),
    back: bitsOf(back),
    evaluations: [rough.evaluations, whole.evaluations],
    record: rough.state!.record,
  });
}

const holes = await integrate(([x, y]) => (x * y > 0.25 ? 1 : Math.log(-x)), {
  dims: 2,
  device,
  method: 'pagani',
  relTol: 1e-2,
  maxEvaluations: 1e4,
}).catch(e => e);
say('holes', { message: holes instanceof Error ? holes.message : holes.warnings.join() });
await device.close();
