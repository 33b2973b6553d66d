/**
 * Every snippet of docs/, and every program of the README, runs as it stands and prints what the page says. `UPDATE_DOCS=1 npx vitest run tests/docs` writes
 * into the pages what snippets print now.
 *
 * docs/cli.md and the commands of the README have a test of their own (tests/cli/docs.test.ts), docs/api.md is generated (api.test.ts), and docs/design.md
 * shows what is planned as well.
 */
import { readdirSync } from 'node:fs';
import { devices } from 'quadrille';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Block, blocksOf, has, normalise, update } from './blocks.ts';
import { type Printed, typeErrors, Workshop } from './running.ts';

const ELSEWHERE = ['cli.md', 'api.md', 'design.md'];
const pages = readdirSync('docs')
  .filter(f => f.endsWith('.md') && !ELSEWHERE.includes(f))
  .map(f => `docs/${f}`);
pages.unshift('README.md');
const all = pages.flatMap(blocksOf).filter(b => b.page !== 'README.md' || b.language === 'ts');
const withBlocks = pages.filter(p => all.some(b => b.page === p));

/** Why snippets are not run, by a line that they have. */
const NOT_RUN: Record<string, string> = {
  'npm install quadrille': 'it would fetch the package from the network',
  'npm install koffi': 'it would fetch the package from the network',
  'pip install nvidia-cuda-nvrtc': 'it would fetch the package from the network',
  'export QUADRILLE_NVRTC': 'it names files of a machine with a card',
  "document.querySelector('output')": 'it needs a page; tests/browser runs the library in one',
  "device: 'webgpu'": 'it needs a GPU; tests/webgpu runs it on SwiftShader',
  "device: 'cuda:*'": 'it needs as many cards as the machine has; tests/cuda runs it on emulated ones',
};

let workshop: Workshop;
let emulated: { absent: string | undefined; env: Record<string, string> };
/** Why snippets of machines without a card cannot run here. */
let unlike: string | undefined;
beforeAll(async () => {
  workshop = await Workshop.open();
  const missing = (await devices()).find(d => d.kind === 'cuda')?.missing;
  if (!missing?.startsWith('no CUDA driver'))
    unlike = `a machine without a driver: ${missing ?? 'it has one'}`;
  const { absent } = await import('../cuda/emulated.ts'); // sets the variables
  const { QUADRILLE_LIBCUDA = '', QUADRILLE_NVRTC = '', XDG_CACHE_HOME = '' } = process.env;
  const env = { QUADRILLE_LIBCUDA, QUADRILLE_NVRTC, XDG_CACHE_HOME, QUADRILLE_EMULATOR_DEVICES: '2' };
  emulated = { absent, env };
}, 120_000);
afterAll(() => workshop.close());

test('there are snippets, and each that is not run has a reason', () => {
  expect(all.length).toBeGreaterThan(60);
  const idle = all.filter(b => has(b, 'no-run'));
  for (const b of idle)
    expect(
      Object.keys(NOT_RUN).filter(line => b.body.includes(line)),
      `docs: ${b.page}:${b.line}`,
    ).not.toHaveLength(0);
  for (const line of Object.keys(NOT_RUN))
    expect(
      idle.some(b => b.body.includes(line)),
      `${line} is in no page`,
    ).toBe(true);
});

test('snippets have the types that they say', () => {
  expect(typeErrors(all)).toEqual([]);
});

describe.each(withBlocks)('%s', page => {
  const blocks = all.filter(b => b.page === page && !has(b, 'no-run'));
  const skipped = (b: Block) => (has(b, 'cuda') ? emulated.absent : has(b, 'no-card') ? unlike : undefined);
  const printed = new Map<Block, Printed>();
  beforeAll(async () => {
    for (const card of [false, true]) {
      const own = blocks.filter(b => has(b, 'cuda') === card && !skipped(b));
      const env = card ? emulated.env : {};
      const modules = own.filter(b => b.language === 'ts');
      for (const b of modules) await workshop.keep(b);
      const results = await workshop.modules(modules, env);
      modules.forEach((b, i) => printed.set(b, results[i]));
      for (const b of own) if (b.language === 'sh') printed.set(b, await workshop.command(b, env));
    }
    const said = [...printed].sort(([a], [b]) => a.line - b.line).map(([b, p]) => [b, textOf(p)] as const);
    if (process.env.UPDATE_DOCS) update(page, new Map(said));
  }, 120_000);

  test.each(blocks.map(b => [b.line, firstLine(b), b] as const))('line %i: %s', (_line, _first, block) => {
    if (skipped(block)) return console.warn(`skipped: ${skipped(block)}`);
    const result = printed.get(block)!;
    if (has(block, 'throws')) expect(result.error).not.toBeNull();
    else expect(result.error).toBeNull();
    if (!process.env.UPDATE_DOCS || !block.shown)
      expect(normalise(textOf(result))).toBe(normalise(block.shown?.body ?? ''));
  });
});

function textOf({ out, error }: Printed): string {
  return [out, error].filter(Boolean).join('\n');
}

/** A line to know it by. */
function firstLine({ body }: Block): string {
  const lines = body.split('\n').filter(l => l && !l.startsWith('import'));
  return lines[0]?.slice(0, 60) ?? '';
}
