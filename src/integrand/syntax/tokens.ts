/**
 * Tokens of JavaScript, read one at a time. What `/` and `}` begin depends on where they stand, which only the parser knows: it
 * asks for a regular expression, or for the rest of a template, where one may begin.
 */

export type TokenKind = 'name' | 'private' | 'number' | 'string' | 'punctuator' | 'template' | 'end';

export interface Token {
  kind: TokenKind;
  /** A name with its escapes resolved, a punctuator, or the text as it stands. */
  text: string;
  start: number;
  end: number;
  /** Whether a line ends before it. */
  newLine: boolean;
  /** A name with an escape is no keyword. */
  escaped?: boolean;
}

/** Longest first. */
const PUNCTUATORS =
  /(?:>>>=|\.\.\.|===|!==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|\?\?=|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?!\d)|\+\+|--|\+=|-=|\*=|\/=|%=|&=|\|=|\^=|<<|>>|\*\*|[{}()[\];,<>+\-*/%&|^!~?:=.@#])/y;
const SPACE = /(?:[\s\uFEFF]|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/)+/y;
const NAME =
  /(?:[\p{ID_Start}$_]|\\u[\da-fA-F]{4}|\\u\{[\da-fA-F]+\})(?:[\p{ID_Continue}$\u200c\u200d]|\\u[\da-fA-F]{4}|\\u\{[\da-fA-F]+\})*/uy;
const NUMBER =
  /(?:0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?[\d_]+)?)n?/y;
const STRING = /"(?:[^"\\\n\r]|\\(?:\r\n|[\s\S]))*"|'(?:[^'\\\n\r]|\\(?:\r\n|[\s\S]))*'/y;
const REGEX = /\/(?:[^/\\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])+\/[\p{ID_Continue}$]*/uy;
/** What stands between two braces of a template, and what ends it. */
const CHUNK = /((?:[^`\\$]|\\(?:\r\n|[\s\S])|\$(?!\{))*)(`|\$\{)/y;
const LINE_END = /[\n\r\u2028\u2029]/;

/** An error of the text, at a position of it. */
export class ParseError extends SyntaxError {
  readonly pos: number;

  constructor(message: string, pos: number) {
    super(message);
    this.pos = pos;
  }
}

export class Tokens {
  readonly text: string;
  token: Token;
  /** The end of the token before. */
  lastEnd = 0;

  constructor(text: string) {
    this.text = text;
    this.token = this.#read(0);
  }

  /** Goes on to the next token, and returns the one that was left. */
  next(): Token {
    const { token } = this;
    this.lastEnd = token.end;
    this.token = this.#read(token.end);
    return token;
  }

  /** The token after this one. */
  peek(): Token {
    return this.#read(this.token.end);
  }

  is(text: string): boolean {
    const { token } = this;
    return token.text === text && (token.kind === 'punctuator' || (token.kind === 'name' && !token.escaped));
  }

  take(text: string): boolean {
    const found = this.is(text);
    if (found) this.next();
    return found;
  }

  expect(text: string): Token {
    if (!this.is(text)) this.unexpected();
    return this.next();
  }

  unexpected({ kind, start }: Token = this.token): never {
    throw new ParseError(kind === 'end' ? 'Unexpected end of the text' : 'Unexpected token', start);
  }

  /** The regular expression that begins at this token, which was taken for a division. */
  regex(): { pattern: string; flags: string } {
    const whole = this.#match(REGEX, this.token.start);
    if (whole === undefined) this.unexpected();
    this.token = { ...this.token, end: this.token.start + whole.length };
    const close = whole.lastIndexOf('/');
    return { pattern: whole.slice(1, close), flags: whole.slice(close + 1) };
  }

  /** The text of a template from this token on, a ` or }, up to the next ${ or `; the token after that follows. */
  chunk(): { raw: string; start: number; last: boolean } {
    const start = this.token.start + 1;
    CHUNK.lastIndex = start;
    const found = CHUNK.exec(this.text);
    if (!found) throw new ParseError('Unterminated template', start);
    this.token = { ...this.token, end: start + found[0].length };
    this.next();
    return { raw: found[1], start, last: found[2] === '`' };
  }

  #match(pattern: RegExp, at: number): string | undefined {
    pattern.lastIndex = at;
    return pattern.exec(this.text)?.[0];
  }

  #read(from: number): Token {
    const space = this.#match(SPACE, from) ?? '';
    const start = from + space.length;
    const newLine = space !== '' && LINE_END.test(space);
    const token = (kind: TokenKind, whole: string, text = whole): Token => ({
      kind,
      text,
      start,
      end: start + whole.length,
      newLine,
    });
    if (start >= this.text.length) return token('end', '');
    const c = this.text[start];
    const name = this.#match(NAME, start);
    if (name !== undefined)
      return name.includes('\\')
        ? { ...token('name', name, unescaped(name)), escaped: true }
        : token('name', name);
    if (/\d/.test(c) || (c === '.' && /\d/.test(this.text[start + 1] ?? '')))
      return token('number', this.#match(NUMBER, start)!);
    if (c === '"' || c === "'") {
      const string = this.#match(STRING, start);
      if (string === undefined) throw new ParseError('Unterminated string constant', start);
      return token('string', string);
    }
    if (c === '`') return token('template', c);
    if (c === '#') {
      const own = this.#match(NAME, start + 1);
      if (own !== undefined) return token('private', `#${own}`, unescaped(own));
    }
    const punctuator = this.#match(PUNCTUATORS, start);
    if (punctuator === undefined) throw new ParseError(`Unexpected character '${c}'`, start);
    return token('punctuator', punctuator);
  }
}

const SIMPLE: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', v: '\v', f: '\f' };
const ESCAPE =
  /\\(?:u\{([\da-fA-F]+)\}|u([\da-fA-F]{4})|x([\da-fA-F]{2})|([0-3][0-7]{0,2}|[4-7][0-7]?)|(\r\n|[\n\r\u2028\u2029])|([\s\S]))/g;

/** A text with its escapes resolved: of a name, a string or a template. */
export function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (_, long, unicode, hex, octal, line, other) => {
    const code = long ?? unicode ?? hex;
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    return line !== undefined ? '' : (SIMPLE[other] ?? other);
  });
}

/** The value of a number's text; one with the suffix n is a bigint. */
export function numberOf(text: string): number | bigint {
  const digits = text.replaceAll('_', '');
  if (digits.endsWith('n')) return BigInt(digits.slice(0, -1));
  return /^0[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number(digits);
}
