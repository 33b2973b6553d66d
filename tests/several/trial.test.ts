import { test } from 'vitest';
import { integrate } from '../../src/index.ts';

test('trial', async () => {
  const f = ([x, y]: number[]) => ({
    norm: Math.exp(-10 * (x * x + y * y)),
    mean: x * Math.exp(-10 * (x * x + y * y)),
    z: [y, Math.cos(3 * x)],
  });
  for (const method of ['plain', 'mcubes', 'mcubes1d', 'vegas+', 'auto'] as const) {
    const r = await integrate(f, { dims: 2, method, relTol: 1e-3 });
    console.log(`${r}`, r.correlation(), `${r.of(v => v.mean / v.norm)}`);
  }
  const r = await integrate(f, { dims: 2, device: 'js' });
  console.log(r.summary());
  const one = await integrate(([x]: number[]) => ({ re: Math.cos(x), im: Math.sin(x - 0.5) ** 3 }), {
    dims: 1,
    maxEvaluations: 1e6,
  });
  console.log(`${one}`);
});
