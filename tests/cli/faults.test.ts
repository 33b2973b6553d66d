/** Faults of the machine around the command line: bench/faults/cli.ts injects them and says what is promised. */
import { expect, test } from 'vitest';
import { cliFaults } from '../../bench/faults/cli.ts';

test.skipIf(process.platform !== 'linux')(
  'every fault ends in the right result or a named error',
  async () => {
    const rows = await cliFaults();
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.filter(r => !r.kept)).toEqual([]);
  },
);
