/** Splits an expression into numbers, names and operators, each with its place. */
import { UsageError } from '../usage-error.ts';

export interface Token {
  kind: 'number' | 'name' | 'operator' | 'end';
  text: string;
  start: number;
  end: number;
}

const NUMBER = /(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?/uy;
const WORD = /[\p{ID_Start}_][\p{ID_Start}\p{Nd}_]*|∞/uy;
const OPERATOR = /\*\*|<=|>=|==|!=|&&|\|\||[-+*/%^()?:<>!,−·×÷≤≥≠]/uy;

/** Other spellings of operators, as people type them or copy them from papers. */
const SAME = new Map([
  ['**', '^'],
  ['−', '-'],
  ['·', '*'],
  ['×', '*'],
  ['÷', '/'],
  ['≤', '<='],
  ['≥', '>='],
  ['≠', '!='],
  ['and', '&&'],
  ['or', '||'],
  ['not', '!'],
]);

/** Characters of other notations, and what to write instead. */
const ELSEWHERE: Record<string, string> = {
  '=': 'Compare with ==.',
  '&': 'Both conditions: &&. Either: ||.',
  '|': 'Either condition: ||. The absolute value: abs(x).',
  '[': 'Use round brackets.',
  '{': 'Use round brackets.',
  '²': 'Write powers as x^2.',
  '³': 'Write powers as x^3.',
  '√': 'Write roots as sqrt(x).',
  ';': 'An expression is one formula; longer programs go into a file: quadrille run FILE.',
  '.': 'Functions stand alone: exp(x), not Math.exp(x).',
};

export function tokens(text: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  const put = (kind: Token['kind'], shown: string) => {
    found.push({ kind, text: SAME.get(shown) ?? shown, start: at, end: at + shown.length });
    at += shown.length;
  };
  while (at < text.length) {
    const number = match(NUMBER);
    const word = match(WORD);
    const operator = match(OPERATOR);
    if (/\s/.test(text[at])) at++;
    else if (number !== undefined) put('number', number);
    else if (word !== undefined) put(SAME.has(word) ? 'operator' : 'name', word);
    else if (operator !== undefined) put('operator', operator);
    else {
      const sign = String.fromCodePoint(text.codePointAt(at)!);
      const place = { text, start: at, end: at + sign.length };
      throw new UsageError(`'${sign}' means nothing in an expression.`, ELSEWHERE[sign], place);
    }
  }
  found.push({ kind: 'end', text: '', start: text.length, end: text.length + 1 });
  return found;
}
