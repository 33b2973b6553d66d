/** A page in real Chromium: bundled by Vite as it does by default, served as plain files from 127.0.0.1. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { build, createLogger } from 'vite';

const executablePath = '/usr/bin/chromium';

/** Why there is no browser, if there is none. */
export const absent = existsSync(executablePath)
  ? undefined
  : `${executablePath} is not there; \`node scripts/setup.mjs --tests\` installs it where it may`;

/** Without these, Chromium looks for hosts that a test has no business with. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Chromium's WebGPU on the CPU, by the SwiftShader that it brings. */
export const WEBGPU = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];

interface PageOptions {
  /** Flags of Chromium in the place of --disable-gpu. */
  gpu?: readonly string[];
  /** Modules that stand for others in the bundle. */
  alias?: Record<string, string>;
  /** Whether the bundle is minified, as it is by default. */
  minify?: boolean;
}

const TYPES: Record<string, string> = { html: 'text/html', js: 'text/javascript' };
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The files of the bundle by name, and what Vite warned of. */
async function bundle(
  html: string,
  { alias = {}, minify = true }: PageOptions,
): Promise<{ files: Map<string, string | Uint8Array>; warnings: string[] }> {
  const warnings: string[] = [];
  const customLogger = createLogger('warn');
  customLogger.warn = message => warnings.push(message);
  const made = await build({
    configFile: false,
    logLevel: 'warn',
    customLogger,
    root: here('.'),
    resolve: { alias: { quadrille: here('../../src/index.ts'), ...alias } },
    build: { write: false, minify, rolldownOptions: { input: here(html) } },
  });
  const { output } = made as Extract<typeof made, { output: unknown }>;
  const files = new Map(output.map(f => [`/${f.fileName}`, f.type === 'chunk' ? f.code : f.source]));
  return { files, warnings };
}

export interface Opened {
  page: Page;
  browser: Browser;
  /** Warnings of the bundler; errors of the page and its console. */
  warnings: string[];
  errors: string[];
  close(): Promise<void>;
}

export async function open(html = 'page.html', options: PageOptions = {}): Promise<Opened> {
  const { files, warnings } = await bundle(html, options);
  const server = createServer(({ url = '' }, response) => {
    const body = files.get(url);
    const type = TYPES[url.slice(url.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': type }).end(body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const args = options.gpu ? [...QUIET.filter(flag => flag !== '--disable-gpu'), ...options.gpu] : QUIET;
  const browser = await chromium.launch({ executablePath, args });
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', error => errors.push(String(error)));
  page.on('crash', () => errors.push('the page crashed'));
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${html}`);
  await page.waitForFunction(() => 'run' in globalThis);
  const close = async () => {
    await browser.close();
    server.close();
  };
  return { page, browser, warnings, errors, close };
}
