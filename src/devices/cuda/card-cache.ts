/**
 * What runs leave on a card for the next one: loaded kernels, tables of rules, and memory. Loading a kernel and allocating
 * memory take about a millisecond each, as long as a small integral; taking and giving back lists of 4e6 regions took a third of a run of 30 ms
 * (_trial_). What is kept is given back when a run finds no memory.
 */
import type { Program } from '../../integrand/ir.ts';
import type { Rule } from '../../tasks/rules.ts';
import type { Buffer } from './card.ts';
import type { Kernels } from './module.ts';
import type { OnCard } from './on-card.ts';
import type { PreparedRule } from './regions.ts';

/** Kernels that are kept, at most, beside those in use. */
const MAX_KERNELS = 64;
/** Buffers of one name that are kept, at most. */
const MAX_BUFFERS = 4;
/** Sets of objects of sessions that are kept, at most, and the bytes that the buffers of one set may have. */
const MAX_IDLE = 8;
const MAX_IDLE_BYTES = 2 ** 26;

/** Loaded kernels, and how many programs use them. */
interface Loaded {
  kernels: Kernels;
  users: number;
}

/** Objects of a session that has ended, and bytes of their buffers. */
interface Idle {
  own: OnCard;
  bytes: number;
}

export class CardCache {
  /** Those that were asked for least recently come first. */
  readonly #modules = new Map<string, Loaded>();
  readonly #buffers = new Map<string, Buffer[]>();
  /** Those that were used least recently come first. */
  readonly #idle: Idle[] = [];
  readonly rules = new Map<Rule, PreparedRule>();
  readonly #most: () => number;
  /** Bytes that are kept. */
  bytes = 0;

  /** Keeps at most so many bytes. */
  constructor(most: () => number) {
    this.#most = most;
  }

  /**
   * Kernels by a key that determines them, for a program that says `release` when it uses them no more. Others make room, those that were
   * asked for least recently: unloaded under a long run, they ended it with CUDA_ERROR_INVALID_HANDLE once integrals beside it
   * had loaded 64.
   */
  module(key: string, make: () => Kernels): Kernels {
    const module = this.#modules.get(key) ?? { kernels: make(), users: 0 };
    module.users++;
    this.#modules.delete(key);
    this.#modules.set(key, module);
    this.#makeRoom();
    return module.kernels;
  }

  release(key: string): void {
    this.#modules.get(key)!.users--;
    this.#makeRoom();
  }

  #makeRoom(): void {
    let over = this.#modules.size - MAX_KERNELS;
    for (const [key, { kernels, users }] of this.#modules) {
      if (over <= 0) return;
      if (users > 0) continue;
      this.#modules.delete(key);
      kernels.close();
      over--;
    }
  }

  has(key: string): boolean {
    return this.#modules.has(key);
  }

  /** A buffer that was kept under this name, if there is one. */
  take(name: string): Buffer | undefined {
    const buffer = this.#buffers.get(name)?.pop();
    this.bytes -= buffer?.size ?? 0;
    return buffer;
  }

  give(name: string, buffer: Buffer): void {
    const kept = this.#buffers.get(name) ?? [];
    this.#buffers.set(name, kept);
    if (this.bytes + buffer.size > this.#most() || kept.length >= MAX_BUFFERS) return buffer.close();
    kept.push(buffer);
    this.bytes += buffer.size;
  }

  /** The objects of a session with this integrand that has ended, if any are kept. */
  takeIdle(program: Program): OnCard | undefined {
    const at = this.#idle.findIndex(({ own }) => own.integrand === program);
    if (at < 0) return undefined;
    const [{ own, bytes }] = this.#idle.splice(at, 1);
    this.bytes -= bytes;
    return own;
  }

  /** Keeps the objects of a session for the next one with its integrand: making them takes as long as an iteration of a small run. */
  giveIdle(own: OnCard): void {
    own.releaseKernels();
    const { bytes } = own;
    if (bytes > MAX_IDLE_BYTES || this.bytes + bytes > this.#most()) return own.close();
    this.#idle.push({ own, bytes });
    this.bytes += bytes;
    if (this.#idle.length > MAX_IDLE) this.#dismiss();
  }

  /** Gives the buffers of the objects that were used least recently to others; returns whether there were any. */
  #dismiss(): boolean {
    const idle = this.#idle.shift();
    if (!idle) return false;
    this.bytes -= idle.bytes;
    idle.own.close();
    return true;
  }

  /** Gives all memory back; returns whether there was any. */
  clear(): boolean {
    while (this.#dismiss());
    const buffers = [...this.#buffers.values()].flat();
    this.#buffers.clear();
    this.bytes = 0;
    for (const b of buffers) b.close();
    return buffers.length > 0;
  }
}
