/** The record of a run of cubature: what remembered-regions.ts keeps, and what `resume` reads. */
import type { RuleName } from '../../tasks/rules.ts';

/** What a rule said of regions: everything of one region is together. */
export interface RegionRecord {
  rule: RuleName;
  centres: Float64Array;
  levels: Uint8Array;
  values: Float64Array;
  errors: Float64Array;
  axes: Uint8Array;
}

/** Whether the lists of a record are as long as they say of each other: they are read by these numbers. */
export function isRegionRecord(record: RegionRecord, dims: number): boolean {
  const { centres, levels, values, errors, axes } = record;
  const count = values?.length;
  return (
    [centres, values, errors].every(l => l instanceof Float64Array) &&
    [levels, axes].every(l => l instanceof Uint8Array) &&
    [errors, axes].every(l => l.length === count) &&
    [centres, levels].every(l => l.length === count * dims) &&
    axes.every(a => a < dims) &&
    [values, errors].every(l => l.every(Number.isFinite))
  );
}
