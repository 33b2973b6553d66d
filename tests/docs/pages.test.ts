/** What pages link to is there, and the index names every page. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const pages = readdirSync('docs').filter(f => f.endsWith('.md'));
const read = (path: string) => readFileSync(path, 'utf8');
/** As GitHub makes them of headings. */
const anchorsOf = (path: string) =>
  [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe.each(pages)('docs/%s', page => {
  const path = `docs/${page}`;
  const text = read(path).replace(/^```[\s\S]*?^```$/gm, '');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link)
    .filter(l => !/^https?:/.test(l));
  test.each(links.length > 0 ? links : ['#'])('%s', link => {
    if (link === '#') return;
    const [file, anchor] = link.split('#');
    const target = file ? join(dirname(path), file) : path;
    expect(existsSync(target), target).toBe(true);
    if (anchor) expect(anchorsOf(target)).toContain(anchor);
  });
});

test('docs/README.md links to every page', () => {
  const index = read('docs/README.md');
  for (const page of pages) if (page !== 'README.md') expect(index).toContain(`](${page})`);
});
