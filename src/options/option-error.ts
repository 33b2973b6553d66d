import { visible } from './visible.ts';
import { inWords, LIBRARY, type Text, type Worded, type Wording } from './wording.ts';

/** An option whose value makes no sense; `message` holds the function that was called, the reason and the remedy. */
export class OptionError extends TypeError implements Worded {
  override readonly name = 'OptionError';
  /** The option, as `relTol` or `vegas.bins`. */
  readonly option: string;
  /** Its value; undefined when the option itself is unknown. */
  readonly value: unknown;
  /** What is wrong, such as: `vegas.bins` is 3.5 */
  readonly reason: string;
  /** What to pass instead. */
  readonly remedy: string;
  readonly #texts: { reason: Text; remedy: Text };

  constructor(
    option: string,
    value: unknown,
    remedy: Text,
    reason: Text = w => `${w.quoted(option)} is ${shown(value)}`,
    caller = 'integrate',
  ) {
    const [what, cure] = [reason, remedy].map(text => visible(inWords(text, LIBRARY)));
    super(`${caller && `${caller}: `}${what}; ${cure}.`);
    this.option = option;
    this.value = value;
    this.reason = what;
    this.remedy = cure;
    this.#texts = { reason, remedy };
  }

  /** @internal the message in other words, without the function that was called */
  toText(wording: Wording): string {
    return `${inWords(this.#texts.reason, wording)}; ${inWords(this.#texts.remedy, wording)}.`;
  }

  /** @internal the same error of another function */
  calledBy(caller: string): OptionError {
    const { reason, remedy } = this.#texts;
    return new OptionError(this.option, this.value, remedy, reason, caller);
  }
}

/** Runs a check of options on behalf of a function: errors begin with the name of that function. */
export function checkedFor<T>(caller: string, check: () => T): T {
  try {
    return check();
  } catch (e) {
    throw e instanceof OptionError ? e.calledBy(caller) : e;
  }
}

/** How much of a string is shown. */
const LONGEST = 200;
const cut = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

function shown(value: unknown, depth = 0): string {
  if (typeof value === 'string') return `'${cut(value)}'`;
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value))
    return value.length > 6 || depth > 2 // a list may contain itself
      ? `an array of ${value.length}`
      : `[${Array.from(value, v => shown(v, depth + 1)).join(', ')}]`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}
