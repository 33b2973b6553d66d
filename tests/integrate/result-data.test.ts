/** What becomes of a result that is copied, sent or written down. */
import { MessageChannel } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { integrate, Result } from '../../src/index.ts';

const f = ([x, y]: number[]) => Math.exp(-x * y);
const members = (r: object) => ({ ...r }) as Record<string, unknown>;

async function sent(value: unknown): Promise<unknown> {
  const { port1, port2 } = new MessageChannel();
  const arrived = new Promise(resolve => port2.once('message', resolve));
  port1.postMessage(value);
  const got = await arrived;
  port1.close();
  return got;
}

describe.each(['vegas+', 'pagani'] as const)('a result of %s', method => {
  test('is kept whole by spread, structuredClone, postMessage and JSON', async () => {
    const r = await integrate(f, { dims: 2, method, seed: 2n ** 64n - 1n });
    expect(members(r)).toMatchObject({ converged: true, status: 'converged', seed: '18446744073709551615' });
    const copies = { spread: { ...r }, clone: structuredClone(r), posted: await sent(r) };
    for (const [how, copy] of Object.entries(copies)) expect(copy, how).toEqual(members(r));
    expect(JSON.parse(JSON.stringify(r))).toEqual(members(r));
    expect(JSON.parse(JSON.stringify({ ...r }))).toEqual(members(r));
  });
  test('is a result again after JSON', async () => {
    const r = await integrate(f, { dims: 2, method });
    const again = new Result(JSON.parse(JSON.stringify(r)));
    expect(`${again}\n${again.summary()}`).toBe(`${r}\n${r.summary()}`);
    expect(again).toEqual(r);
  });
});

test('what JSON writes as null is NaN or Infinity again', async () => {
  const stopped = await integrate(f, { dims: 2, signal: AbortSignal.abort() });
  const again = new Result(JSON.parse(JSON.stringify(stopped)));
  expect([again.error, again.status, again.converged]).toEqual([Infinity, 'aborted', false]);
  expect(new Result({ ...stopped, value: null as never }).value).toBeNaN();
});

test('the seed of a result can be given back, also beyond 2^53', async () => {
  for (const seed of [7, 2n ** 63n]) {
    const r = await integrate(f, { dims: 2, method: 'plain', seed });
    const again = await integrate(f, { dims: 2, method: 'plain', seed: r.seed });
    expect([again.value, again.seed]).toEqual([r.value, r.seed]);
  }
});
