/**
 * Reads the members of a program that came as JSON: each has the type and the size that its reader needs, or a ProgramError is thrown that
 * says where in the program it stands.
 */

/** A program that is not what `encodeProgram` writes. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
  /** Where in the program, as in body[3].then[0]; empty when it is no program at all. */
  readonly place: string;

  constructor(reason: string, place = '') {
    super(
      `The integrand program cannot be used: ${reason}${place && ` (at ${place})`}. Compile the integrand again, with this release, and send that.`,
    );
    this.place = place;
  }
}

export type Members = Record<string, unknown>;

const SPECIAL = new Map([NaN, Infinity, -Infinity, -0].map(v => [Object.is(v, -0) ? '-0' : String(v), v]));

export class CheckedMembers {
  /** The way to what is being read. */
  readonly #path: (string | number)[] = [];

  protected whole(value: unknown, least: number, most: number): number {
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most)
      return value + 0;
    return this.fail(`a whole number from ${least} to ${most} is needed`);
  }

  protected number(value: unknown): number {
    if (typeof value === 'number') return value;
    const special = typeof value === 'string' ? SPECIAL.get(value) : undefined;
    return special ?? this.fail('a number is needed');
  }

  protected object(value: unknown): Members {
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Members;
    return this.fail('an object is needed');
  }

  /** The members of an object that has no others than these. */
  protected only(value: unknown, names: readonly string[]): Members {
    const v = this.object(value);
    for (const name of Object.keys(v))
      if (!names.includes(name)) this.fail('an object has a member that is not known');
    return v;
  }

  protected list<T>(value: unknown, most: number, read: (item: unknown, index: number) => T): T[] {
    if (!Array.isArray(value)) return this.fail('a list is needed');
    if (value.length > most) this.fail(`a list has ${value.length} items, and at most ${most} are read`);
    return value.map((item, i) => this.in(i, () => read(item, i)));
  }

  protected in<T>(step: string | number, read: () => T): T {
    this.#path.push(step);
    const result = read();
    this.#path.pop();
    return result;
  }

  protected fail(reason: string): never {
    const place = this.#path
      .map((p, i) => (typeof p === 'number' ? `[${p}]` : `${i ? '.' : ''}${p}`))
      .join('');
    throw new ProgramError(reason, place);
  }
}
