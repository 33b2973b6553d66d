/** Faults of the machine, injected one after another: each run has its bits or a named error, and nothing is left open. */
import { expect, test } from 'vitest';
import { uniform } from '../integrands/points.ts';
import { TRIALS } from './trials.ts';

test.each(TRIALS.map(t => [t.name, t] as const))(
  '%s, 16 runs: the same bits or a named error, and no worker is left',
  async (_, trial) => {
    const tally = await trial.run(16, uniform(1));
    expect(tally.faults).toBeGreaterThan(0);
    expect(tally).toMatchObject({ wrong: 0, lost: 0, leaked: 0 });
    if (!trial.mayRefuse) expect(tally.refused).toBe(0);
  },
  180_000,
);
