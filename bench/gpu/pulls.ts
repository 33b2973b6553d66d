/** The pulls of the tests, on the card, through CUDA or WebGPU: (value − truth)/error over many seeds. */
import { catalogue } from '../../tests/integrands/catalogue.ts';
import { onCard, verdict } from './common.ts';

/** Integrands that need another tolerance or budget, as in tests/truth/pulls.test.ts. */
const SPECIAL: Record<string, { relTol?: number; maxEvaluations?: number; seeds?: number }> = {
  ridge_4: { relTol: 3e-2, maxEvaluations: 1e6, seeds: 100 },
  fB_9: { relTol: 1e-2, maxEvaluations: 1e9 },
};

export async function pulls(seeds: number, device: 'cuda' | 'webgpu' = 'cuda') {
  console.log(
    `\npulls on ${device}: method, integrand, runs without a warning, mean, deviation (0.85 to 1.2), largest`,
  );
  for (const method of ['vegas+', 'mcubes'] as const) {
    for (const e of catalogue.filter(x => x.truth !== undefined)) {
      const { relTol = 2e-3, maxEvaluations = 1e8, ...special } = SPECIAL[e.name] ?? {};
      const own = Math.min(special.seeds ?? Infinity, seeds);
      const found: number[] = [];
      for (let seed = 1; seed <= own; seed++) {
        const r = await onCard(e, { device, method, relTol, maxEvaluations, seed, maxTime: 2000 });
        if (r.warnings.length === 0) found.push((r.value - e.truth!) / r.error);
      }
      const mean = found.reduce((a, b) => a + b, 0) / found.length;
      const deviation = Math.sqrt(found.reduce((a, b) => a + (b - mean) ** 2, 0) / (found.length - 1));
      const largest = Math.max(...found.map(Math.abs));
      const ok = found.length >= 0.9 * own && deviation > 0.85 && deviation < 1.2;
      console.log(
        `${method.padEnd(7)} ${e.name.padEnd(25)} ${found.length} of ${own}  ${mean.toFixed(2).padStart(5)}  ${deviation.toFixed(2)}  ${largest.toFixed(1)}${verdict(ok, `pulls of ${e.name} with ${method}`)}`,
      );
    }
  }
}
