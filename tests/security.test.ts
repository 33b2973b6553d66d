/** The claims of SECURITY.md that no other test makes. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { integrandOf } from '../src/cli/expression/integrand.ts';
import { CONSTANTS, FUNCTIONS } from '../src/cli/expression/names.ts';
import { UsageError } from '../src/cli/usage-error.ts';
import { Random } from './compiler/random.ts';

describe('the sources', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(f => f.endsWith('.ts'));
  const texts = new Map(files.map(f => [f.replaceAll('\\', '/'), readFileSync(`src/${f}`, 'utf8')]));
  const withText = (pattern: RegExp) => [...texts].filter(([, text]) => pattern.test(text)).map(([f]) => f);

  test('use modules of Node that open a connection or start a process for clusters alone', () => {
    const used = [...texts.values()].flatMap(text => [...text.matchAll(/'node:([\w/]+)'/g)].map(m => m[1]));
    const known = ['crypto', 'fs', 'fs/promises', 'module', 'os', 'path', 'url', 'worker_threads'];
    expect([...new Set(used)].sort()).toEqual([...known, 'child_process', 'net'].sort());
    expect(withText(/'node:(child_process|net)'/)).toEqual(['cli/commands/cluster.ts']);
    expect(withText(/'@nats-io\//).every(f => f.startsWith('devices/cluster/'))).toBe(true);
    expect(withText(/\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon)\(/)).toEqual([]);
  });
  test('write files in three places', () => {
    const writes =
      /\b(writeFile|appendFile|mkdir|createWriteStream|copyFile|rename|symlink|mkdtemp)(Sync)?\(/;
    expect(withText(writes)).toEqual([
      'cli/commands/cluster.ts',
      'cli/commands/integrate.ts',
      'devices/cuda/kernel-cache.ts',
    ]);
  });
});

describe('an expression', () => {
  const calls = [...FUNCTIONS.values()].map(f => f.js);
  const words = new Set([...calls, ...CONSTANTS.values(), 'x', 'y', 'p.a', 'p']);
  /** Whether a text has nothing but numbers, operators, brackets and these words. */
  const isPlain = (js: string) =>
    (js.match(/[\p{L}_$][\p{L}\p{N}_$.]*/gu) ?? []).every(w => words.has(w) || /^e\d*$/.test(w)) &&
    !/[^\p{L}\p{N}_.\s+\-*/%<>=!?:&|(),[\]{}]/u.test(js);
  // biome-ignore format: one kind per line
  const parts = [
    'x', 'y', 'a', '1', '.5', '1e3', 'sin(', 'erf(', ')', '(', '+', '-', '*', '/', '^', '?', ':', '<', '&&', ',', ' ',
    'constructor', '__proto__', 'process', 'require', 'import', 'globalThis', 'this', 'eval', 'Function', 'new', 'await',
    '"', "'", '`', '${', '}', '{', '[', ']', ';', '=', '=>', '.', '\\', '\\u0061', '//', '/*', '*/', '\n', '\u2028', '\0',
    '<!--', '#', '@', 'π', '∞', '\u2e2f', 'Ⅷ',
  ];

  test('of 20,000 mutated ones, each is refused or becomes a function of numbers, operators and known names', () => {
    const random = new Random(13);
    let accepted = 0;
    for (let i = 0; i < 20_000; i++) {
      // half of them from the parts that make sense, so that many are accepted
      const few = i % 2 === 0 ? 21 : parts.length;
      const text = Array.from({ length: 1 + random.below(7) }, () => parts[random.below(few)]).join('');
      try {
        const { text: js } = integrandOf(text, ['x', 'y'], ['a']);
        accepted++;
        expect(isPlain(js.replace(/^\(\[x, y\](, p)?(, \{ \w+ \})?\) => /, '')), `${text} became ${js}`).toBe(
          true,
        );
      } catch (e) {
        if (!(e instanceof UsageError)) throw e;
      }
    }
    expect(accepted).toBeGreaterThan(500);
  });
  test('every letter that a name may have is one that JavaScript can read', () => {
    for (const name of ['π', 'é', '变', '𝛼', 'Ⅷ', '℘', 'x٣'])
      expect(typeof integrandOf(name, [name], []).f).toBe('function');
    expect(() => integrandOf('\u2e2f', ['\u2e2f'], [])).toThrow(UsageError);
  });
});
