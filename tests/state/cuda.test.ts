/** Resumed runs on the emulated card, whose map and variances are in its memory. */
import { describe, expect, test } from 'vitest';
import { integrate, type Result, type State } from '../../src/index.ts';
import { absent } from '../cuda/emulated.ts';

const f = ([x, y]: number[]) => Math.exp(-40 * ((x - 0.3) ** 2 + (y - 0.6) ** 2));
const bits = ({ elapsed: _, ...r }: Result) => ({ ...r });
const stored = (state: State | undefined): State => JSON.parse(JSON.stringify(state));

describe.skipIf(absent)('on a card', () => {
  test.each(['vegas+', 'mcubes'] as const)('%s: resumed with the bits of one run', async method => {
    const options = { dims: 2, method, device: 'cuda', relTol: 0, absTol: 1e-12 } as const;
    const protocol = (iterations: number) => ({ evaluations: 4000, iterations, adapt: 3 });
    const short = await integrate(f, { ...options, vegas: protocol(5) });
    const whole = await integrate(f, { ...options, vegas: protocol(8) });
    const resumed = await integrate(f, { ...options, vegas: protocol(8), resume: stored(short.state) });
    expect(bits(resumed)).toEqual(bits(whole));
  });
  test('the map of a run on the CPU is taken, and the other way round', async () => {
    const options = { dims: 2, method: 'vegas+', relTol: 5e-3 } as const;
    for (const [from, to] of [
      ['cpu', 'cuda'],
      ['cuda', 'cpu'],
    ]) {
      const first = await integrate(f, { ...options, device: from });
      const second = await integrate(f, { ...options, device: to, map: stored(first.state) });
      expect(second.status).toBe('converged');
      expect(second.value).toBeCloseTo(first.value, 2);
      const adapting = [first, second].map(r => r.iterations.filter(i => i.adapting).length);
      expect(adapting[1]).toBeLessThan(adapting[0]);
    }
  });
});
