/** Methods as generators: one iteration at a time, within what they are granted, and stopped in the middle. */
import { afterAll, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import type { Session } from '../../src/devices/device.ts';
import { type Integrand, integrate } from '../../src/index.ts';
import { type Iteration, NO_OUTCOME, type Outcome, type Run } from '../../src/methods/method.ts';
import { METHOD_NAMES } from '../../src/methods/names.ts';
import { lowerFor } from '../devices/program.ts';
import { wrapped } from '../devices/wrapped.ts';
import { start } from './problem.ts';

const cpu = new CpuDevice(1);
afterAll(() => cpu.close());

/** Tasks that sessions were asked for. */
let tasks = 0;
const device = wrapped(cpu, session => ({
  sample(...args) {
    tasks++;
    return session.sample(...args);
  },
  regions(...args) {
    tasks++;
    return session.regions(...args);
  },
}));

/** Bends everywhere: no method reaches 1e-10 with a million evaluations. */
const kinks: Integrand = ([x, y, z]) => Math.sqrt(Math.abs(x - 0.3 * y - 0.4 * z)) + Math.abs(y - x * z);
const open = () => device.open(lowerFor(kinks, 3));

/** Drives a run to its end; `grantFor` says what it may spend after each iteration. */
async function driven(run: Run, grantFor: (seen: readonly Iteration[]) => number) {
  const seen: Iteration[] = [];
  let outcome: Outcome | null = null;
  while (!outcome) {
    const step = await run.next({ maxEvaluations: grantFor(seen) });
    if (step.done) outcome = step.value;
    else seen.push(step.value);
  }
  return { seen, outcome };
}

async function withSession<T>(use: (session: Session) => Promise<T>): Promise<T> {
  const session = await open();
  return use(session).finally(() => session.close());
}

describe.each(METHOD_NAMES)('%s', method => {
  test('yields each iteration of the result once, with growing evaluations', () =>
    withSession(async session => {
      const { seen, outcome } = await driven(start(method, session, 3), () => 1e6);
      const result = await integrate(kinks, { dims: 3, method, device, relTol: 1e-3, maxEvaluations: 1e6 });
      expect([outcome.value, outcome.error, outcome.status, outcome.evaluations]).toEqual([
        result.value,
        result.error,
        result.status,
        result.evaluations,
      ]);
      const own = seen.filter(i => (i.running.method ?? result.method) === result.method);
      expect(own.map(i => i.record)).toEqual(result.iterations);
      expect(seen.length).toBeGreaterThan(1);
      for (let i = 1; i < seen.length; i++)
        expect(seen[i].evaluations).toBeGreaterThan(seen[i - 1].evaluations);
      expect(outcome.evaluations).toBe(seen.at(-1)!.evaluations);
    }));

  test('a grant that is lowered on the way ends it with status budget, one iteration later at most', () =>
    withSession(async session => {
      const run = start(method, session, 3, { relTol: 1e-10 });
      let granted = 1e6;
      const { seen, outcome } = await driven(run, before => {
        if (before.length === 4) granted = before[3].evaluations + 100;
        return granted;
      });
      expect(outcome.status).toBe('budget');
      const steps = seen.map((it, i) => it.evaluations - (seen[i - 1]?.evaluations ?? 0));
      expect(outcome.evaluations).toBeLessThanOrEqual(granted + Math.max(...steps.slice(0, 4)));
      expect(outcome.evaluations).toBeLessThan(0.5 * 1e6);
    }));

  test('return() in the middle ends it: nothing more is asked of the session', () =>
    withSession(async session => {
      const run = start(method, session, 3, { relTol: 1e-10 });
      for (let i = 0; i < 3; i++) expect((await run.next({ maxEvaluations: 1e6 })).done).toBe(false);
      const before = tasks;
      expect(await run.return(NO_OUTCOME)).toEqual({ done: true, value: NO_OUTCOME });
      expect((await run.next({ maxEvaluations: 1e6 })).done).toBe(true);
      expect(tasks).toBe(before);
    }));

  test('return() before it began asks for nothing at all', () =>
    withSession(async session => {
      const before = tasks;
      await start(method, session, 3).return(NO_OUTCOME);
      expect(tasks).toBe(before);
    }));
});
