/** Every command of docs/cli.md and of the README, and every example of the help texts, works as it stands. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PAGES } from '../../src/cli/commands/help.ts';
import { type Built, buildCli } from './built.ts';

const text = readFileSync('docs/cli.md', 'utf8');
const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, body]) => ({
  language,
  body,
}));
const commands = blocks.filter(b => b.language === 'sh').flatMap(b => b.body.trimEnd().split('\n'));
const files = blocks.filter(b => b.language === 'ts');
/** Data that the commands read; their first line is a comment with the name. */
const data = blocks.filter(b => b.language === 'csv');
const examples = Object.values(PAGES).flatMap(p => p.examples.map(e => e.replace(/\s+#.*/, '')));

let built: Built;
beforeAll(async () => {
  built = await buildCli();
  for (const { body } of files) await built.put(/^\/\/ (\S+)/.exec(body)![1], body);
  for (const { body } of data) await built.put(/^# (\S+)/.exec(body)![1], body);
  // what the examples of the help texts name
  await built.put('integrand.mjs', 'export default ([x, y]) => Math.exp(-x - y * y);');
});
afterAll(() => built.remove());

describe('docs/cli.md', () => {
  test('has commands and files', () => {
    expect(commands.length).toBeGreaterThan(20);
    expect(files.length).toBe(2);
    for (const c of commands) expect(c).toMatch(/^quadrille /);
  });
  test.each(commands)('%s', async command => {
    const { code, out, err } = await built.shell(command);
    expect(err).toBe('');
    expect(code).toBe(0);
    if (!command.includes(' > ')) expect(out).not.toBe('');
  });
  test('the line that it shows for the first command is what a pipe gets, but for the time', async () => {
    const [, shown] = /^ {4}(1\.\d.*)$/m.exec(text)!;
    const { out } = await built.shell(commands[0]);
    expect(out.trimEnd().replace(/[\d.]+ m?s$/, '')).toBe(shown.replace(/[\d.]+ m?s$/, ''));
  });
  test('the message that it shows is the one that is printed', async () => {
    const [, shown] = /( {4}error: 'xy'[\s\S]*?)\n\n/.exec(text)!;
    const { err } = await built.shell("quadrille 'sin(xy)' x,y=0..1");
    expect(shown.replace(/^ {4}/gm, '')).toBe(err.trimEnd());
  });
});

describe('README.md', () => {
  const shown = [...readFileSync('README.md', 'utf8').matchAll(/^npx (quadrille .*)$/gm)].map(m => m[1]);
  test('has commands', () => expect(shown.length).toBeGreaterThan(1));
  test.each(shown)('%s', async command => {
    const { code, out, err } = await built.shell(command);
    expect([code, err]).toEqual([0, '']);
    expect(out).not.toBe('');
  });
});

describe('examples of --help', () => {
  // the others are in docs/cli.md, or are configuration of a shell, or need a server (tests/cluster)
  const others = examples.filter(e => !commands.includes(e) && !/completion|bench|worker|cluster/.test(e));
  test.each(others)('%s', async command => {
    const { code, err } = await built.shell(command);
    expect(err).toBe('');
    expect(code).toBe(0);
  });
});
