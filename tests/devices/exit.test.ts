/** A process that integrates ends by itself as soon as it has nothing left to do, however its runs ended. */
import { describe, expect, test } from 'vitest';
import { runScript } from './script.ts';

const begin = `
  import { integrate } from 'quadrille';
  const f = ([x, y]) => Math.exp(-x * y);
  const many = { evaluations: 300_000, iterations: 4 };
`;

describe.concurrent('a script ends by itself', () => {
  test.each([
    ['after a small integral', 'console.log((await integrate(f, { dims: 2 })).status);', 'converged\n'],
    [
      'after an integral that used workers',
      'console.log((await integrate(f, { dims: 2, relTol: 0, vegas: many })).status);',
      'budget\n',
    ],
    [
      'after an integral with three workers of its own',
      "console.log((await integrate(f, { dims: 2, device: 'cpu:3', relTol: 0, vegas: many })).status);",
      'budget\n',
    ],
    [
      'after a run that was aborted with workers at work',
      `const stop = new AbortController();
       const run = integrate(f, { dims: 2, method: 'vegas+', relTol: 0, maxEvaluations: 1e12, signal: stop.signal });
       setTimeout(() => stop.abort(), 300);
       console.log((await run).status);`,
      'aborted\n',
    ],
    [
      'after a signal whose own timer does not keep it alive, with an integrand that never settles',
      `const never = async () => new Promise(() => {});
       console.log((await integrate(never, { dims: 2, device: 'js', signal: AbortSignal.timeout(300) })).status);`,
      'aborted\n',
    ],
    [
      'after a run that maxTime ended, and with an hour of maxTime left',
      `console.log((await integrate(f, { dims: 2, method: 'vegas+', relTol: 0, maxEvaluations: 1e12, maxTime: 300 })).status);
       console.log((await integrate(f, { dims: 2, maxTime: 3_600_000 })).status);`,
      'time\nconverged\n',
    ],
    [
      'after a run that was refused and one that met NaN',
      `await integrate(f, { dims: 0 }).catch(e => console.log(e.name));
       await integrate(([x]) => Math.sqrt(x - 0.5), { dims: 1, vegas: many }).catch(e => console.log(e.name));`,
      'OptionError\nRangeError\n',
    ],
    [
      'when nobody waits for the result',
      'integrate(f, { dims: 2, relTol: 0, vegas: many }).then(r => console.log(r.status));',
      'budget\n',
    ],
  ])('%s', async (_, text, out) => {
    expect(await runScript(begin + text)).toEqual({ code: 0, out, err: '' });
  });
});
