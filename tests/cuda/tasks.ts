/** What kernels are asked for in tests: iterations and lists of regions over an entry of the catalogue. */
import type { DeviceIntegrand, RegionTask, SampleTask } from '../../src/devices/device.ts';
import { lower } from '../../src/integrand/lower/lower.ts';
import { bind } from '../../src/integrand/params.ts';
import { read } from '../../src/integrand/read.ts';
import { uniformMap } from '../../src/tasks/map.ts';
import { type Rule, ruleFor } from '../../src/tasks/rules.ts';
import { catalogue } from '../integrands/catalogue.ts';
import type { Entry, Range } from '../integrands/entry.ts';

export type Subject = Pick<Entry, 'dims' | 'domain' | 'params' | 'f'>;

export const named = (name: string): Entry => catalogue.find(e => e.name === name)!;

export function integrandOf({ f, dims, params = {} }: Subject): DeviceIntegrand {
  const program = lower(read(f as never), dims, params);
  return { kind: 'program', program, params: bind(program.params, params) };
}

/** An iteration with so many strata along the first four axes, one along others. */
export function sampleTask(
  domain: Range[],
  perAxis: number,
  counts: SampleTask['counts'],
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
    counts,
    adapt: null,
    ...more,
  };
}

/** One large cube; cubes with few samples; cubes with samples of their own, among them a large one. */
export function sampleTasks({ dims, domain }: Subject, scale: number): SampleTask[] {
  const uneven = Uint32Array.from({ length: 3 ** Math.min(4, dims) }, (_, i) =>
    i === 1 ? 9001 : 2 + (i % 300),
  );
  return [
    sampleTask(domain, 1, 20_000, 1, { cubes: true }),
    sampleTask(domain, 3, 7, 50, { adapt: { scale, variances: true } }),
    sampleTask(domain, 3, uneven, 64, { adapt: { scale, variances: true } }),
  ];
}

/** Regions of several sizes all over the domain. */
export function regionTask(
  { dims, domain }: Pick<Subject, 'dims' | 'domain'>,
  rule: Rule = ruleFor(dims),
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
