/**
 * The fenced blocks of the pages in docs/. A `ts` or `sh` block is run; the `text` block after it is what it prints.
 * Words behind the language say more:
 *
 *     ts no-run    it cannot run here; snippets.test.ts says why
 *     ts throws    it shows an error: the last line or lines of its text are that error
 *     ts cuda      it needs a card: it runs on the emulator of tests/cuda
 *     ts no-card   it shows what a machine without an NVIDIA card does, and is skipped on others
 */
import { readFileSync, writeFileSync } from 'node:fs';

export interface Block {
  page: string;
  /** The line of its fence, from 1. */
  line: number;
  language: 'ts' | 'sh';
  marks: string[];
  body: string;
  /** What it prints, where the page shows that. */
  shown?: { body: string; start: number; end: number };
}

const FENCE = /^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm;

export function blocksOf(page: string): Block[] {
  const text = readFileSync(page, 'utf8');
  const blocks: Block[] = [];
  for (const { 0: whole, 1: language, 2: marks, 3: body, index } of text.matchAll(FENCE)) {
    const line = text.slice(0, index).split('\n').length;
    if (language === 'ts' || language === 'sh')
      blocks.push({ page, line, language, marks: marks.trim().split(/\s+/).filter(Boolean), body });
    else if (language === 'text') {
      const last = blocks.at(-1);
      if (!last || last.shown) throw new Error(`${page}:${line}: a text block that no snippet prints`);
      const start = index + whole.indexOf('\n') + 1;
      last.shown = { body, start, end: start + body.length };
    }
  }
  return blocks;
}

export const has = (block: Block, mark: string): boolean => block.marks.includes(mark);

/** Times vary; all else is the same wherever it runs. */
export function normalise(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map(l => l.trimEnd().replace(/\b\d+(\.\d+)? (ms|s|min)$/, '… ms'))
    .join('\n');
}

/** Writes what was printed into a page, in the place of what it shows. */
export function update(page: string, printed: ReadonlyMap<Block, string>): void {
  let text = readFileSync(page, 'utf8');
  for (const [{ shown }, out] of [...printed].reverse()) {
    if (!shown || normalise(shown.body) === normalise(out)) continue;
    text = `${text.slice(0, shown.start)}${out.trimEnd()}\n${text.slice(shown.end)}`;
  }
  writeFileSync(page, text);
}
