/** What is packed: the documentation is in the package, and every link of it leads to a file that is there too. */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { draw } from '../../bench/picture/draw.ts';
import { runs } from '../../bench/picture/runs.ts';

// without its scripts: prepack would build
const { npmText } = (await import('../../scripts/npm.mjs' as string)) as { npmText(args: string[]): string };
const listed = npmText(['pack', '--dry-run', '--json', '--ignore-scripts']);
const packed: string[] = JSON.parse(listed)[0].files.map((f: { path: string }) => f.path);
const pages = packed.filter(f => f.endsWith('.md'));

test('the package has its pages', () => {
  expect(pages).toEqual(
    expect.arrayContaining(['README.md', 'docs/tutorial.md', 'docs/cli.md', 'examples/README.md']),
  );
  expect(packed).not.toContain('src/index.ts');
});

describe.each(pages)('%s', page => {
  const text = readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
  const links = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)|(?:src|srcset)="([^"]+)"/g)]
    .map(m => m[1] ?? m[2])
    .filter(l => !/^[a-z]+:/.test(l));
  test('links to what is packed', () => {
    const lost = links.filter(link => {
      const target = posix.join(posix.dirname(page), link);
      return !packed.some(f => f === target || f.startsWith(target.replace(/\/?$/, '/')));
    });
    expect(lost).toEqual([]);
  });
});

test('docs/picture.svg and docs/picture-dark.svg are what `npm run picture` makes', async () => {
  const { light, dark } = draw(await runs());
  // not toBe: a difference would print all of it
  expect(light === readFileSync('docs/picture.svg', 'utf8')).toBe(true);
  expect(dark === readFileSync('docs/picture-dark.svg', 'utf8')).toBe(true);
});
