/**
 * Tasks and sums that come from other machines. Whoever sends them need not be trusted: devices copy lists into memory by the
 * numbers of a task, so every list has to be as long as these say. What is checked is copied member by member, and nothing
 * else of the message reaches a device. (integrand/verify.ts does the same for programs.)
 */
import type { Key } from '../random/philox.ts';
import {
  anyFloats,
  bytes,
  finite,
  flag,
  floats,
  list,
  type Members,
  members,
  need,
  number,
  positive,
  whole,
  word,
} from './checked-values.ts';
import { RESULTS_PER_PASS } from './correlation.ts';
import type { CountsWindow } from './counts-window.ts';
import { ruleFor } from './every-rule.ts';
import type { IntegralDone, IntegralSums, IntegralsTask } from './integrals.ts';
import type { NonFinite, Part } from './part.ts';
import { PIECE } from './pieces.ts';
import type { Ranges, RegionSums, RegionTask } from './region.ts';
import { RULES, type RuleName } from './rules.ts';
import {
  type Adapt,
  type Counts,
  type CubeSums,
  cubesOf,
  type LatticePoints,
  nodeWidth,
  type PartSums,
  plan,
  type ResultPass,
  resultsOf,
  type SampleTask,
} from './sample.ts';
import { type WitnessSums, type WitnessTask, witnessCost } from './witness.ts';

/** The numbers of the integrand that a task has to fit. */
export interface Fit {
  dims: number;
  results: number;
}

/** Bins per axis, cubes, and regions of a task, at most. */
const MAX_BINS = 2 ** 20;
const MAX_CUBES = 2 ** 28;
const MAX_REGIONS = 2 ** 27;
const MAX_SAMPLES = 2 ** 53;

export function readSampleTask(value: unknown, { dims, results }: Fit): SampleTask {
  const t = members(value, 'a task of samples');
  const bins = whole(t.bins, 'bins', 1, MAX_BINS);
  const strata = list(t.strata, 'strata').map(n => whole(n, 'a number of strata', 1, MAX_CUBES));
  need(strata.length === dims, 'strata of another number of dimensions');
  const lattice = t.lattice === undefined ? undefined : readLattice(t.lattice, strata, bins);
  const cubes = cubesOf({ strata, ...(lattice && { lattice }) });
  need(cubes <= MAX_CUBES, 'too many cubes');
  const pass = t.pass === undefined ? undefined : readPass(t.pass, results);
  need(results === 1 || pass !== undefined, 'no pass over the results');
  const task: SampleTask = {
    key: readKey(t.key),
    iteration: word(t.iteration, 'iteration'),
    stream: word(t.stream, 'stream'),
    bins,
    edges: floats(t.edges, 'edges', dims * (bins + 1)),
    strata,
    ...(lattice && { lattice }),
    counts: typeof t.counts === 'number' ? whole(t.counts, 'counts', 2, MAX_SAMPLES) : readCounts(t, cubes),
    unit: finite(t.unit, 'unit'),
    ...(pass && { pass }),
    adapt: t.adapt === null ? null : readAdapt(t.adapt),
    ...(t.cubes !== undefined && { cubes: flag(t.cubes, 'cubes') }),
  };
  need(task.unit > 0, 'a unit that is not positive');
  need(
    !lattice || (task.adapt === null && typeof task.counts === 'number' && task.counts % PIECE === 0),
    'a lattice that adapts, or is cut into pieces of different sizes',
  );
  need(plan(task).groups * plan(task).size <= MAX_SAMPLES, 'too many samples');
  return task;
}

function readLattice(value: unknown, strata: readonly number[], bins: number): LatticePoints {
  const l = members(value, 'a lattice');
  const dims = strata.length;
  need(
    strata.every(n => n === 1),
    'a lattice with strata',
  );
  const { steps, shifts } = l;
  need(steps instanceof Uint32Array && steps.length === dims, 'steps of another number of dimensions');
  need(
    shifts instanceof Uint32Array && shifts.length > 0 && shifts.length % dims === 0,
    'shifts of another number of dimensions',
  );
  return {
    steps: steps as Uint32Array,
    shifts: shifts as Uint32Array,
    folded: flag(l.folded, 'folded'),
    slopes: floats(l.slopes, 'slopes', dims * (bins + 1)),
  };
}

function readCounts(t: Members, cubes: number): Counts {
  const { evaluations, each, window: given } = members(t.counts, 'counts');
  const window = given === undefined ? null : readWindow(given, cubes);
  const own = each as Uint32Array;
  need(
    each instanceof Uint32Array && (window ? window.cube + own.length <= cubes : own.length === cubes),
    'counts of another number of cubes',
  );
  let all = window?.before ?? 0;
  for (let i = 0; i < own.length; i++) {
    need(own[i] >= 2, 'a cube of fewer than two samples');
    all += own[i];
  }
  const total = window?.total ?? all;
  need(all <= total && total <= (evaluations as number), 'more samples than the task says');
  return {
    evaluations: whole(evaluations, 'evaluations', 2, MAX_SAMPLES),
    each: own,
    ...(window && { window }),
  };
}

function readWindow(value: unknown, cubes: number): CountsWindow {
  const w = members(value, 'a window');
  return {
    cube: whole(w.cube, 'the first cube', 0, cubes),
    before: whole(w.before, 'samples before it', 0, MAX_SAMPLES),
    total: whole(w.total, 'samples of all cubes', 2, MAX_SAMPLES),
  };
}

function readPass(value: unknown, results: number): ResultPass {
  const p = members(value, 'a pass');
  const own = list(p.results, 'results').map(r => whole(r, 'the number of a result', 0, results - 1));
  need(own.length >= 1 && own.length <= RESULTS_PER_PASS, 'a pass over too few or too many results');
  need(
    own.every((r, i) => i === 0 || r > own[i - 1]),
    'results that do not ascend',
  );
  const units = list(p.units, 'units').map(u => finite(u, 'a unit'));
  need(units.length === own.length && units.every(u => u > 0), 'units of other results');
  const leads = list(p.leads, 'leads').map(r => whole(r, 'a lead', 0, own.length - 1));
  return { results: own, units, leads };
}

function readAdapt(value: unknown): Adapt {
  const a = members(value, 'adapt');
  const adapt = { scale: finite(a.scale, 'scale'), variances: flag(a.variances, 'variances') };
  return a.limit === undefined ? adapt : { ...adapt, limit: word(a.limit, 'limit') };
}

export function readRegionTask(value: unknown, { dims }: Fit): RegionTask {
  const t = members(value, 'a task of regions');
  const count = whole(t.count, 'count', 1, MAX_REGIONS);
  return {
    rule: readRule(t.rule, dims),
    ranges: readRanges(t.ranges, dims),
    count,
    ...boxes(t, dims, count),
  };
}

export function readWitnessTask(value: unknown, { dims, results }: Fit): WitnessTask {
  const t = members(value, 'a task of witnesses');
  const count = whole(t.count, 'count', 1, MAX_REGIONS);
  return {
    key: readKey(t.key),
    round: word(t.round, 'round'),
    rule: readRule(t.rule, dims),
    ranges: readRanges(t.ranges, dims),
    count,
    ...boxes(t, dims, count),
    values: floats(t.values, 'values', count),
    ...(t.result !== undefined && { result: whole(t.result, 'result', 0, results - 1) }),
    witnesses: positive(t.witnesses, 'witnesses'),
    absolute: positive(t.absolute, 'absolute'),
  };
}

const boxes = (t: Members, dims: number, count: number): Pick<RegionTask, 'centres' | 'levels'> => ({
  centres: floats(t.centres, 'centres', dims * count),
  levels: bytes(t.levels, 'levels', dims * count),
});

function readRule(value: unknown, dims: number): RuleName {
  need(RULES.includes(value as RuleName), 'an unknown rule');
  ruleFor(dims, value as RuleName); // throws where it is none for so many dimensions
  return value as RuleName;
}

function readRanges(value: unknown, dims: number): Ranges {
  const ranges = list(value, 'ranges');
  need(ranges.length === dims, 'ranges of another number of dimensions');
  return ranges.map(range => {
    const [low, high, ...more] = list(range, 'a range').map(b => finite(b, 'a bound'));
    need(more.length === 0 && low < high, 'a range that is none');
    return [low, high] as const;
  });
}

/** A part of `most` groups or regions. */
export function readPart(first: unknown, count: unknown, most: number): Part {
  const part = { first: whole(first, 'first', 0, most - 1), count: whole(count, 'count', 1, most) };
  need(part.first + part.count <= most, 'a part beyond the end');
  return part;
}

/** Evaluations that a part takes, about; of a program with so many results. */
export function costOf(what: 'sample', task: SampleTask, part: Part): number;
export function costOf(what: 'regions', task: RegionTask, part: Part): number;
export function costOf(what: 'witness', task: WitnessTask, part: Part): number;
export function costOf(
  what: 'sample' | 'regions' | 'witness',
  task: SampleTask | RegionTask | WitnessTask,
  part: Part,
): number {
  if (what === 'sample') return part.count * plan(task as SampleTask).size;
  const own = task as WitnessTask;
  if (what === 'witness') return (part.count * witnessCost(own)) / own.count;
  return part.count * ruleFor(own.ranges.length, own.rule).points;
}

export function readPartSums(value: unknown, task: SampleTask, part: Part): PartSums {
  const s = members(value, 'sums of samples');
  const width = nodeWidth(resultsOf(task));
  const nodes = anyFloats(s.nodes, 'nodes');
  need(
    nodes.length > 0 && nodes.length % width === 0 && nodes.length <= 128 * width,
    'nodes of another task',
  );
  const dims = task.strata.length;
  return {
    part: samePart(s.part, part),
    evaluations: positive(s.evaluations, 'evaluations'),
    nodes,
    histogram: task.adapt ? floats(s.histogram, 'histogram', dims * task.bins) : null,
    squares: number(s.squares, 'squares'),
    cubes: task.cubes || task.adapt?.variances ? readCubes(s.cubes, part, !!task.cubes) : null,
    nonFinite: readNonFinite(s.nonFinite, dims),
  };
}

function readCubes(value: unknown, part: Part, withMeans: boolean): CubeSums {
  const c = members(value, 'sums of cubes');
  const [first, starts] = [c.first, c.starts];
  need(first instanceof Uint32Array && first.length === part.count, 'cubes of other groups');
  need(starts instanceof Uint32Array && starts.length === part.count + 1, 'cubes of other groups');
  const ends = starts as Uint32Array;
  for (let i = 1; i < ends.length; i++) need(ends[i] >= ends[i - 1], 'cubes that do not ascend');
  const length = ends[part.count];
  return {
    first: first as Uint32Array,
    starts: ends,
    variances: floats(c.variances, 'variances', length),
    means: withMeans ? floats(c.means, 'means', length) : null,
  };
}

export function readRegionSums(value: unknown, task: RegionTask, part: Part, results: number): RegionSums {
  const s = members(value, 'sums of regions');
  const length = results * part.count;
  return {
    part: samePart(s.part, part),
    values: floats(s.values, 'values', length),
    errors: floats(s.errors, 'errors', length),
    axes: bytes(s.axes, 'axes', length),
    nonFinite: readNonFinite(s.nonFinite, task.ranges.length),
  };
}

export function readWitnessSums(value: unknown, task: WitnessTask, part: Part): WitnessSums {
  const s = members(value, 'sums of witnesses');
  const { count } = part;
  return {
    part: samePart(s.part, part),
    deviations: floats(s.deviations, 'deviations', count),
    spreads: floats(s.spreads, 'spreads', count),
    surprises: bytes(s.surprises, 'surprises', count),
    missing: floats(s.missing, 'missing', count),
    axes: bytes(s.axes, 'axes', count),
    witnesses: positive(s.witnesses, 'witnesses'),
    evaluations: positive(s.evaluations, 'evaluations'),
    nonFinite: readNonFinite(s.nonFinite, task.ranges.length),
  };
}

/** Whole integrals of a program with so many params. Their options are checked where they are used, as those of users are. */
export function readIntegralsTask(value: unknown, params: number): IntegralsTask {
  const t = members(value, 'a task of integrals');
  const { count, contradicted } = members(t.neighbours, 'neighbours');
  return {
    options: members(t.options, 'options'),
    integrals: list(t.integrals, 'integrals').map(i => {
      const { params: own, domain } = members(i, 'an integral');
      need(Array.isArray(own) && own.length === params, 'other params');
      return { params: own as unknown[], ...(domain !== undefined && { domain }) };
    }),
    neighbours: {
      count: whole(count, 'count', 1, MAX_SAMPLES),
      contradicted: flag(contradicted, 'contradicted'),
    },
  };
}

export function readIntegralSums(value: unknown, count: number): IntegralSums {
  const integrals = list(members(value, 'integrals').integrals, 'integrals');
  need(integrals.length === count, 'other integrals');
  return {
    integrals: integrals.map((i): IntegralDone => {
      if (i === null) return null;
      const own = members(i, 'an integral');
      const r = members(own.result, 'a result');
      for (const name of ['status', 'method']) need(typeof r[name] === 'string', `${name} is no text`);
      for (const name of ['warnings', 'iterations']) need(Array.isArray(r[name]), `${name} is no list`);
      for (const name of ['dof', 'nonFinite']) number(r[name], name);
      const evaluations = positive(r.evaluations, 'evaluations');
      return { result: { ...r, evaluations }, contradicted: flag(own.contradicted, 'contradicted') };
    }),
  };
}

function samePart(value: unknown, { first, count }: Part): Part {
  const p = members(value, 'a part');
  need(p.first === first && p.count === count, 'sums of another part');
  return { first, count };
}

function readNonFinite(value: unknown, dims: number): NonFinite | null {
  if (value === null) return null;
  const n = members(value, 'nonFinite');
  const f = members(n.first, 'nonFinite.first');
  const point = list(f.point, 'point').map(x => number(x, 'a coordinate'));
  need(point.length === dims, 'a point of another number of dimensions');
  return {
    count: whole(n.count, 'count', 1, MAX_SAMPLES),
    first: {
      point,
      value: number(f.value, 'value'),
      ...(f.result !== undefined && { result: whole(f.result, 'result', 0, MAX_REGIONS) }),
    },
  };
}

function readKey(value: unknown): Key {
  const [a, b, ...more] = list(value, 'key').map(k => word(k, 'a word of the key'));
  need(b !== undefined && more.length === 0, 'a key that is none');
  return [a, b];
}
