/**
 * The page of examples/page in Chromium, on its own SwiftShader: the integral on the CPU and on the GPU, an integrand that is edited,
 * a mistake in it. The page is bundled by Vite as it is.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { absent } from '../browser/chromium.ts';

const folder = fileURLToPath(new URL('../../examples/page/', import.meta.url));
/** Chromium's WebGPU on the CPU. */
const FLAGS = ['--no-sandbox', '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];

describe.skipIf(absent)(`the page of examples/page${absent ? `, skipped: ${absent}` : ''}`, () => {
  let browser: Browser;
  let page: Page;
  let close = () => {};
  const errors: string[] = [];

  beforeAll(async () => {
    const made = await build({
      configFile: `${folder}vite.config.ts`,
      logLevel: 'silent',
      build: { write: false },
    });
    const { output } = made as Extract<typeof made, { output: unknown }>;
    const files = new Map(output.map(f => [`/${f.fileName}`, f.type === 'chunk' ? f.code : f.source]));
    const server = createServer(({ url = '' }, response) => {
      const body = files.get(url);
      const type = url.endsWith('.html') ? 'text/html' : 'text/javascript';
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': type }).end(body);
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    close = () => server.close();
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
    page = await browser.newPage();
    page.on('pageerror', error => errors.push(String(error)));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/index.html`);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    close();
  });

  /** What the page shows when a button's run has ended. */
  const after = async (button: string): Promise<string> => {
    await page.click(`#${button}`);
    await page.waitForSelector('#stop:disabled', { timeout: 120_000 });
    return (await page.textContent('#result'))!;
  };
  /** π²/10⁴, less what the faces cut off: 1e-7 of it. */
  const truth = Math.PI ** 2 / 1e4;
  const valueIn = (shown: string) => {
    const [, digits, error] = /^([\d.e+-]+)\((\d+)\)/.exec(shown)!;
    const last = 10 ** -(digits.split('.')[1]?.length ?? 0);
    return { value: Number(digits), error: Number(error) * last };
  };

  test('on the CPU and on the GPU it finds the integral, with errors that hold', async () => {
    for (const [button, device] of [
      ['cpu', 'on cpu'],
      ['webgpu', 'on webgpu'],
    ]) {
      const shown = await after(button);
      expect(shown).toContain(device);
      expect(shown).toContain('converged');
      const { value, error } = valueIn(shown);
      expect(error).toBeLessThan(2e-3 * truth);
      expect(Math.abs(value - truth)).toBeLessThan(4 * error);
    }
  }, 300_000);

  test('an integrand that is edited, and a mistake in it', async () => {
    await page.fill('#integrand', '([x, y]) => x * y');
    await page.fill('#dims', '2');
    const { value, error } = valueIn(await after('webgpu'));
    expect(Math.abs(value - 0.25)).toBeLessThan(4 * error);
    await page.fill('#integrand', '([x, y]) => sinn(x)');
    expect(await after('webgpu')).toMatch(/sinn/);
  }, 300_000);

  test('no error came up in the page', () => {
    expect(errors).toEqual([]);
  });
});
