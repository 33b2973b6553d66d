/**
 * What runs leave on a card for the next one: loaded kernels, tables of rules, and memory. Loading a kernel and allocating
 * memory take about a millisecond each, as long as a small integral.
 */
import type { Rule } from '../../tasks/rules.ts';
import type { Buffer } from './card.ts';
import type { Kernels } from './module.ts';
import type { PreparedRule } from './regions.ts';

/** Kernels that are kept, at most. */
const MAX_KERNELS = 64;
/** Buffers of one name that are kept, at most. */
const MAX_BUFFERS = 4;
/** Buffers of more bytes are given back at once. */
const MAX_KEPT_BYTES = 2 ** 26;

export class CardCache {
  readonly #modules = new Map<string, Kernels>();
  readonly #buffers = new Map<string, Buffer[]>();
  readonly rules = new Map<Rule, PreparedRule>();

  /** Kernels by a key that determines them; those that were used least recently make room. */
  module(key: string, make: () => Kernels): Kernels {
    const module = this.#modules.get(key) ?? make();
    this.#modules.delete(key);
    this.#modules.set(key, module);
    const [oldest] = this.#modules;
    if (this.#modules.size > MAX_KERNELS) {
      this.#modules.delete(oldest[0]);
      oldest[1].close();
    }
    return module;
  }

  has(key: string): boolean {
    return this.#modules.has(key);
  }

  /** A buffer that was kept under this name, if there is one. */
  take(name: string): Buffer | undefined {
    return this.#buffers.get(name)?.pop();
  }

  give(name: string, buffer: Buffer): void {
    const kept = this.#buffers.get(name) ?? [];
    this.#buffers.set(name, kept);
    if (buffer.size > MAX_KEPT_BYTES || kept.length >= MAX_BUFFERS) buffer.close();
    else kept.push(buffer);
  }

  /** Gives all memory back; returns whether there was any. */
  clear(): boolean {
    const buffers = [...this.#buffers.values()].flat();
    this.#buffers.clear();
    for (const b of buffers) b.close();
    return buffers.length > 0;
  }
}
