/**
 * The device suite on WebGPU, on SwiftShader. A driver takes about a second to compile a kernel on the CPU, so these are some of the
 * checks, one or two of each kind; `QUADRILLE_WEBGPU=all npx vitest run tests/webgpu/suite.test.ts` runs all of them.
 */
import { describe, expect, test } from 'vitest';
import { SUITE } from '../devices/suite.ts';
import { bundled } from './bundled.ts';
import { absent, runOnSwiftShader } from './swiftshader.ts';

const SOME = [
  'samples: 1 dimension, more strata than bins',
  'samples: 5 dimensions, counts of their own',
  'samples: counters of more than 32 bits',
  'samples: cubes of 255 to 259 samples',
  'samples: one cube of 150000', // with counters in workgroup memory
  'samples: values that are not finite are counted, taken as 0, and the first by sample is named',
  'samples: other params from the next task on',
  'a signal that is aborted already rejects with its reason, and the session works on',
  'parts: uneven cubes, some larger than a group, adapting: the same bits for any cut, any order, parts that come twice, and through JSON',
  'learning: 2197 cubes, as the host learns',
  'learning: 8 cubes with tens of thousands of samples, as the host learns', // large cubes, and several dispatches
  'regions: degree7 in 3 dimensions, values, errors and the axis that bends most',
  'regions: the axis to split, where nothing bends, the widest',
  'regions: a list of 65, each is what it is alone, bit for bit',
  'regions: rounding is no bend, a linear function that is nowhere near 0 is split along its widest axis in all of 300 regions',
  'regions: values that are not finite are counted and count as 0, the first is named',
  'ends: no point of a rule lies on an end of a range, or outside, in 2 dimensions',
  'ends: no sample lies on an end of a range, in bins of 1 to 64 last bits, in 2 dimensions',
  'witnesses: of 67 regions in 3, what they say point by point',
  'witnesses: the same bits for any cut into parts',
  "pool: 1024 regions and their halves, the sums of the host's pool",
  'pool: finishes regions by relative error, then by threshold, and keeps what they contribute',
  'witnesses: of a pool, about what they say to the host, and whom they blame',
  'lattices: 3 dimensions, folded, 1 bin',
  'lattices: 9 dimensions, small shifts',
  'lattices: values that are not finite are counted, and the first by sample is named',
  'several: sums, covariances, histogram and variances of 3 results',
  'regions: 3 results, the same bits for any cut into parts, and through JSON',
];

const names = process.env.QUADRILLE_WEBGPU === 'all' ? SUITE.map(c => c.name) : SOME;

describe.skipIf(absent)('webgpu on SwiftShader', () => {
  let found: Promise<Map<string, string | null>> | null = null;
  const run = async () => {
    const printed = await runOnSwiftShader(await bundled('suite-main'), names);
    const lines = printed.trim().split('\n');
    return new Map(lines.map(line => JSON.parse(line)).map(({ name, error }) => [name, error]));
  };

  test.each(names)(
    '%s',
    async name => {
      found ??= run();
      expect((await found).get(name)).toBeNull();
    },
    3_600_000,
  );
});
