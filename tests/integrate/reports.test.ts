/** What `onProgress` and `onResult` throw, at once or later, is what the run is rejected with; nothing is unhandled. */
import { describe, expect, test } from 'vitest';
import { type Integrand, integrate, scan } from '../../src/index.ts';

const f: Integrand = ([x, y], p) => Math.abs(x - y) * (p.a ?? 1);
const much = { dims: 2, relTol: 0, maxEvaluations: 1e12 } as const;
const failures: [string, () => unknown][] = [
  [
    'throws',
    () => {
      throw new Error('full disk');
    },
  ],
  [
    'rejects',
    async () => {
      throw new Error('full disk');
    },
  ],
  [
    'rejects later',
    async () => {
      await new Promise(resolve => setTimeout(resolve, 30));
      throw new Error('full disk');
    },
  ],
];

describe.each(failures)('one that %s', (_, tell) => {
  test.each(['auto', 'vegas+', 'pagani', 'zmc'] as const)('ends a run by %s', async method => {
    const onProgress = tell as () => void;
    await expect(integrate(f, { ...much, method, onProgress })).rejects.toThrow('full disk');
    // a run that is over before: the last report is waited for
    await expect(integrate(f, { dims: 2, method, relTol: 0.1, onProgress })).rejects.toThrow('full disk');
  });
  test('ends a scan, also the integrals that would go on', async () => {
    const params = [{ a: 0 }, { a: 1 }, { a: 2 }];
    const onResult = tell as () => void;
    const run = scan(([x], p) => (p.a > 0 ? Math.abs(x - 0.3) : 1), {
      ...much,
      dims: 1,
      method: 'vegas+',
      maxEvaluations: 2e5,
      params,
      onResult,
    });
    await expect(run).rejects.toThrow('full disk');
  });
});

test('one that never settles holds up a run until its maxTime, not for ever', async () => {
  const onProgress = (() => new Promise(() => {})) as () => void;
  const r = await integrate(f, { dims: 2, relTol: 0.1, maxTime: 1000, onProgress });
  expect(['converged', 'time']).toContain(r.status);
});
