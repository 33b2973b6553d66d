/**
 * Two ways to bring an integrand and a kernel together, as JavaScript engines have two compilers.
 *
 * Linked: the kernel is compiled once for the machine, whatever is integrated, and kept on disk; of a new integrand only the
 * integrand is compiled, in less than a tenth of a second, and the driver links both in 1 to 4 ms. The integrand is a call for each
 * point: 1e9 samples take 1.1 to 1.5 times as long. Inlined: the integrand stands in the kernel's text, and NVRTC takes 0.4 to
 * 0.7 s to optimise it (_trials_ on an H200).
 *
 * So a run begins with linked kernels, unless those with the integrand inside are on disk already. When the host has waited for linked
 * kernels about as long as compiling takes, the others are compiled on a thread, and take over with the next launch.
 * Both give the same bits: nothing is fused across a call or without one (`--fmad=false`).
 *
 * The environment variable QUADRILLE_TIER=linked or inlined allows one of them alone, to compare them or where one fails.
 */
import type { Card } from './card.ts';
import { CudaError } from './driver.ts';
import type { Kernels, Module } from './module.ts';
import type { Unit } from './nvrtc.ts';
import { phase } from './phases.ts';

/**
 * Milliseconds of waiting for linked kernels after which the inlined ones are compiled. Compiling takes 400 to 700, and a process cannot
 * end before it has ended.
 */
const PATIENCE_MS = 300;

const VARIABLE = 'QUADRILLE_TIER';
export type Tier = 'linked' | 'inlined' | 'both';

export function tierAsked(): Tier {
  const { [VARIABLE]: asked = '' } = process.env;
  if (asked === '') return 'both';
  if (asked === 'linked' || asked === 'inlined') return asked;
  throw new CudaError(`${VARIABLE} is '${asked}'; it may be 'linked' or 'inlined', or not be set.`);
}

/** The units of a kernel with the integrand. */
export interface Units {
  /** The kernel with the integrand in its text. */
  inlined: Unit;
  /** The kernel and the integrand, which are linked. */
  linked: readonly Unit[];
}

export class TieredKernels implements Kernels {
  readonly #card: Card;
  readonly #units: Units;
  readonly #tier: Tier;
  #linked: Module | null = null;
  #inlined: Module | null = null;
  /** What is known of the inlined kernels. */
  #state: 'not asked' | 'missing' | 'compiling' | 'compiled' = 'not asked';
  /** Kernels that are known to start with as many threads as they are given. */
  readonly #fitting = new Set<string>();

  constructor(card: Card, units: Units, tier: Tier) {
    this.#card = card;
    this.#units = units;
    this.#tier = tier;
  }

  launch(name: string, blocks: number, threads: number, shared: number, ...params: ArrayBufferView[]): void {
    this.#ready(name, threads).launch(name, blocks, threads, shared, ...params);
  }

  /** Linked kernels, or inlined ones as soon as there are any. */
  #ready(name: string, threads: number): Module {
    if (this.#inlined) return this.#inlined;
    if (this.#state === 'not asked')
      this.#state = isInlined(this.#card, this.#units, this.#tier) ? 'compiled' : 'missing';
    if (this.#state === 'compiled') return this.#inline();
    try {
      this.#linked ??= this.#card.linked(this.#units.linked);
      if (!this.#fitting.has(name) && this.#linked.mostThreads(name) < threads) return this.#inline();
      this.#fitting.add(name);
    } catch (e) {
      if (!(e instanceof CudaError)) throw e;
      const inlined = this.#inline(); // an integrand that cannot be compiled ends here, with its own error
      this.#card.linkFailure = e.message;
      phase(`not linked: ${e.message}`, () => {});
      return inlined;
    }
    if (this.#state === 'missing' && this.#tier === 'both' && this.#linked.waited > PATIENCE_MS)
      this.#compile();
    return this.#linked;
  }

  /** Compiles the inlined kernels on a thread. */
  async #compile(): Promise<void> {
    this.#state = 'compiling';
    await this.#card.compileAhead(this.#units.inlined);
    // after an error the linked ones go on, and nothing is tried again
    if (this.#card.isCompiled(this.#units.inlined)) this.#state = 'compiled';
  }

  #inline(): Module {
    this.#inlined ??= this.#card.module(this.#units.inlined);
    return this.#inlined;
  }

  close(): void {
    this.#linked?.close();
    this.#inlined?.close();
  }
}

/** The units that have to be compiled before a kernel can be used. */
export function unitsNeeded(card: Card, units: Units, tier: Tier): readonly Unit[] {
  return isInlined(card, units, tier) ? [units.inlined] : units.linked;
}

/** Whether a kernel begins with the integrand inside. */
function isInlined(card: Card, { inlined }: Units, tier: Tier): boolean {
  if (tier === 'inlined' || card.linkFailure !== undefined) return true;
  return tier === 'both' && card.isCompiled(inlined);
}
