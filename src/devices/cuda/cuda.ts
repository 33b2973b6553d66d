/** The CUDA device: one NVIDIA GPU; what runs on it is in session.ts. Loaded only when it is asked for. */
import type { Device, DeviceIntegrand, Session } from '../device.ts';
import { Card } from './card.ts';
import { CudaError } from './driver.ts';
import type { CompiledIntegrand } from './program.ts';
import { CudaSession } from './session.ts';

export class CudaDevice implements Device {
  readonly name: string;
  readonly card: Card;

  constructor(ordinal = 0) {
    this.card = new Card(ordinal);
    this.name = this.card.name;
  }

  async open(integrand: DeviceIntegrand): Promise<Session> {
    return new CudaSession(this.card, compiled(integrand));
  }

  close(): Promise<void> {
    return this.card.turns.take(undefined, async () => this.card.close());
  }
}

/** An integrand that a GPU can run. */
export function compiled(integrand: DeviceIntegrand): CompiledIntegrand {
  if (integrand.kind === 'function')
    throw new CudaError(w => `a function as it is cannot run on a GPU; use ${w.setting('device', 'js')}.`);
  return integrand;
}
