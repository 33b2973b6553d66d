/** The CUDA device: one NVIDIA GPU; session.ts runs tasks on it. It is loaded only when a CUDA device is asked for. */
import { type BoundProgram, compiledOnly } from '../../integrand/bound.ts';
import type { Program } from '../../integrand/ir.ts';
import type { Device, Session } from '../device.ts';
import { Card } from './card.ts';
import { CudaSession } from './session.ts';

export class CudaDevice implements Device {
  readonly name: string;
  readonly kind = 'cuda';
  readonly epsilon = 2 ** -53;
  readonly card: Card;
  /** Integrands that were compiled, or are being compiled. */
  readonly #begun = new WeakSet<Program>();

  constructor(ordinal = 0) {
    this.card = new Card(ordinal);
    this.name = this.card.name;
  }

  async open(program: BoundProgram): Promise<Session> {
    const integrand = compiledOnly(program, this.name);
    const session = new CudaSession(this.card, integrand);
    // on a thread, while this one may have to wait for the card's context
    if (!this.#begun.has(integrand.program)) session.compileIntegrand();
    this.#begun.add(integrand.program);
    this.card.use();
    return session;
  }

  close(): Promise<void> {
    return this.card.turns.take(undefined, async () => this.card.close());
  }
}
