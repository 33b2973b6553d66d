/** Broken programs: texts with tokens taken out, put in, doubled or swapped, and soups of tokens. */
import { tokenizer } from 'acorn';
import type { Random } from './random.ts';

const TOKENS =
  `x p m t [ ] ( ) { } , ; . => = == === != < > + - * / % ** ++ -- ! ~ & | ^ && || ?? ? : ... 0 1 2.5 1e9 "s" 'a' \`t\` /r/ 7n
  let const var if else for while do break continue return function true false null undefined NaN this new typeof
  void delete in of instanceof try catch throw switch case class async await yield arguments super import
  Math.sin Math.random Math.max Math x[0] x[1] x.length x.map x.reduce p.a p.on p.data p.curve m.erf Array Number
  Object String JSON Symbol eval [1,2] {a:1} (a)=>a console window globalThis`.split(/\s+/);

/** A text cut into the pieces that JavaScript reads; undefined if it cannot be. */
export function pieces(text: string): string[] | undefined {
  try {
    return [...tokenizer(text, { ecmaVersion: 'latest' })].map(t => text.slice(t.start, t.end));
  } catch {
    return undefined;
  }
}

/** One to three random changes. */
export function mutate(tokens: readonly string[], r: Random): string {
  const list = [...tokens];
  for (let k = 1 + r.below(3); k > 0; k--) {
    const [i, j] = [r.below(list.length), r.below(list.length)];
    const change = r.below(5);
    if (change === 0) list.splice(i, 1);
    else if (change === 1) list.splice(i, 0, r.pick(TOKENS));
    else if (change === 2) [list[i], list[j]] = [list[j], list[i]];
    else if (change === 3) list[i] = r.pick(TOKENS);
    else list.splice(i, 0, list[j]);
  }
  return list.join(' ');
}

export function soup(r: Random): string {
  return Array.from({ length: 1 + r.below(12) }, () => r.pick(TOKENS)).join(' ');
}
