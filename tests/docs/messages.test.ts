/** Messages that pages quote in tables are those of the source: every part between … is there. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const source = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(f => f.endsWith('.ts'))
  .map(f => readFileSync(`src/${f}`, 'utf8'))
  .join('\n');

/** The first cells of the table below a heading. */
function firstCells(page: string, heading: string): string[] {
  const text = readFileSync(page, 'utf8');
  const from = text.indexOf(`${heading}\n`);
  expect(from, `${page} has ${heading}`).toBeGreaterThan(0);
  const lines = text.slice(from).split('\n');
  const start = lines.findIndex(l => l.startsWith('|'));
  const end = lines.findIndex((l, i) => i > start && !l.startsWith('|'));
  // below its head
  return lines.slice(start + 2, end).map(row => row.split('|')[1].trim().replaceAll('`', ''));
}

test.each([
  ...firstCells('docs/errors.md', '## What a warning means'),
  ...firstCells('docs/common-errors.md', '### Others'),
])('%s', message => {
  for (const part of message.split('…')) expect(source).toContain(part.replace(/^[,) ]+|[( ]+$/g, ''));
});
