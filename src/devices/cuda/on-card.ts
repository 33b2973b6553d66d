/**
 * What a session has on its card: the integrand with its buffers, and the objects that run each kind of task. They are kept for the
 * next session with the same integrand (card-cache.ts), which binds its own params.
 */
import type { CompiledProgram } from '../../integrand/bound.ts';
import type { Program } from '../../integrand/ir.ts';
import type { Card } from './card.ts';
import { CudaHeavy } from './heavy.ts';
import { CudaProgram } from './program.ts';
import { CudaRegions } from './regions.ts';
import { CudaSampling } from './sampling.ts';
import { CudaWitness } from './witness.ts';

interface OnePass {
  program: CudaProgram;
  sampling: CudaSampling;
  /** Whether the params of the session are on the card. */
  bound: boolean;
}

export class OnCard {
  readonly integrand: Program;
  readonly program: CudaProgram;
  readonly regions: CudaRegions;
  readonly witness: CudaWitness;
  readonly sampling: CudaSampling;
  readonly heavy: CudaHeavy;
  /** Programs for passes over some of the results, by these. */
  readonly #passes = new Map<string, OnePass>();
  /** Kinds of tasks whose kernels are compiled (null) or being compiled. */
  readonly kinds = new Map<string, Promise<void> | null>();

  constructor(card: Card, integrand: CompiledProgram) {
    this.integrand = integrand.program;
    this.program = new CudaProgram(card, integrand);
    this.regions = new CudaRegions(this.program);
    this.witness = new CudaWitness(this.program, this.regions);
    this.sampling = new CudaSampling(this.program);
    this.heavy = new CudaHeavy(this.program, this.sampling);
  }

  /** The program for a pass over some of the results. */
  pass(results: readonly number[], narrow: () => CompiledProgram): OnePass {
    const key = results.join();
    const known = this.#passes.get(key);
    if (known) return known;
    const program = new CudaProgram(this.program.card, narrow());
    const pass = { program, sampling: new CudaSampling(program), bound: false };
    this.#passes.set(key, pass);
    return pass;
  }

  /** Takes note that there will be other params. */
  rebound(): void {
    this.sampling.forgetAhead();
    for (const pass of this.#passes.values()) {
      pass.bound = false;
      pass.sampling.forgetAhead();
    }
  }

  /** Bytes of all buffers. */
  get bytes(): number {
    let bytes = this.program.bytes;
    for (const { program } of this.#passes.values()) bytes += program.bytes;
    return bytes;
  }

  /** Lets the card unload its kernels. */
  releaseKernels(): void {
    for (const { program } of [this, ...this.#passes.values()]) program.releaseKernels();
  }

  /** Makes it ready for another session: what it learned is nobody's. */
  reset(): this {
    for (const { sampling } of [this, ...this.#passes.values()]) sampling.reset();
    this.rebound();
    // what failed may be tried again
    for (const [kind, job] of this.kinds) if (job) this.kinds.delete(kind);
    return this;
  }

  /** Gives its buffers to others. */
  close(): void {
    this.program.close();
    for (const { program } of this.#passes.values()) program.close();
  }
}
