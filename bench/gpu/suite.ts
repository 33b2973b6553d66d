/**
 * The GPU: every kernel against the CPU device, every method against known values, pulls over many seeds, and how fast it
 * is beside the published programs. For a machine with an NVIDIA card and nothing else: `node scripts/gpu.mjs FOLDER`
 * bundles it with its kernels into one folder.
 *
 *   node suite.mjs [--checks] [--methods] [--limits] [--pulls SEEDS] [--claims N] [--vegas] [--rates] [--mcubes SECONDS] [--pagani SECONDS] [--zmc] [--several] [--lattice] [--scan] [--webgpu] [--webgpu-checks] [--webgpu-phases] [--webgpu-regions] [--webgpu-pulls SEEDS] [--first]
 *   node suite.mjs --timeline METHOD:INTEGRAND:EVALUATIONS-or-TOLERANCE[,…]   (where the time of short runs goes)
 *   node suite.mjs --profile METHOD:INTEGRAND:EVALUATIONS-or-TOLERANCE[:DEVICE][,…] [--profiles FOLDER]   (which functions take the host's time in them)
 *   node suite.mjs --once METHOD:INTEGRAND:EVALUATIONS-or-TOLERANCE[:RUNS[:DEVICE]]   (for a profiler)
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { listCards } from '../../src/devices/cuda/card.ts';

const { values: asked } = parseArgs({
  options: {
    checks: { type: 'boolean' },
    methods: { type: 'boolean' },
    pulls: { type: 'string' },
    claims: { type: 'string' },
    vegas: { type: 'boolean' },
    mcubes: { type: 'string' },
    pagani: { type: 'string' },
    zmc: { type: 'boolean' },
    first: { type: 'boolean' },
    once: { type: 'string' },
    timeline: { type: 'string' },
    profile: { type: 'string' },
    profiles: { type: 'string' },
    rates: { type: 'boolean' },
    limits: { type: 'boolean' },
    several: { type: 'boolean' },
    lattice: { type: 'boolean' },
    scan: { type: 'boolean' },
    webgpu: { type: 'boolean' },
    'webgpu-checks': { type: 'boolean' },
    'webgpu-phases': { type: 'boolean' },
    'webgpu-regions': { type: 'boolean' },
    'webgpu-pulls': { type: 'string' },
  },
});

if (asked.once) {
  const { once } = await import('./once.ts');
  await once(asked.once);
  process.exit(0);
}

if (asked.profile) {
  const { profile } = await import('./profile.ts');
  process.env.QUADRILLE_TIER ??= 'inlined';
  await profile(asked.profile, asked.profiles);
  process.exit(0);
}

if (asked.timeline) {
  const { timeline } = await import('./timeline.ts');
  process.env.QUADRILLE_TIER ??= 'inlined';
  await timeline(asked.timeline);
  process.exit(0);
}

const everything = Object.keys(asked).length === 0;
for (const c of listCards())
  console.log(
    `${c.name}, ${(c.memory / 2 ** 30).toFixed(0)} GiB, compute ${c.computeCapability}, driver ${c.driver}`,
  );
const { checks, methods, runs, twice } = await import('./checks.ts');
const { failures, verdict } = await import('./common.ts');
const { mcubesTimes, rates, vegasTimes } = await import('./vegas.ts');
const { paganiTimes, zmcTimes } = await import('./pagani.ts');
const { pulls } = await import('./pulls.ts');
const { severalTimes } = await import('./several.ts');
const { latticeTimes } = await import('./lattice.ts');
const { scanTimes } = await import('./scan.ts');
const { webgpuChecks, webgpuTimes } = await import('./webgpu.ts');
const { webgpuRegions } = await import('./webgpu-regions.ts');
const { webgpuPhases } = await import('./webgpu-vegas.ts');
const { claimsTable } = await import('../claims-table.ts');
const { limits } = await import('./limits.ts');
if (everything || asked.first) {
  const { compilerTimes, firstResults, tierTimes } = await import('./first.ts');
  console.log('\nfresh processes');
  firstResults(fileURLToPath(new URL('fresh.mjs', import.meta.url)));
  await tierTimes();
  compilerTimes();
}
// kernels that are linked at first are replaced once a run has waited 0.3 s for them; what follows is timed with those that replace them
process.env.QUADRILLE_TIER ??= 'inlined';
if (everything || asked.checks) {
  await checks();
  await runs();
  await twice();
}
if (everything || asked.methods) await methods();
if (everything || asked.several) await severalTimes();
if (everything || asked.lattice) await latticeTimes();
if (everything || asked.scan) await scanTimes();
if (everything || asked['webgpu-checks']) await webgpuChecks();
if (everything || asked.webgpu) await webgpuTimes();
else if (asked['webgpu-phases']) await webgpuPhases();
if (everything || asked['webgpu-regions']) await webgpuRegions();
if (asked['webgpu-pulls']) await pulls(Number(asked['webgpu-pulls']), 'webgpu');
if (everything || asked.limits) await limits();
if (everything || asked.pulls) await pulls(Number(asked.pulls ?? 200));
if (everything || asked.claims) {
  const claims = Number(asked.claims ?? 2000);
  console.log(`\n${claims} claims of convergence on the card`);
  const wrong = await claimsTable({ device: 'cuda', claims, seed: 2000 });
  verdict(wrong === 0, `${wrong} false claims`);
}
if (everything || asked.vegas) await vegasTimes();
if (everything || asked.rates) await rates();
if (everything || asked.pagani) await paganiTimes(Number(asked.pagani ?? 5));
if (everything || asked.zmc) await zmcTimes();
if (everything || asked.mcubes) await mcubesTimes(Number(asked.mcubes ?? 5));
console.log(
  failures.length === 0 ? '\nall checks passed' : `\n${failures.length} FAILED: ${failures.join(', ')}`,
);
process.exit(failures.length === 0 ? 0 : 1);
