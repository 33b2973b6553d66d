/**
 * The records of runs of cubature, which `resume` reads: what the rule said of regions (remembered-regions.ts), or what a pool in a
 * device's memory was asked and said (recorded-pool.ts).
 */
import type { PoolStep, PoolSums, WitnessStep } from '../../tasks/pool/pool.ts';
import type { RuleName } from '../../tasks/rules.ts';

/** What a rule said of regions: everything of one region is together, also the values, errors and axes of its results. */
export interface RegionRecord {
  rule: RuleName;
  /** How many results the integrand has; 1 if it is absent, as in records of earlier versions. */
  results?: number;
  centres: Float64Array;
  levels: Uint8Array;
  values: Float64Array;
  errors: Float64Array;
  axes: Uint8Array;
}

/** A call of a pool. `surprised` and `deviating` are those of `blame`. */
export interface PoolCall {
  what: 'start' | 'select' | 'halve' | 'finish' | 'look' | 'along' | 'witness' | 'surprised' | 'deviating';
  args: readonly number[];
}

/** A call, what the pool said, and what it had after it. */
export interface PoolEntry extends PoolCall {
  said: PoolStep | WitnessStep | number | null;
  count: number;
  sums: PoolSums;
}

/** What a pool was asked, in its order. */
export interface PoolRecord {
  rule: RuleName;
  /** The kind of the device whose memory it was in. */
  pool: string;
  entries: readonly PoolEntry[];
}

export type CubatureRecord = RegionRecord | PoolRecord;

export const isCubatureRecord = (record: CubatureRecord, dims: number): boolean =>
  'pool' in record ? isPoolRecord(record, dims) : isRegionRecord(record, dims);

/** Whether the lists of a record are as long as they say of each other: they are read by these numbers. */
function isRegionRecord(record: RegionRecord, dims: number): boolean {
  const { centres, levels, values, errors, axes, results = 1 } = record;
  const count = values?.length / results;
  return (
    Number.isInteger(results) &&
    Number.isInteger(count) &&
    [centres, values, errors].every(l => l instanceof Float64Array) &&
    [levels, axes].every(l => l instanceof Uint8Array) &&
    [errors, axes].every(l => l.length === values.length) &&
    [centres, levels].every(l => l.length === count * dims) &&
    axes.every(a => a < dims) &&
    [values, errors].every(l => l.every(Number.isFinite))
  );
}

const STEP = ['evaluated', 'before', 'after'];
const SUMS = ['value', 'error', 'absolute', 'finished', 'done'];
const WITNESSES = ['deviation', 'spread', 'surprise', 'missing', 'witnesses', 'evaluations'];

/** For each call: how many arguments it has, and the numbers that a pool says; null where it says nothing. */
const CALLS: Record<PoolCall['what'], readonly [args: number, said: readonly string[] | 'number' | null]> = {
  start: [1, STEP],
  select: [1, 'number'],
  halve: [1, STEP],
  finish: [3, null],
  look: [2, STEP],
  along: [1, STEP],
  witness: [3, WITNESSES],
  surprised: [1, null],
  deviating: [1, null],
};

/** Whether every call has its arguments and answers: they enter the result as they are. */
const isPoolRecord = ({ pool, entries }: PoolRecord, dims: number): boolean =>
  typeof pool === 'string' &&
  Array.isArray(entries) &&
  (entries as readonly PoolEntry[]).every(({ what, args, said, count, sums }) => {
    if (!Object.hasOwn(CALLS, what)) return false;
    const [length, members] = CALLS[what];
    if (args.length !== length || ![...args, count, ...SUMS.map(m => sums[m as never])].every(isNumber))
      return false;
    if (members === null || members === 'number') return members ? isNumber(said) : said === null;
    const { nonFinite } = said as PoolStep;
    const found = nonFinite && [nonFinite.count, nonFinite.first.value, ...nonFinite.first.point];
    return (
      members.every(m => isNumber(said![m as never])) &&
      (found === null || (found.length === dims + 2 && found.every(isNumber)))
    );
  });

const isNumber = (n: unknown): boolean => typeof n === 'number';
