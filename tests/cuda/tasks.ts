/** What kernels are asked for in tests: iterations and lists of regions over an entry of the catalogue. */
import type { CompiledProgram } from '../../src/integrand/bound.ts';
import { ruleFor } from '../../src/tasks/every-rule.ts';
import { uniformMap } from '../../src/tasks/map.ts';
import type { RegionTask } from '../../src/tasks/region.ts';
import { listed, type SampleTask } from '../../src/tasks/sample.ts';
import { lowerFor } from '../devices/program.ts';
import { catalogue } from '../integrands/catalogue.ts';
import type { Entry, Range } from '../integrands/entry.ts';

export type Subject = Pick<Entry, 'dims' | 'domain' | 'params' | 'f'>;

export const named = (name: string): Entry => catalogue.find(e => e.name === name)!;

export function integrandOf({ f, dims, params = {} }: Subject): CompiledProgram {
  return lowerFor(f as never, dims, params);
}

/** An iteration with so many strata along the first four axes, one along others. */
export function sampleTask(
  domain: Range[],
  perAxis: number,
  counts: SampleTask['counts'] | Uint32Array,
  bins: number,
  more: Partial<SampleTask> = {},
): SampleTask {
  return {
    key: [7, 11],
    iteration: 3,
    stream: 0,
    unit: 1,
    bins,
    edges: uniformMap(domain, bins),
    strata: domain.map((_, d) => (d < 4 ? perAxis : 1)),
    counts: counts instanceof Uint32Array ? listed(counts) : counts,
    adapt: null,
    ...more,
  };
}

/** Regions of several sizes all over the domain. */
export function regionTask(
  { dims, domain }: Pick<Subject, 'dims' | 'domain'>,
  rule = ruleFor(dims).name,
  count = 37,
): RegionTask {
  const centres = new Float64Array(dims * count);
  const levels = new Uint8Array(dims * count);
  domain.forEach(([low, high], d) => {
    for (let i = 0; i < count; i++) {
      const level = (i + d) % 4;
      const k = (i * 7 + d * 3) % 2 ** level;
      levels[d * count + i] = level;
      centres[d * count + i] = low + ((high - low) * (2 * k + 1)) / 2 ** (level + 1);
    }
  });
  return { rule, ranges: domain, count, centres, levels };
}
