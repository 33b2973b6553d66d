/**
 * The library in a real browser: a bare page, bundled and minified by Vite, from a server without special headers.
 * The same calls run here in Node, with another number of workers and the functions as they are written.
 */

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { absent, type Opened, open } from './chromium.ts';
import type { Observed } from './page.ts';
import { inTurn, mistakes, outcome, outcomes, problems, scans, series } from './problems.ts';

if (absent) console.warn(`the browser tests are skipped: ${absent}`);

describe.skipIf(absent)(`in Chromium${absent ? `, skipped: ${absent}` : ''}`, () => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await open();
  }, 60_000);
  afterAll(() => opened?.close());

  const inPage = (name: string, device: string, page = opened.page): Promise<Observed> =>
    page.evaluate(
      ([name, device]) =>
        (globalThis as unknown as { run(name: string, device: string): Promise<Observed> }).run(name, device),
      [name, device],
    );

  test('Vite bundles the library without a warning', () => {
    expect(opened.warnings).toEqual([]);
  });

  test('the server sends no special headers: the page is not isolated', async () => {
    expect(await opened.page.evaluate(() => globalThis.crossOriginIsolated)).toBe(false);
  });

  test('three workers share the work, and are gone when it is done', async () => {
    const before = (await inPage('an option that makes no sense', 'cpu:3')).answers.length;
    const { answers, outcome } = await inPage('a peak in 8 dimensions', 'cpu:3');
    expect(outcome).toMatchObject({ status: 'converged' });
    expect((outcome as { evaluations: number }).evaluations).toBeGreaterThan(5e5);
    const own = answers.slice(before);
    expect(own).toHaveLength(3);
    expect(own.reduce((a, b) => a + b)).toBeGreaterThan(20);
    // 44 answers; where there are two cores, shares from 10 to 22 were seen
    for (const n of own) expect(n).toBeGreaterThan(2);
    await expect.poll(() => opened.page.workers().length).toBe(0);
  });

  test('by default there is one worker a core, kept for the next integral', async () => {
    const cores = await opened.page.evaluate(() => navigator.hardwareConcurrency);
    await inPage('a peak in 8 dimensions', 'cpu');
    const { answers } = await inPage('a peak in 8 dimensions', 'cpu');
    expect(opened.page.workers()).toHaveLength(cores);
    for (const n of answers.slice(-cores)) expect(n).toBeGreaterThan(10);
  });

  test.each(['cpu', 'cpu:1'])('the page never stands still for 500 ms on %s', async device => {
    for (const name of Object.keys({ ...problems, ...scans })) {
      // what the code does it does every time; a busy machine does not
      let gap = Infinity;
      for (let i = 0; i < 3 && gap >= 500; i++) gap = Math.min(gap, (await inPage(name, device)).longestGap);
      expect.soft(gap, name).toBeLessThan(500);
    }
  });

  describe.each(Object.keys(problems))('%s', name => {
    test('has the same bits in the page as in Node', async () => {
      const here = await outcome(problems[name], 'cpu:2');
      expect((here as { evaluations: number }).evaluations).toBeGreaterThan(5e5);
      expect((await inPage(name, 'cpu:3')).outcome).toEqual(here);
      expect((await inPage(name, 'cpu')).outcome).toEqual(here);
    });
  });

  test.each(Object.keys(scans))('%s: each has the same bits in the page as in Node', async name => {
    const here = (await outcomes(scans[name], 'cpu:2')) as { evaluations: number }[];
    expect(here.reduce((n, r) => n + r.evaluations, 0)).toBeGreaterThan(1e6);
    expect((await inPage(name, 'cpu:3')).outcome).toEqual(here);
    expect((await inPage(name, 'cpu')).outcome).toEqual(here);
  });

  describe('on a machine of 32 cores, whose workers have a memory each', () => {
    let page: Page;
    beforeAll(async () => {
      page = await opened.browser.newPage();
      await page.addInitScript(() => Object.defineProperty(navigator, 'hardwareConcurrency', { value: 32 }));
      await page.goto(opened.page.url());
      await page.waitForFunction(() => 'run' in globalThis);
    });
    afterAll(() => page?.close());

    test.each(Object.keys(series))('%s, one after the other: the bits of Node', async name => {
      const found = await inPage(name, 'cpu', page);
      expect(page.workers()).toHaveLength(32);
      expect(found.outcome).toEqual(await inTurn(series[name], 'cpu:2'));
    });
    test.each(Object.keys(scans))('%s: the bits of Node', async name => {
      expect((await inPage(name, 'cpu', page)).outcome).toEqual(await outcomes(scans[name], 'cpu:2'));
    });
  });

  test.each(Object.keys(mistakes))('%s is refused in the page in the words of Node', async name => {
    const here = await outcome(mistakes[name], 'cpu:2');
    expect(here).toHaveProperty('message');
    expect((await inPage(name, 'cpu:3')).outcome).toEqual(here);
  });

  test('no error and no warning came up in the page', () => {
    expect(opened.errors).toEqual([]);
  });
});
