/**
 * What every device has to do, whatever it is: samples, regions, parts, learning, pools, against references in plain
 * JavaScript. Vitest runs these checks on each device (suite-*.test.ts), and bench/gpu/suite.ts on a real card.
 */
import assert from 'node:assert/strict';
import type { Device, Session } from '../../src/devices/device.ts';
import type { BoundProgram } from '../../src/integrand/bound.ts';
import { innerRange } from '../../src/integrand/inner-range.ts';
import { kit } from '../../src/integrand/math/index.ts';
import type { Params } from '../../src/integrand/params.ts';
import { integrate } from '../../src/integrate.ts';
import { METHOD_NAMES } from '../../src/methods/names.ts';
import { evaluatorOf } from '../../src/tasks/evaluate.ts';
import { ruleFor } from '../../src/tasks/every-rule.ts';
import { HostLearning } from '../../src/tasks/host-learning.ts';
import { type Part, partsOf } from '../../src/tasks/part.ts';
import { witnessPoints } from '../../src/tasks/pointwise.ts';
import { allRegions, mergeRegions, type RegionSums, type RegionTask } from '../../src/tasks/region.ts';
import { RULES } from '../../src/tasks/rules.ts';
import { listed, merge, plan, type SampleSums, type SampleTask } from '../../src/tasks/sample.ts';
import { decode, encode } from '../../src/tasks/wire.ts';
import { mergeWitnesses, type WitnessTask } from '../../src/tasks/witness.ts';
import { Random } from '../compiler/random.ts';
import { catalogue } from '../integrands/catalogue.ts';
import { cube, type Entry } from '../integrands/entry.ts';
import { tabulated } from '../integrands/tabulated.ts';
import { heavy } from './heavy.ts';
import { lattices } from './lattice.ts';
import { type Integrand, lowerFor, plainFor } from './program.ts';
import { reference } from './reference.ts';
import { type RegionReference, regionReference } from './region-reference.ts';
import { several } from './several.ts';
import { severalRegions } from './several-regions.ts';
import { evaluated, poolOf, sampled } from './whole.ts';

/** A device that is tried, and what its numbers are worth. */
export interface Tried {
  device: Device;
  /** Whether it takes functions as they are, not compiled ones. */
  plain?: boolean;
}

export interface Check {
  name: string;
  run(tried: Tried): Promise<void>;
}

/** Sums agree to this part of their size; a rounded square may be the next integer. */
export const closeFor = (tried: Tried): number => (isSingle(tried) ? 2e-5 : 1e-11);

/** Whether its numbers are float32: then values at single points agree to 1e-6, and not all comparisons have the same outcome. */
export const isSingle = ({ device }: Tried): boolean => device.epsilon > 2 ** -50;

function programFor({ plain }: Tried, f: Integrand, dims: number, params: Params = {}): BoundProgram {
  return plain ? plainFor(f, dims, params) : lowerFor(f, dims, params);
}

async function withSession<T>(
  tried: Tried,
  f: Integrand,
  dims: number,
  use: (session: Session) => Promise<T>,
  params: Params = {},
): Promise<T> {
  const session = await tried.device.open(programFor(tried, f, dims, params));
  try {
    return await use(session);
  } finally {
    session.close();
  }
}

const polynomial: Integrand = (x: number[]) => {
  let s = 0.5;
  for (let i = 0; i < x.length; i++) s += (i + 1) * x[i] * x[i] - 0.25 * x[i];
  return s;
};
const peak: Integrand = ([x, y, z]) => Math.exp(-20 * ((x - 0.3) ** 2 + (y - 0.6) ** 2)) * (1 + z);

/** A task with a map that is different on every axis, narrow below and wide above. */
function taskFor(
  strata: number[],
  counts: number | Uint32Array,
  bins: number,
  over: Partial<SampleTask> = {},
): SampleTask {
  const edges = new Float64Array(strata.length * (bins + 1));
  strata.forEach((_, d) => {
    for (let i = 0; i <= bins; i++)
      edges[d * (bins + 1) + i] = -1 - d + (3 + d) * (i / bins) ** (1.25 + d / 4);
  });
  return {
    key: [0x1234_5678, 0x9abc_def0],
    iteration: 3,
    stream: 0,
    bins,
    edges,
    strata,
    counts: typeof counts === 'number' ? counts : listed(counts),
    unit: 1,
    adapt: { scale: 0, variances: true },
    ...over,
  };
}

/** So many cubes with between `low` and `high` samples, in no order; and `large`, a cube and its samples. */
function countsFor(
  cubes: number,
  low: number,
  high: number,
  large: Record<number, number> = {},
): Uint32Array {
  const counts = Uint32Array.from({ length: cubes }, (_, i) => low + ((i * 7919) % (high - low + 1)));
  for (const [cube, n] of Object.entries(large)) counts[Number(cube)] = n;
  return counts;
}

function expectSums(tried: Tried, own: SampleSums, want: SampleSums): void {
  const part = closeFor(tried);
  assert.equal(own.evaluations, want.evaluations);
  const size = Math.sqrt(want.variance) + Math.abs(want.sum) || 1;
  const close = (a: number, b: number, scale: number, what: string) =>
    assert.ok(Math.abs(a - b) <= part * scale, `${what}: ${a} is ${b}`);
  close(own.sum, want.sum, size, 'sum');
  close(own.variance, want.variance, want.variance, 'variance');
  if (own.histogram) close(own.squares, want.squares, want.squares + 2 / part, 'squares');
  // In float32: fourth powers of values, and means of values that cancel. A value is known to 1e-6 of the largest one, which in a cube of few
  // samples may be 20 deviations, so that variances agree to 4e-5.
  const powers = isSingle(tried) ? 4 : 1;
  close(own.concentration, want.concentration, powers * want.concentration, 'concentration');
  const spread = isSingle(tried) ? Math.sqrt(want.variances?.reduce((m, v) => Math.max(m, v), 0) ?? 0) : 0;
  for (const list of ['variances', 'means', 'histogram'] as const) {
    const [a, b] = [own[list], want[list]];
    assert.equal(a?.length, b?.length, list);
    if (!a || !b) continue;
    const most = b.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
    const times = list === 'variances' ? powers : 1;
    const slack = part * (times * most + (list === 'means' ? spread : 0)) + (list === 'histogram' ? 2 : 0);
    const wrong = b.findIndex((v, i) => !(Math.abs(a[i] - v) <= slack));
    assert.equal(wrong, -1, `${list}[${wrong}]: ${a[wrong]} is ${b[wrong]}`);
  }
  assert.equal(own.nonFinite?.count, want.nonFinite?.count);
}

// biome-ignore format: a row each
const SAMPLES: [string, SampleTask][] = [
  ['1 dimension, no strata', taskFor([1], 1000, 50)],
  ['1 dimension, 7 strata of 2', taskFor([7], 2, 50)],
  ['1 dimension, 1 bin', taskFor([5], 20, 1)],
  ['1 dimension, more strata than bins', taskFor([1000], 3, 16)],
  ['1 dimension, 65536 bins', taskFor([3], 100, 65_536)],
  ['3 dimensions, counters that do not fit into small memories', taskFor([2, 2, 2], 300, 6000, { adapt: { scale: 2 ** 10, variances: true } })],
  ['3 dimensions, edges that do not either', taskFor([2, 2, 2], 300, 12_000, { adapt: { scale: 2 ** 10, variances: true } })],
  ['counters of more than 32 bits', taskFor([1, 1, 1], 3000, 8, { adapt: { scale: 2 ** 20, variances: true } })],
  ['the smallest task', taskFor([1], 2, 1)],
  ['4 dimensions, counts of 5', taskFor([3, 1, 2, 5], 5, 32)],
  ['4 dimensions, counts of their own', taskFor([3, 1, 2, 5], countsFor(30, 2, 40), 32)],
  ['5 dimensions, strata 3 1 2 5 2', taskFor([3, 1, 2, 5, 2], 3, 100)],
  ['5 dimensions, counts of their own', taskFor([3, 1, 2, 5, 2], countsFor(60, 2, 300), 100)],
  ['9 dimensions', taskFor([2, 1, 1, 3, 1, 2, 1, 1, 2], 7, 20)],
  ['9 dimensions, counts of their own', taskFor([2, 1, 1, 3, 1, 2, 1, 1, 2], countsFor(24, 2, 90), 20)],
  ['32 dimensions', taskFor(Array(32).fill(1), 300, 8)],
  ['another iteration and stream', taskFor([3, 4], 5, 10, { iteration: 77, stream: 1 })],
  ['a unit of 2^-40', taskFor([3, 4], 50, 10, { unit: 2 ** -40, adapt: { scale: 2 ** -50, variances: true } })],
  ['a histogram in large numbers', taskFor([3, 4], 50, 10, { adapt: { scale: 2 ** 30, variances: true } })],
  ['a histogram in small numbers', taskFor([3, 4], 50, 10, { adapt: { scale: 1, variances: true } })],
  ['a histogram of a quarter of 160000 samples', taskFor([20, 20, 10, 10], 4, 64, { adapt: { scale: 0, variances: true, limit: 2 ** 30 } })],
  ['a histogram of half of the samples, counts of their own', taskFor([4, 3], countsFor(12, 2, 9000, { 5: 70_001 }), 64, { adapt: { scale: 0, variances: true, limit: 2 ** 31 } })],
  ['cubes of 255 to 259 samples', taskFor([5], Uint32Array.of(255, 256, 257, 258, 259), 64)],
  ['cubes of 511 to 515 samples', taskFor([5], Uint32Array.of(511, 512, 513, 514, 515), 64)],
  ['an odd cube that fills a batch', taskFor([5, 1], Uint32Array.of(3, 253, 2, 2, 2), 64)],
  ['every cube has 257 samples', taskFor([3, 2], 257, 64)],
  ['every cube has more samples than a group', taskFor([2, 2], 5000, 64)],
  ['cubes around the size of a group', taskFor([5], Uint32Array.of(4095, 4096, 4097, 4098, 8193), 64)],
  ['a large cube among small ones', taskFor([3, 1, 2, 5, 2], countsFor(60, 2, 20, { 17: 70_001 }), 100)],
  ['a large cube first and another last', taskFor([4, 3], countsFor(12, 2, 20, { 0: 40_000, 11: 66_000 }), 64)],
  ['one cube of 150000', taskFor([1, 1, 1, 1], 150_000, 64)],
  ['40000 cubes of 2', taskFor([20, 20, 10, 10], 2, 64)],
  ['40000 cubes of their own', taskFor([20, 20, 10, 10], countsFor(40_000, 2, 5), 64)],
];

/**
 * The task with a scale such that squares add up to about 2^40, unless it has one. For float32 also in a unit near the size of its
 * values, as methods choose it: fourth powers of 1e10 are beyond float32.
 */
function scaled(tried: Tried, task: SampleTask, f: (x: number[]) => number): SampleTask {
  const single = isSingle(tried);
  if (!single && (!task.adapt || task.adapt.scale > 0)) return task;
  let squares = 0;
  const { evaluations } = reference({ ...task, adapt: null }, f, w => {
    squares += w * w;
  });
  const cubes = task.strata.reduce((a, b) => a * b, 1);
  const scale =
    task.adapt?.scale || 2 ** (40 - Math.ceil(Math.log2(squares * (1 + cubes / evaluations) || 1)));
  const size = single ? 2 ** Math.round(Math.log2(squares / evaluations || 1) / 2) : 1;
  return {
    ...task,
    unit: task.unit * size,
    adapt: task.adapt && { ...task.adapt, scale: scale * size ** 2 },
  };
}

const samples = SAMPLES.map(
  ([name, unscaled]): Check => ({
    name: `samples: ${name}`,
    run: tried =>
      withSession(tried, polynomial, unscaled.strata.length, async session => {
        const task = scaled(tried, unscaled, polynomial as never);
        const all = reference({ ...task, cubes: true }, polynomial as never);
        const want = { ...all, means: null };
        expectSums(tried, await sampled(session, task), want);
        const mapOnly = { ...task, adapt: { ...task.adapt!, variances: false } };
        expectSums(tried, await sampled(session, mapOnly), { ...want, variances: null });
        expectSums(tried, await sampled(session, { ...task, adapt: null }), {
          ...want,
          histogram: null,
          variances: null,
        });
        const cubes = { ...task, adapt: null, cubes: true };
        expectSums(tried, await sampled(session, cubes), { ...all, histogram: null });
      }),
  }),
);

/** Integrands of the papers, over their own domains. */
// biome-ignore format: one family per line
const SUBJECTS = [
  'f1_5', 'f2_3', 'f3_3', 'f4_5', 'f5_8', 'f6_6', 'f7_8', 'f8_8',
  'sine_exponential_2', 'cosine_10', 'roos_arnold_10', 'morokoff_caflisch_8', 'gaussian_4', 'ridge_4',
  'asian_geometric_16', 'path_integral_7', 'fA_6', 'fB_9',
];
const subjects = [...SUBJECTS.map(name => catalogue.find(e => e.name === name)!), tabulated];

/** The map with bins of one size. */
const evenly = ({ domain }: Entry, bins: number): Float64Array =>
  Float64Array.from({ length: domain.length * (bins + 1) }, (_, i) => {
    const [low, high] = domain[Math.floor(i / (bins + 1))];
    return low + ((high - low) * (i % (bins + 1))) / bins;
  });

const papers = subjects.map(
  (e): Check => ({
    name: `samples of ${e.name}`,
    run: tried =>
      withSession(
        tried,
        e.f as never,
        e.dims,
        async session => {
          const f = (x: number[]) => e.f(x, e.params, kit);
          const strata = e.domain.map((_, d) => (d < 4 ? 3 : 1));
          const cubes = 3 ** Math.min(4, e.dims);
          const uneven = Uint32Array.from({ length: cubes }, (_, i) => (i === 1 ? 9001 : 2 + (i % 300)));
          const strata1 = e.domain.map(() => 1);
          const over = { edges: evenly(e, 1), adapt: null, cubes: true };
          const plain = scaled(tried, taskFor(strata1, 20_000, 1, over), f);
          expectSums(tried, await sampled(session, plain), reference(plain, f));
          for (const unscaled of [
            taskFor(strata, 7, 50, { edges: evenly(e, 50) }),
            taskFor(strata, uneven, 64, { edges: evenly(e, 64) }),
          ]) {
            const task = scaled(tried, unscaled, f);
            expectSums(tried, await sampled(session, task), reference(task, f));
          }
        },
        e.params ?? {},
      ),
  }),
);

const holes: Integrand = ([x, y]) => (x > 0.5 ? Math.sqrt(y) : x < -0.9 ? 1 / (x - x) : 1);

const otherSamples: Check[] = [
  {
    name: 'samples: one session with maps of more and of fewer bins, one after the other',
    run: tried =>
      withSession(tried, polynomial, 2, async session => {
        for (const bins of [64, 2000, 10, 3000, 64]) {
          const task = scaled(tried, taskFor([3, 4], 30, bins), polynomial as never);
          expectSums(tried, await sampled(session, task), reference(task, polynomial as never));
        }
      }),
  },
  {
    name: 'samples: values that are not finite are counted, taken as 0, and the first by sample is named',
    run: tried =>
      withSession(tried, holes, 2, async session => {
        for (const task of [
          taskFor([3, 4], 50, 10),
          taskFor([30, 40], 100, 10),
          taskFor(
            [3, 3],
            Uint32Array.from({ length: 9 }, (_, i) => 2 + 100 * i),
            10,
          ),
        ].map(t => ({ ...t, adapt: { scale: 2 ** 20, variances: true } }))) {
          const [own, want] = [await sampled(session, task), reference(task, holes as never)];
          expectSums(tried, own, want);
          assert.deepEqual(own.nonFinite?.first, want.nonFinite?.first);
        }
      }),
  },
  {
    name: 'samples: other params from the next task on',
    run: tried =>
      withSession(
        tried,
        ([x], p) => p.a * x * x,
        1,
        async session => {
          const task = taskFor([3], 100, 4, { adapt: { scale: 2 ** 20, variances: true } });
          for (const a of [1, 6, -3]) {
            await session.rebind(programFor(tried, ([x], p) => p.a * x * x, 1, { a }));
            expectSums(
              tried,
              await sampled(session, task),
              reference(task, ([x]) => a * x * x),
            );
          }
        },
        { a: 1 },
      ),
  },
  {
    name: 'a signal that is aborted already rejects with its reason, and the session works on',
    run: tried =>
      withSession(tried, polynomial, 3, async session => {
        const why = new Error('no more');
        const task = taskFor([3, 2, 1], 20, 10, { adapt: null });
        await assert.rejects(sampled(session, task, AbortSignal.abort(why)), e => e === why);
        await assert.rejects(evaluated(session, regionTask(3, 5), AbortSignal.abort(why)), e => e === why);
        expectSums(tried, await sampled(session, task), reference(task, polynomial as never));
      }),
  },
];

/** Cuts a whole into parts at random places, in a random order, some of them twice. */
function randomParts(whole: Part, random: Random): Part[] {
  const cuts = new Set([whole.count]);
  for (let i = random.below(6) + 1; i > 0; i--) cuts.add(1 + random.below(whole.count));
  const ends = [...cuts].sort((a, b) => a - b);
  const parts = ends.map((end, i) => ({ first: ends[i - 1] ?? 0, count: end - (ends[i - 1] ?? 0) }));
  parts.push(parts[random.below(parts.length)]);
  for (let i = parts.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [parts[i], parts[j]] = [parts[j], parts[i]];
  }
  return parts;
}

const PARTED: [string, SampleTask][] = [
  ['many small cubes', taskFor([40, 40, 30], 2, 64)],
  ['cubes of 700', taskFor([5, 5, 5], 700, 64)],
  ['one cube', taskFor([1, 1, 1], 150_001, 64)],
  [
    'uneven cubes, some larger than a group',
    taskFor([10, 10, 3], countsFor(300, 2, 300, { 0: 20_000, 7: 9001, 299: 30_001 }), 64),
  ],
];

const parts: Check[] = [
  ...PARTED.flatMap(([name, task]): Check[] =>
    [
      { ...task, adapt: { scale: 2 ** 20, variances: true } },
      { ...task, adapt: null, cubes: true },
    ].map((own, i) => ({
      name: `parts: ${name}, ${i === 0 ? 'adapting' : 'frozen'}: the same bits for any cut, any order, parts that come twice, and through JSON`,
      run: tried =>
        withSession(tried, peak, 3, async session => {
          const { groups } = plan(own);
          assert.ok(groups > 10);
          const whole = await sampled(session, own);
          const random = new Random(groups + i);
          for (let trial = 0; trial < 5; trial++) {
            const sums = [];
            for (const part of randomParts({ first: 0, count: groups }, random)) {
              // as another machine would get them, and send their sums back
              const sent = decode<SampleTask>(encode(structuredClone(own)));
              sums.push(structuredClone(decode(encode(await session.sample(sent, part)))));
            }
            assert.deepEqual(merge(own, sums as never), whole);
          }
        }),
    })),
  ),
  {
    name: 'parts: cubes with many pieces in a group: mean and variance have the same bits for any cut',
    run: tried =>
      withSession(tried, peak, 3, async session => {
        const task = taskFor([3, 3, 3], 56_000, 1, { adapt: null, cubes: true });
        const { groups, size } = plan(task);
        assert.ok(size / 256 > 32);
        const sums = [];
        for (const part of randomParts({ first: 0, count: groups }, new Random(9)))
          sums.push(await session.sample(task, part));
        assert.deepEqual(merge(task, sums), await sampled(session, task));
      }),
  },
  {
    name: 'parts: regions, the same bits for any cut, any order, parts that come twice, and through JSON',
    run: tried =>
      withSession(tried, peak, 3, async session => {
        const task = regionTask(3, 700);
        const whole = await evaluated(session, task);
        const random = new Random(4);
        for (let trial = 0; trial < 5; trial++) {
          const sums: RegionSums[] = [];
          for (const part of randomParts({ first: 0, count: 700 }, random)) {
            const sent = decode<RegionTask>(encode(structuredClone(task)));
            sums.push(decode(encode(await session.regions(sent, part))));
          }
          assert.deepEqual(mergeRegions({ first: 0, count: 700 }, sums), whole);
        }
      }),
  },
];

/** Regions of several sizes all over a box. */
export function regionTask(dims: number, count: number, rule = ruleFor(dims).name, seed = count): RegionTask {
  const random = new Random(seed);
  const ranges = Array.from({ length: dims }, (_, d): [number, number] => [-1 - d / 4, 1 + d / 2]);
  const centres = new Float64Array(dims * count);
  const levels = new Uint8Array(dims * count);
  for (let i = 0; i < centres.length; i++) {
    const [low, high] = ranges[Math.floor(i / count)];
    levels[i] = random.below(6);
    const parts = 2 ** levels[i];
    centres[i] = low + ((high - low) * (random.below(parts) + 0.5)) / parts;
  }
  return { rule, ranges, count, centres, levels };
}

/** Bends differently along each axis; basic arithmetic alone, so that compiled and plain values are the same. */
const bent: Integrand = (x: number[]) => {
  let y = 1;
  for (let i = 0; i < x.length; i++)
    y *= 1 / (0.3 + (i + 1) * 0.4 * (x[i] - 0.3) * (x[i] - 0.3)) - 0.2 * x[i];
  return y;
};

/**
 * How close values and errors of regions are, relative to the size of the region; errors also relative to themselves. And by how much
 * an axis has to bend more than the others, to be the one to halve.
 */
export const regionSlack = (tried: Tried) =>
  isSingle(tried)
    ? { value: 2e-6, error: 2e-5, ownError: 2e-2, bend: 1.05, leastBend: 1e-3 }
    : { value: 1e-12, error: 1e-12, ownError: 1e-9, bend: 1.001, leastBend: 1e-12 };

/** Values to 1e-12 of the region's size, errors to 1e-9 of themselves or rounding; the axis where it is clear. */
function expectRegions(tried: Tried, sums: RegionSums, task: RegionTask, f: (x: number[]) => number): void {
  const slack = regionSlack(tried);
  let [clear, others] = [0, 0];
  for (let i = 0; i < task.count; i++) {
    const own: RegionReference = regionReference(task, i, f);
    const close = (a: number, b: number, slack: number, what: string) =>
      assert.ok(Math.abs(a - b) <= slack, `${what} of region ${i}: ${a} is ${b}`);
    close(sums.values[i], own.value, slack.value * own.size, 'value');
    const errorSlack = slack.ownError * own.error + slack.error * own.size;
    if (own.shaky) continue;
    // in float32 a null rule may be rounding, and the error that of the other case
    if (isSingle(tried)) others += Number(Math.abs(sums.errors[i] - own.error) > errorSlack);
    else close(sums.errors[i], own.error, errorSlack, 'error');
    const [first, second = 0] = own.bends.toSorted((a, b) => b - a);
    if (first < slack.bend * second || first < slack.leastBend * own.largest) continue;
    clear++;
    assert.equal(sums.axes[i], own.bends.indexOf(first), `axis of region ${i}`);
  }
  assert.ok(clear > (isSingle(tried) ? 0.25 : 0.5) * task.count, `${clear} axes are clear`);
  assert.ok(others < 0.3 * task.count, `${others} errors are others`);
}

const dimsOf: Record<string, number[]> = {
  'gauss-kronrod': [1],
  degree13: [2],
  degree11: [3],
  degree9: [2, 3, 5, 7],
  degree7: [2, 3, 4, 8],
  'genz-malik': [2, 3, 6],
};

const ruled = RULES.flatMap(rule =>
  dimsOf[rule].map(
    (dims): Check => ({
      name: `regions: ${rule} in ${dims} dimensions, values, errors and the axis that bends most`,
      run: tried =>
        withSession(tried, bent, dims, async session => {
          const task = regionTask(dims, 67, rule);
          const sums = await evaluated(session, task);
          assert.equal(sums.nonFinite, null);
          expectRegions(tried, sums, task, bent as never);
        }),
    }),
  ),
);

const one = (
  f: Integrand,
  levels: number[],
  ranges: RegionTask['ranges'] = levels.map(() => [0, 1]),
): [Integrand, RegionTask] => [
  f,
  {
    rule: ruleFor(levels.length).name,
    ranges,
    count: 1,
    centres: Float64Array.from(levels, (l, d) => ((ranges[d][1] - ranges[d][0]) * 2 ** -l) / 2),
    levels: Uint8Array.from(levels),
  },
];

const AXES: [string, [Integrand, RegionTask], number][] = [
  ['where nothing bends, the first of equal ones', one(() => 3, [0, 0, 0]), 0],
  ['where nothing bends, the widest', one(() => 3, [1, 0, 0]), 1],
  ['where nothing bends, the last if it is the widest', one(() => 3, [1, 1, 0]), 2],
  ['where all is 0, the first of the widest', one(() => 0, [2, 1, 1, 1]), 1],
  [
    '[0, 1000] halved once is narrower than [0, 1]',
    one(
      () => 3,
      [1, 0],
      [
        [0, 1000],
        [0, 1],
      ],
    ),
    1,
  ],
  ['the one that bends, however narrow', one(([, , z]) => 1 / (0.1 + z * z), [0, 0, 2]), 2],
  ['the one that bends, narrower still', one(([, y]) => 1 / (0.1 + y * y), [0, 3, 0]), 1],
  ['the last of 13', one((x: number[]) => x[12] * x[12] * x[12] * x[12], Array(13).fill(0)), 12],
];

const regions: Check[] = [
  ...ruled,
  ...AXES.map(
    ([name, [f, task], axis]): Check => ({
      name: `regions: the axis to split, ${name}`,
      run: tried =>
        withSession(tried, f, task.ranges.length, async session => {
          assert.equal((await evaluated(session, task)).axes[0], axis);
        }),
    }),
  ),
  ...[1, 2, 3, 63, 64, 65, 128, 257].map(
    (count): Check => ({
      name: `regions: a list of ${count}, each is what it is alone, bit for bit`,
      run: tried =>
        withSession(tried, bent, 3, async session => {
          const task = regionTask(3, count);
          const sums = await evaluated(session, task);
          assert.deepEqual(
            [sums.values, sums.errors, sums.axes].map(a => a.length),
            [count, count, count],
          );
          for (let i = 0; i < count; i += 1 + (count >> 4)) {
            const alone = await session.regions(task, { first: i, count: 1 });
            assert.deepEqual(
              [alone.values[0], alone.errors[0], alone.axes[0]],
              [sums.values[i], sums.errors[i], sums.axes[i]],
            );
          }
        }),
    }),
  ),
  {
    name: 'regions: rounding is no bend, a linear function that is nowhere near 0 is split along its widest axis in all of 300 regions',
    run: tried =>
      withSession(
        tried,
        ([x, y, z]) => 5 + x / 3 + 0.7 * y - 0.3 * z,
        3,
        async session => {
          const task = regionTask(3, 300);
          const { axes } = await evaluated(session, task);
          for (let i = 0; i < 300; i++) {
            const levels = [0, 1, 2].map(d => task.levels[d * 300 + i]);
            assert.equal(axes[i], levels.indexOf(Math.min(...levels)));
          }
        },
      ),
  },
  {
    name: 'regions: values that are not finite are counted and count as 0, the first is named',
    run: tried => {
      const hole: Integrand = ([x, y]) =>
        x > 0.9 && y > 0.9 ? Math.sqrt(-x) : 1 / (0.1 + x * x + 3 * y * y);
      return withSession(tried, hole, 2, async session => {
        let count = 0;
        const filled = ([x, y]: number[]) => {
          if (!(x > 0.9 && y > 0.9)) return 1 / (0.1 + x * x + 3 * y * y);
          count++;
          return 0;
        };
        const task = regionTask(2, 129);
        const sums = await evaluated(session, task);
        expectRegions(tried, sums, task, filled);
        assert.ok(count > 100);
        assert.equal(sums.nonFinite!.count, count);
        const { point, value } = sums.nonFinite!.first;
        assert.ok(Number.isNaN(value) && Math.min(...point) > 0.9);
      });
    },
  },
  {
    name: 'regions: changes from one rule and box to another',
    run: tried =>
      withSession(tried, bent, 3, async session => {
        for (const name of ['degree11', 'degree7', 'genz-malik', 'degree11'] as const) {
          const task = regionTask(3, 5, name);
          expectRegions(tried, await evaluated(session, task), task, bent as never);
        }
        const task: RegionTask = { ...regionTask(3, 5), ranges: Array(3).fill([-2, 2]) };
        expectRegions(tried, await evaluated(session, task), task, bent as never);
      }),
  },
];

/** 1 inside (0.1, 0.7) along every axis, not finite on its ends and outside. */
const inside: Integrand = (x: number[]) => (x.every(v => v > 0.1 && v < 0.7) ? 1 : 0 / (x[0] - x[0]));
/** The map of [0.1, 0.7]: 16 bins from the first number inside to the last, narrow ones at both ends. */
function lastBits(dims: number, width: number): Float64Array {
  const [first, last] = innerRange([0.1, 0.7]);
  const low = Array.from({ length: 8 }, (_, i) => first + i * width * 2 ** -56);
  const high = Array.from({ length: 9 }, (_, i) => last - (8 - i) * width * 2 ** -53);
  return Float64Array.from(
    Array(dims)
      .fill([...low, ...high])
      .flat(),
  );
}

const ends: Check[] = [
  ...[1, 2, 3, 5].map(
    (dims): Check => ({
      name: `ends: no point of a rule lies on an end of a range, or outside, in ${dims} dimensions`,
      run: tried =>
        withSession(tried, inside, dims, async session => {
          const most = Math.max(...ruleFor(dims).orbits.flatMap(o => o.generator));
          assert.ok(0.7 + 0.3 * 2 ** -51 * most > 0.7);
          // regions around both ends, whose points would be there: the smallest, and those that are halved next
          for (const level of [48, 51]) {
            const sums = await evaluated(session, {
              rule: ruleFor(dims).name,
              ranges: Array(dims).fill([0.1, 0.7]),
              count: 2,
              centres: Float64Array.from({ length: 2 * dims }, (_, i) => (i % 2 === 0 ? 0.1 : 0.7)),
              levels: new Uint8Array(2 * dims).fill(level),
            });
            assert.equal(sums.nonFinite, null);
          }
        }),
    }),
  ),
  {
    name: 'ends: nor do points of halves and of mirror images, until regions are a few last bits wide',
    run: tried =>
      withSession(
        tried,
        ([x, y]) => (x > 0.1 && y < 0.7 ? 1 / (x - 0.1) + 1 / (0.7 - y) : x / (x - x)),
        2,
        async session => {
          const ranges: RegionTask['ranges'] = Array(2).fill([0.1, 0.7]);
          const pool = await poolOf(session, { rule: 'degree7', ranges });
          const steps = [await pool.start(1)];
          for (let i = 0; i < 80; i++) {
            await pool.select(0.3 * pool.sums.error);
            steps.push(await pool.halve(64));
          }
          steps.push(await pool.look(0, 1000));
          assert.ok(steps.every(step => step.nonFinite === null));
          pool.close();
        },
      ),
  },
  ...[1, 2, 5].map(
    (dims): Check => ({
      name: `ends: no sample lies on an end of a range, in bins of 1 to 64 last bits, in ${dims} dimensions`,
      run: tried =>
        withSession(tried, inside, dims, async session => {
          for (const width of [1, 3, 64])
            for (const perAxis of [1, 4]) {
              const strata = Array.from({ length: dims }, (_, d) => (d < 3 ? perAxis : 1));
              const sums = await sampled(
                session,
                taskFor(strata, 500, 16, { edges: lastBits(dims, width), adapt: null }),
              );
              assert.equal(sums.nonFinite, null);
            }
        }),
    }),
  ),
  ...METHOD_NAMES.map(
    (method): Check => ({
      name: `ends: ${method} never evaluates an integrand that is infinite at both ends on one of them`,
      run: async tried => {
        const f: Integrand = ([x, y]) => ((x - 0.5) * (2 - y)) ** -0.7 * (1 - x) ** -0.9;
        if (method === 'cuhre' && isSingle(tried)) return; // it halves two regions at a time, and refuses such devices
        const r = await integrate(f as never, {
          domain: [
            [0.5, 1],
            [1, 2],
          ],
          method,
          device: tried.device,
          maxEvaluations: 2e5,
        });
        assert.equal(r.nonFinite, 0);
      },
    }),
  ),
];

/** Samples, learns, allots and refines, samples again; with the learning of the session, or of the host. */
async function learned(session: Session, perAxis: number, bins: number, evaluations: number, beta: number) {
  const learning = session.learning ?? new HostLearning();
  const keep = !!session.learning;
  const adapt = { scale: 2 ** 20, variances: true, keep };
  const sample = async (task: SampleTask) => {
    const sums = await sampled(session, task);
    if (task.adapt && !keep) await learning.learn(task, sums);
    return sums;
  };
  // an iteration that returns its cubes teaches nothing; a card overwrote what was learned with their means
  const teachNothing = async (counts: number) => {
    await sampled(session, { ...taskFor([perAxis, 2, 2], counts, bins, { adapt: null }), cubes: true });
  };
  const first = taskFor([perAxis, perAxis, perAxis], 4, bins, { adapt });
  await sample(first);
  await teachNothing(3);
  const counts = await learning.allocate(beta, evaluations);
  const edges = await learning.refine({ alpha: 0.5, floor: 0.01, shared: false });
  const second = { ...first, iteration: 4, counts, edges };
  await sample(second);
  await teachNothing(600);
  const frozen = { ...second, counts: await learning.allocate(beta, evaluations), adapt: null, iteration: 5 };
  return {
    counts: await learning.countsOf(frozen.counts),
    edges: await learning.edgesOf(edges),
    sums: await sampled(session, frozen),
    // in one dimension VEGAS+ asks for the means of cubes whose counts are kept; WebGPU once refused that
    cubes: await sampled(session, { ...frozen, cubes: true }),
  };
}

const LEARNED: [string, number, number, number, number][] = [
  ['27 cubes', 3, 16, 20_000, 0.75],
  ['27 cubes, with a power of its own', 3, 16, 20_000, 1],
  ['2197 cubes', 13, 64, 50_000, 0.75],
  ['32768 cubes', 32, 64, 200_000, 0.75],
  ['8 cubes with tens of thousands of samples', 2, 100, 300_000, 0.75],
];

const learning = LEARNED.map(
  ([name, perAxis, bins, evaluations, beta]): Check => ({
    name: `learning: ${name}, as the host learns`,
    run: tried =>
      withSession(tried, peak, 3, async session => {
        const own = await learned(session, perAxis, bins, evaluations, beta);
        const host = { ...hostOnly(session) };
        const want = await learned(host, perAxis, bins, evaluations, beta);
        const most = Math.max(...want.edges.map(Math.abs));
        want.edges.forEach((e, i) => assert.ok(Math.abs(own.edges[i] - e) < 1e-11 * most, `edge ${i}`));
        // a rounding error of a variance may move a sample from one cube to another
        const moved = want.counts.reduce((n, c, i) => n + Math.abs(c - own.counts[i]), 0);
        assert.ok(moved <= 1e-4 * evaluations, `${moved} samples moved`);
        // groups are counted by what was asked for: samples beyond that would be in none
        const all = own.counts.reduce((a, b) => a + b, 0);
        assert.ok(all <= Math.max(evaluations, 2 * perAxis ** 3), `${all} samples of ${evaluations}`);
        if (moved === 0) expectSums(tried, own.sums, want.sums);
        assert.equal(own.cubes.sum, own.sums.sum);
        assert.equal(own.cubes.means!.length, perAxis ** 3);
        if (moved === 0) expectSums(tried, own.cubes, want.cubes);
      }),
  }),
);

/** The same session without learning of its own. */
const hostOnly = (session: Session): Session => ({
  description: session.description,
  sample: (task, part, signal) => session.sample(task, part, signal),
  regions: (task, part, signal) => session.regions(task, part, signal),
  witness: (task, part, signal) => session.witness(task, part, signal),
  rebind: program => session.rebind(program),
  close() {},
});

const wave: Integrand = ([x, y]) => Math.cos(400 * x * y) + y;

const pools: Check[] = [
  ...[0, 5, 6].map(
    (level): Check => ({
      name: `pool: ${4 ** level} regions and their halves, the sums of the host's pool`,
      run: tried =>
        withSession(tried, wave, 2, async session => {
          const run = async (own: Session) => {
            const pool = await poolOf(own, { rule: 'degree13', ranges: cube(2, -1, 2) });
            await pool.start(level);
            const sums = [pool.sums];
            await pool.select(Infinity);
            await pool.halve(Infinity);
            sums.push(pool.sums);
            pool.close();
            return sums;
          };
          const [own, want] = [await run(session), await run(hostOnly(session))];
          const [slack, errorSlack] = isSingle(tried) ? [1e-5, 0.02] : [1e-12, 1e-9];
          own.forEach(({ value, error }, i) => {
            const { absolute, ...to } = want[i];
            assert.ok(Math.abs(value - to.value) < slack * absolute, `value: ${value} is ${to.value}`);
            const off = Math.abs(error - to.error);
            assert.ok(off < errorSlack * to.error + slack * absolute, `error: ${error} is ${to.error}`);
          });
        }),
    }),
  ),
  {
    name: 'pool: finishes regions by relative error, then by threshold, and keeps what they contribute',
    run: tried =>
      withSession(
        tried,
        ([x, y]) => 1 + 1 / (0.01 + (x - 0.3) ** 2 + (y - 0.7) ** 2),
        2,
        async session => {
          const run = async (own: Session) => {
            const pool = await poolOf(own, { rule: 'degree7', ranges: cube(2) });
            await pool.start(5);
            await pool.select(Infinity);
            await pool.halve(Infinity);
            const before = { ...pool.sums, count: pool.count };
            await pool.finish(1e-9, { relTol: 1e-3, absTol: 0 });
            const after = { ...pool.sums, count: pool.count };
            // what is left goes on
            await pool.select(Infinity);
            await pool.halve(Infinity);
            const halved = { ...pool.sums, count: pool.count };
            pool.close();
            return [before, after, halved];
          };
          const [own, want] = [await run(session), await run(hostOnly(session))];
          assert.ok(want[1].done > 0.5 * want[0].count, 'the host finishes more than half');
          const [slack, errorSlack, others] = isSingle(tried) ? [1e-5, 0.02, 0.02] : [1e-12, 1e-6, 0];
          own.forEach((sums, i) => {
            const to = want[i];
            const room = 2 + others * to.done; // each of them may be on either side of a threshold
            if (i < 2 || !others)
              assert.equal(sums.count + sums.done, to.count + to.done, `regions at step ${i}`);
            assert.ok(Math.abs(sums.done - to.done) <= room, `finished: ${sums.done} is ${to.done}`);
            const off = Math.abs(sums.value - to.value);
            assert.ok(off < slack * to.absolute, `value at step ${i}: ${sums.value} is ${to.value}`);
            const errorOff = Math.abs(sums.error - to.error);
            assert.ok(
              errorOff < errorSlack * to.error + slack * to.absolute,
              `error at step ${i}: ${sums.error} is ${to.error}`,
            );
          });
          const [before, after] = own;
          assert.ok(Math.abs(after.value - before.value) < 1e-13 * before.absolute, 'nothing is lost');
          assert.ok(after.finished > 0 && after.finished < 1e-3 * Math.abs(after.value));
        },
      ),
  },
];

/** A thin slab on something smooth: some regions are surprised, others deviate. */
const stepped: Integrand = ([x, y, z]) => (x > 0.34 && x < 0.342 ? 30 : 1) + 0.1 * Math.cos(5 * y * z);

/** The same in one dimension. */
const stepped1: Integrand = ([x]) => (x > 0.34 && x < 0.342 ? 30 : 1) + 0.1 * Math.cos(5 * x);

async function witnessTask(
  session: Session,
  count: number,
  witnesses: number,
  dims = 3,
): Promise<WitnessTask> {
  const task = regionTask(dims, count);
  const { values } = await evaluated(session, task);
  const absolute = values.reduce((sum, v) => sum + Math.abs(v), 0);
  return { ...task, values, key: [5, 7], round: 2, witnesses, absolute };
}

const witnesses: Check[] = [
  ...(
    [
      [1, 3, stepped],
      [67, 3, stepped],
      [3000, 3, stepped],
      [67, 1, stepped1],
      [5000, 1, stepped1, 2000], // a card looks for those that have witnesses
    ] as const
  ).map(
    ([count, dims, f, number = 20_000]): Check => ({
      name: `witnesses: of ${count} regions in ${dims}, what they say point by point`,
      run: tried =>
        withSession(tried, f, dims, async session => {
          const task = await witnessTask(session, count, number, dims);
          const own = await session.witness(task, allRegions(task));
          const want = await witnessPoints(task, allRegions(task), evaluatorOf(lowerFor(f, dims)));
          assert.equal(own.witnesses, want.witnesses);
          assert.equal(own.evaluations, want.evaluations);
          const single = isSingle(tried);
          const others = own.surprises.filter((s, i) => s !== want.surprises[i]).length;
          assert.ok(others <= (single ? 0.01 * count : 0), `${others} regions are surprised otherwise`);
          if (!single) assert.deepEqual(own.axes, want.axes);
          assert.ok(count < 3000 || dims < 3 || own.surprises.some(s => s > 0), 'some are surprised');
          const size = task.values.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
          for (let i = 0; i < count; i++) {
            const off = Math.abs(own.deviations[i] - want.deviations[i]);
            assert.ok(off < (single ? 1e-5 : 1e-12) * size, `deviation of ${i} by ${off}`);
            const spread = Math.abs(own.spreads[i] - want.spreads[i]);
            assert.ok(spread < (single ? 1e-5 : 1e-7) * size, `spread of ${i} by ${spread}`);
            const missing = Math.abs(own.missing[i] - want.missing[i]);
            assert.ok(missing < (single ? 1e-5 : 1e-12) * size, `missing in ${i} by ${missing}`);
          }
        }),
    }),
  ),
  {
    name: 'witnesses: the same bits for any cut into parts',
    run: tried =>
      withSession(tried, stepped, 3, async session => {
        const task = await witnessTask(session, 131, 9000);
        const whole = await session.witness(task, allRegions(task));
        const parts = [];
        for (const part of partsOf(allRegions(task), 17)) parts.push(await session.witness(task, part));
        assert.deepEqual(mergeWitnesses(allRegions(task), parts.reverse()), whole);
      }),
  },
  {
    name: 'witnesses: values that are not finite are counted and count as 0, the first is named',
    run: tried => {
      const hole: Integrand = ([x, y, z]) => (x > 0.9 && y > 0.9 ? Math.sqrt(-x) : x + y + z);
      return withSession(tried, hole, 3, async session => {
        const task = { ...regionTask(3, 40), key: [1, 2] as const, round: 0, witnesses: 5000, absolute: 0 };
        const own = await session.witness({ ...task, values: new Float64Array(40) }, allRegions(task));
        const { count, first } = own.nonFinite!;
        assert.ok(count > 10 && Number.isNaN(first.value) && first.point[0] > 0.9 && first.point[1] > 0.9);
      });
    },
  },
  {
    name: 'witnesses: a step in regions that know only the tail of a peak, 1e-220 and less: finite, and seen',
    run: tried => {
      const tail: Integrand = ([x, y, z]) =>
        x > 0.7 && x < 0.72 ? 1 : 1e3 * Math.exp(-250 * (6 + x + y + z));
      // beside 1, all of them are 0 in float32, as they are by what they contribute
      return withSession(tried, tail, 3, async session => {
        const task = await witnessTask(session, 67, 20_000);
        const { deviations, spreads, surprises } = await session.witness(
          { ...task, absolute: 1 },
          allRegions(task),
        );
        assert.ok([...deviations, ...spreads].every(Number.isFinite));
        assert.ok(surprises.some((s, i) => s === 1 && deviations[i] > 1e-4 && spreads[i] > 1e-5));
      });
    },
  },
  ...[1, 2, 5].map(
    (dims): Check => ({
      name: `witnesses: what lies behind the outermost points of a rule in ${dims}, at a face, is missing`,
      run: tried => {
        // 1e-4 of the domain, beyond all points of the first half
        const sliver: Integrand = ([x]) => (x > 0.4999 ? 0 : 1) + Math.exp(-x);
        return withSession(tried, sliver, dims, async session => {
          const centres = new Float64Array(2 * dims).fill(0.5);
          centres.set([0.25, 0.75]);
          const levels = new Uint8Array(2 * dims);
          levels.set([1, 1]);
          const rule = dims === 1 ? 'gauss-kronrod' : 'degree9';
          const ranges = Array.from({ length: dims }, () => [0, 1] as const);
          const list = { rule, ranges, count: 2, centres, levels } as const;
          const { values } = await session.regions(list, allRegions(list));
          const task = { ...list, values, key: [1, 2] as const, round: 0, witnesses: 64, absolute: 1 };
          const { missing, axes } = await session.witness(task, allRegions(task));
          assert.ok(missing[0] > 1e-4 && missing[0] < 8.1e-4, `${missing[0]} of 1e-4 is missing`);
          assert.equal(axes[0], 0);
          assert.ok(missing[1] < (isSingle(tried) ? 1e-6 : 1e-13), `${missing[1]} is missing of the second`);
        });
      },
    }),
  ),
  {
    name: 'witnesses: of a pool, about what they say to the host, and whom they blame',
    run: tried =>
      withSession(tried, stepped, 3, async session => {
        const run = async (own: Session) => {
          const pool = await poolOf(own, { rule: 'degree11', ranges: cube(3) });
          await pool.start(3);
          const draw = { key: [3, 4] as const, round: 1, witnesses: 30_000, absolute: 1 };
          const said = await pool.witness(draw);
          const before = pool.sums.error;
          await pool.blame('surprised', 2);
          const surprised = pool.sums.error;
          await pool.blame('deviating', 3);
          const after = pool.sums.error;
          pool.close();
          return { said, raised: [surprised - before, after - surprised] };
        };
        const [own, want] = [await run(session), await run(hostOnly(session))];
        assert.equal(own.said.witnesses, want.said.witnesses);
        assert.equal(own.said.evaluations, want.said.evaluations);
        assert.ok(own.said.surprise > 0);
        const [slack, raisedSlack] = isSingle(tried) ? [0.05, 1e-4] : [1e-9, 1e-6];
        for (const name of ['deviation', 'spread', 'surprise'] as const)
          assert.ok(Math.abs(own.said[name] - want.said[name]) < slack * want.said.spread, name);
        for (const [i, least] of [2, 3].entries()) assert.ok(Math.abs(own.raised[i] - least) < raisedSlack);
      }),
  },
];

export const SUITE: readonly Check[] = [
  ...samples,
  ...papers,
  ...otherSamples,
  ...several,
  ...lattices,
  ...parts,
  ...regions,
  ...ends,
  ...learning,
  ...heavy,
  ...pools,
  ...witnesses,
  ...severalRegions,
];
