/** An integrand as a device takes it. */
import type { DeviceIntegrand } from '../../src/devices/device.ts';
import type { Integrand } from '../../src/integrand/compile.ts';
import { lower } from '../../src/integrand/lower/lower.ts';
import { bind } from '../../src/integrand/params.ts';
import { read } from '../../src/integrand/read.ts';

export type { Integrand };

export function lowerFor(f: Integrand, dims: number): DeviceIntegrand {
  const program = lower(read(f), dims, {});
  return { kind: 'program', program, params: bind(program.params, {}) };
}
