/** Kernels that are loaded on a card, started by their names. */
import type { Card } from './card.ts';

const SHARED_SIZE = 8; // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES of cuFuncSetAttribute
const MAX_THREADS = 0; // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK of cuFuncGetAttribute

/** Kernels that can be started by name. */
export interface Kernels {
  /** Starts a kernel with `shared` bytes of shared memory per block. */
  launch(name: string, blocks: number, threads: number, shared: number, ...params: ArrayBufferView[]): void;
  close(): void;
}

export class Module implements Kernels {
  /** Milliseconds for which its kernels were waited for. */
  waited = 0;
  readonly #card: Card;
  readonly #module: number;
  readonly #functions = new Map<string, number>();
  readonly #shared = new Map<string, number>();

  constructor(card: Card, module: number) {
    this.#card = card;
    this.#module = module;
  }

  launch(name: string, blocks: number, threads: number, shared: number, ...params: ArrayBufferView[]): void {
    const card = this.#card;
    const { driver } = card;
    const fn = this.#function(name);
    // more than 48 KB of shared memory have to be requested
    if (shared > (this.#shared.get(name) ?? 48 * 1024)) {
      card.check(driver.cuFuncSetAttribute(fn, SHARED_SIZE, shared), `preparing ${name}`);
      this.#shared.set(name, shared);
    }
    const status = driver.cuLaunchKernel(fn, blocks, 1, 1, threads, 1, 1, shared, 0, params, null);
    card.check(status, `starting ${name}`);
    card.started(this);
  }

  /** Threads per block of a kernel, at most, by the registers that it and what is linked to it use. */
  mostThreads(name: string): number {
    const { driver } = this.#card;
    const fn = this.#function(name);
    return this.#card.get(p => driver.cuFuncGetAttribute(p, MAX_THREADS, fn), `asking about ${name}`);
  }

  #function(name: string): number {
    const card = this.#card;
    card.use();
    const known = this.#functions.get(name);
    if (known !== undefined) return known;
    const find = (p: unknown) => card.driver.cuModuleGetFunction(p, this.#module, name);
    const found = card.get(find, `looking for ${name}`);
    this.#functions.set(name, found);
    return found;
  }

  close(): void {
    this.#card.giveBack(driver => driver.cuModuleUnload(this.#module));
  }
}
