/**
 * What runs leave on a card for the next one: loaded kernels, tables of rules, and memory. To load a kernel and to take
 * memory cost about a millisecond each, as much as a small integral.
 */
import type { Rule } from '../../tasks/rules.ts';
import type { Buffer, Module } from './card.ts';
import type { PreparedRule } from './regions.ts';

/** Kernels, and buffers of one name, that are kept at most; larger buffers are given back at once. */
const MOST_KERNELS = 64;
const MOST_BUFFERS = 4;
const LARGEST = 2 ** 26;

export class CardCache {
  readonly #modules = new Map<string, Module>();
  readonly #buffers = new Map<string, Buffer[]>();
  readonly rules = new Map<Rule, PreparedRule>();

  /** Kernels under a name that says all about them; the ones asked for longest ago make room. */
  module(key: string, make: () => Module): Module {
    const module = this.#modules.get(key) ?? make();
    this.#modules.delete(key);
    this.#modules.set(key, module);
    const [oldest] = this.#modules;
    if (this.#modules.size > MOST_KERNELS) {
      this.#modules.delete(oldest[0]);
      oldest[1].close();
    }
    return module;
  }

  has(key: string): boolean {
    return this.#modules.has(key);
  }

  /** A buffer that had this name before, if there is one. */
  take(name: string): Buffer | undefined {
    return this.#buffers.get(name)?.pop();
  }

  give(name: string, buffer: Buffer): void {
    const kept = this.#buffers.get(name) ?? [];
    this.#buffers.set(name, kept);
    if (buffer.size > LARGEST || kept.length >= MOST_BUFFERS) buffer.close();
    else kept.push(buffer);
  }

  /** Gives all memory back; whether there was any. */
  clear(): boolean {
    const buffers = [...this.#buffers.values()].flat();
    this.#buffers.clear();
    for (const b of buffers) b.close();
    return buffers.length > 0;
  }
}
