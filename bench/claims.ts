/**
 * No false `converged`: twenty thousand claims on integrands with random parameters and known integrals, other ones than
 * those of tests/claims.
 *
 *   npm run bench:claims -- [--claims N] [--seconds S] [--device cpu|cuda|webgpu] [--seed S] [--methods pagani,auto] [--kind shelf] [--more] [--processes P] [--together T]
 * `--more`: about the further kinds of tests/claims/kinds/more. On a card several processes need NVIDIA's MPS (`nvidia-cuda-mps-control -d`):
 * without it the card gives them slices of its time, and 12 processes make fewer claims than one.
 *
 *   npm run bench:claims -- --trial NUMBER [the same options]     (one run again, with all that is known of it)
 */
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import type { MethodName } from '../src/problem.ts';
import { claimRows, printTables, type Row, repeatTrial } from './claims-table.ts';
import { needWebGpu } from './on-swiftshader.ts';

const { values } = parseArgs({
  options: {
    claims: { type: 'string', default: '20000' },
    device: { type: 'string', default: 'cpu' },
    seed: { type: 'string', default: '1000' },
    methods: { type: 'string' },
    kind: { type: 'string' },
    more: { type: 'boolean', default: false },
    trial: { type: 'string' },
    processes: { type: 'string', default: '1' },
    together: { type: 'string', default: '1' },
    seconds: { type: 'string' },
    share: { type: 'string' },
  },
});
if (values.device === 'webgpu') await needWebGpu();
const options = {
  device: values.device,
  seed: Number(values.seed),
  together: Number(values.together),
  more: values.more,
  ...(values.seconds && { seconds: Number(values.seconds) }),
  ...(values.methods && { methods: values.methods.split(',') as MethodName[] }),
  ...(values.kind && { kind: values.kind }),
};
if (values.trial) {
  await repeatTrial(options, Number(values.trial));
  process.exit(0);
}
const [claims, processes] = [Number(values.claims), Number(values.processes)];
if (values.share) {
  // one of the processes below: it prints its rows, for all to be put together
  const share = { ...options, claims: Math.ceil(claims / processes) };
  const text = JSON.stringify(await claimRows(share, { first: Number(values.share), step: processes }));
  await new Promise(resolve => process.stdout.write(text, resolve)); // a pipe takes a while
  process.exit(0);
}
const start = performance.now();
const rows =
  processes === 1
    ? await claimRows({ ...options, claims })
    : (await Promise.all(Array.from({ length: processes }, (_, i) => shareOf(i)))).flat();
process.exit(printTables(rows, { ...options, claims }, start) === 0 ? 0 : 1);

/** The rows of trials share, share + processes, …, by a process of their own. */
async function shareOf(share: number): Promise<Row[]> {
  const args = [process.argv[1], ...process.argv.slice(2), '--share', `${share}`];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const texts: string[] = [];
  child.stdout.setEncoding('utf8').on('data', text => texts.push(text));
  const code = await new Promise(resolve => child.on('close', resolve));
  if (code !== 0) throw new Error(`process ${share} ended with ${code}`);
  return JSON.parse(texts.join(''));
}
