/** The engine of witnesses on the CPU. */
import { expect, test } from 'vitest';
import { makeMemoryPool } from '../../src/devices/cpu/memory-pool.ts';
import { makeWitness } from '../../src/devices/cpu/witness.ts';

import { toWasm } from '../../src/integrand/targets/wasm.ts';
import { philoxRounds } from '../../src/random/philox.ts';
import { lowerFor } from './program.ts';

// points are evaluated in pairs: beside an odd last one there was what another engine had left in the memory, and a loop
// as long as x did not end there
test('an odd number of points: the one beside the last is the last one again, not what was in the memory', async () => {
  const at = { dims: 1, pairs: 7, batch: 8, points: 0, values: 64, end: 128 };
  const { bytes, layout } = toWasm(lowerFor(([x]) => 10 * x, 1).program, at.batch, at.end, at);
  const setup = {
    integrand: await WebAssembly.compile(bytes),
    initial: [...layout.initial()],
    layout: { ...at, end: layout.end },
  };
  // takes the place of `testimony`: writes three points, and returns all values that it is given
  const tell = (_dims: number, _pairs: number, rows: readonly Float64Array[]) =>
    function* () {
      rows[0].fill(9e15);
      rows[0].set([1, 2, 3]);
      const values: ArrayLike<number> = yield 3;
      return Array.from(values).slice(0, 4);
    };
  const engine = makeWitness(tell as never, philoxRounds, setup, makeMemoryPool(1));
  expect(await engine.run({} as never)).toEqual([10, 20, 30, 30]);
  engine.close();
});
