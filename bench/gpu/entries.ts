/** Integrands of the catalogue by their names, and as devices take them. */
import { lowerFor } from '../../tests/devices/program.ts';
import { catalogue } from '../../tests/integrands/catalogue.ts';
import type { Entry } from '../../tests/integrands/entry.ts';

export const entry = (name: string): Entry => catalogue.find(e => e.name === name)!;

export const opened = (e: Entry) => lowerFor(e.f as never, e.dims, e.params ?? {});
