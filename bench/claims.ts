/**
 * No false `converged`: twenty thousand claims on integrands with random parameters and known integrals, other ones than
 * those of tests/claims.
 *
 *   npm run bench:claims -- [--claims N] [--device cpu|cuda] [--seed S] [--methods pagani,auto] [--kind shelf]
 *   npm run bench:claims -- --trial NUMBER [the same options]     (one run again, with all that is known of it)
 */
import { parseArgs } from 'node:util';
import type { MethodName } from '../src/problem.ts';
import { claimsTable, repeatTrial } from './claims-table.ts';

const { values } = parseArgs({
  options: {
    claims: { type: 'string', default: '20000' },
    device: { type: 'string', default: 'cpu' },
    seed: { type: 'string', default: '1000' },
    methods: { type: 'string' },
    kind: { type: 'string' },
    trial: { type: 'string' },
  },
});
const options = {
  device: values.device,
  seed: Number(values.seed),
  ...(values.methods && { methods: values.methods.split(',') as MethodName[] }),
  ...(values.kind && { kind: values.kind }),
};
if (values.trial) {
  await repeatTrial(options, Number(values.trial));
  process.exit(0);
}
process.exit((await claimsTable({ ...options, claims: Number(values.claims) })) === 0 ? 0 : 1);
