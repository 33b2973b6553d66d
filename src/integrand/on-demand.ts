/**
 * Code that most integrals do not need, such as domains that are no boxes, or Bessel functions. A bundler makes files of their own of
 * it, and a page loads them when an integral first asks for them.
 *
 * Checking and compiling are synchronous, and find out on their way what they need. So they are tried: what is not loaded yet is
 * thrown as `NotLoaded`, `loading` loads it, and tries again from the start. Lowering proceeds in the same way where a guess
 * proves wrong (`Restart`).
 */

/** Thrown where code is needed that is not loaded yet. */
export class NotLoaded extends Error {
  readonly load: () => Promise<void>;

  constructor(load: () => Promise<void>) {
    super('A part of the library is not loaded yet.');
    this.load = load;
  }
}

/** A module, or what is made of it, that is loaded when it is first needed. */
export class OnDemand<T> {
  readonly #import: () => Promise<T>;
  #module: T | undefined;

  constructor(load: () => Promise<T>) {
    this.#import = load;
  }

  /** The module; throws `NotLoaded` before it is there. */
  get now(): T {
    if (this.#module === undefined) throw new NotLoaded(() => this.load());
    return this.#module;
  }

  async load(): Promise<void> {
    if (this.#module === undefined) this.provide(await this.#import());
  }

  /** For callers that have the module already, and cannot wait. */
  provide(module: T): void {
    this.#module = module;
  }
}

/** What `work` gives, once all is loaded that it needs. */
export async function loading<T>(work: () => T): Promise<T> {
  for (;;) {
    try {
      return work();
    } catch (e) {
      if (!(e instanceof NotLoaded)) throw e;
      await e.load();
    }
  }
}
