/** docs/api.md says what the doc comments say. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('docs/api.md is what scripts/api.mjs makes of the sources now', () => {
  const made = execFileSync(process.execPath, ['scripts/api.mjs', '--print'], { encoding: 'utf8' });
  expect(made, 'run: node scripts/api.mjs').toBe(readFileSync('docs/api.md', 'utf8'));
});

test('every export of src/index.ts is on it, and every member is explained', () => {
  const page = readFileSync('docs/api.md', 'utf8');
  const index = readFileSync('src/index.ts', 'utf8');
  const names = [...index.matchAll(/export (?:type )?\{([^}]*)\}/g)]
    .flatMap(([, list]) => list.split(','))
    .map(n => n.replace(/\btype\b/, '').trim())
    .filter(Boolean);
  expect(names.length).toBeGreaterThan(15);
  for (const name of names) expect(page).toMatch(new RegExp(`^### \`?${name}\\b`, 'm'));
  const rows = page.split('\n').filter(l => l.startsWith('| `'));
  const silent = rows.filter(l => l.replaceAll('\\|', '').split('|')[3].trim() === '');
  expect(silent, 'members without a doc comment').toEqual([]);
});
