/**
 * A first result: from the start of a fresh process, with the integrand linked to kernels and with the integrand inside them, and
 * what the two cost in long runs. Goals on an H200: below 420 ms for a new integrand in a fresh process, of which the driver takes
 * 250 to 300, and below 100 ms in a process that has used the card.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadNvrtc, type Unit } from '../../src/devices/cuda/nvrtc.ts';
import { CudaProgram, unitsOf } from '../../src/devices/cuda/program.ts';
import { CudaRegions } from '../../src/devices/cuda/regions.ts';
import { CudaSampling } from '../../src/devices/cuda/sampling.ts';
import type { Result } from '../../src/index.ts';
import type { CommonOptions } from '../../src/problem.ts';
import { ruleFor } from '../../src/tasks/every-rule.ts';
import { uniformMap } from '../../src/tasks/map.ts';
import { cuda, entry, onCard, opened, verdict } from './common.ts';

/** Fresh processes of fresh.ts, in this file. NVRTC 13 keeps what it compiled on disk; as long as it does, numbers mean little. */
export function firstResults(file: string): void {
  for (const tier of ['linked', 'inlined', 'both'] as const) {
    const folder = mkdtempSync(join(tmpdir(), 'quadrille-'));
    const env = { ...process.env, XDG_CACHE_HOME: folder, QUADRILLE_TIER: tier === 'both' ? '' : tier };
    const run = (title: string, what: string) => {
      console.log(`  ${tier}, ${what.split(':')[0]}, ${title}`);
      console.log(execFileSync(process.execPath, [file, what], { env, encoding: 'utf8' }).trimEnd());
    };
    for (const method of ['vegas+', 'auto']) {
      const first = method === 'auto' ? 4 : 0;
      run('no kernels on disk', `${method}:${first}`);
      run('kernels on disk, a new integrand', `${method}:${first + 2}`);
      run('kernels and integrand on disk', `${method}:${first + 2}`);
    }
    rmSync(folder, { recursive: true });
  }
}

const ROWS = [
  'sine_exponential_2',
  'gaussian_4',
  'f4_5',
  'f2_6',
  'f4_8',
  'morokoff_caflisch_8',
  'roos_arnold_10',
  'cosine_10',
];

/** Long and short runs in both tiers: ms, the ratio, and whether all bits are the same. */
export async function tierTimes(): Promise<void> {
  console.log(
    '\nthe integrand linked and inside: ms of both, the ratio, whether value and error have the same bits',
  );
  const vegas = (evaluations: number): CommonOptions => ({
    method: 'vegas+',
    relTol: 0,
    maxEvaluations: 2 * evaluations,
    vegas: { evaluations: evaluations / 20, iterations: 20, adapt: 10 },
  });
  for (const name of ROWS) {
    await compared(name, '1e5 samples', vegas(1e5));
    await compared(name, '1e9 samples', vegas(1e9));
  }
  for (const [name, relTol] of [
    ['f4_5', 1e-5],
    ['f4_8', 4e-4],
    ['f2_6', 1e-6],
  ] as const)
    await compared(name, `pagani ${relTol}`, {
      method: 'pagani',
      relTol,
      maxEvaluations: 1e12,
      maxTime: 20_000,
    });
  for (const name of ['f4_5', 'roos_arnold_10'])
    await compared(name, 'auto 1e-5', { relTol: 1e-5, maxEvaluations: 1e12, maxTime: 20_000 });
}

async function compared(name: string, title: string, options: CommonOptions): Promise<void> {
  const best = async (tier: string): Promise<Result> => {
    process.env.QUADRILLE_TIER = tier;
    const runs: Result[] = [];
    for (let i = 0; i < 6; i++) runs.push(await onCard(entry(name), options));
    delete process.env.QUADRILLE_TIER;
    return runs.sort((a, b) => a.elapsed - b.elapsed)[0];
  };
  const [linked, inside] = [await best('linked'), await best('inlined')];
  const same =
    linked.value === inside.value &&
    linked.error === inside.error &&
    linked.evaluations === inside.evaluations;
  const ratio = linked.elapsed / inside.elapsed;
  console.log(
    `  ${name.padEnd(20)} ${title.padEnd(12)} ${linked.elapsed.toFixed(2).padStart(8)} ${inside.elapsed.toFixed(2).padStart(8)}  ${ratio.toFixed(2)}  ${same ? 'same bits' : `${linked.value} ± ${linked.error} and ${inside.value} ± ${inside.error}`}${verdict(same, `bits of ${name}, ${title}`)}`,
  );
}

/** What options of NVRTC make of the time to compile an integrand and kernels: ms, the least of some, or its complaint. */
export function compilerTimes(): void {
  console.log(
    '\nNVRTC without its own cache, ms: as it is; with --minimal; without built-in C++; both; each of these without and with --split-compile=0',
  );
  const { major, minor } = versionOf();
  console.log(`  NVRTC ${major}.${minor}`);
  const bare = ['--builtin-move-forward=false', '--builtin-initializer-list=false'];
  const sets = [[], ['--minimal'], bare, ['--minimal', ...bare]].flatMap(s => [
    s,
    [...s, '--split-compile=0'],
  ]);
  for (const name of ['f4_8', 'f1_8']) {
    const e = entry(name);
    const program = new CudaProgram(cuda.card, opened(e));
    const bins = 64;
    const task = {
      key: [1, 2] as [number, number],
      iteration: 0,
      stream: 0,
      unit: 1,
      bins,
      edges: uniformMap(e.domain, bins),
      strata: e.domain.map(() => 1),
      counts: 100,
      adapt: null,
    };
    const sample = unitsOf(new CudaSampling(program).recipe(task), program);
    const regions = unitsOf(new CudaRegions(program).recipe(ruleFor(e.dims)), program);
    const show = (unit: Unit, times: number) =>
      console.log(`  ${name} ${unit.name!.padEnd(30)} ${sets.map(s => timeOf(unit, s, times)).join('  ')}`);
    show(sample.linked[1], 5);
    if (name !== 'f4_8') continue;
    for (const unit of [sample.linked[0], sample.inlined, regions.linked[0], regions.inlined]) show(unit, 2);
  }
}

function versionOf() {
  const [major, minor] = [[0], [0]];
  loadNvrtc().nvrtcVersion(major, minor);
  return { major: major[0], minor: minor[0] };
}

function timeOf({ text, relocatable, registers }: Unit, more: string[], times: number): string {
  const nvrtc = loadNvrtc();
  const options = [
    `--gpu-architecture=sm_${cuda.card.info.computeCapability.replace('.', '')}`,
    '--std=c++17',
    '--fmad=false',
    ...(relocatable ? ['--relocatable-device-code=true'] : []),
    ...(registers ? [`--maxrregcount=${registers}`] : []),
    '--no-cache',
    ...more,
  ];
  let least = Infinity;
  for (let i = 0; i < times; i++) {
    const program = [null] as (bigint | number | null)[];
    nvrtc.nvrtcCreateProgram(program, text, 'integrand.cu', 0, null, null);
    const start = performance.now();
    const status = nvrtc.nvrtcCompileProgram(program[0], options.length, options);
    least = Math.min(least, performance.now() - start);
    nvrtc.nvrtcDestroyProgram(BigUint64Array.of(BigInt(program[0]!)));
    if (status !== 0) return `status ${status}`;
  }
  return least.toFixed(0).padStart(5);
}
