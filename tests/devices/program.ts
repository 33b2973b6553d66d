/** An integrand as a device takes it. */
import type { CompiledProgram, PlainProgram } from '../../src/integrand/bound.ts';
import type { Integrand } from '../../src/integrand/compile.ts';
import { lower } from '../../src/integrand/lower/lower.ts';
import { kit } from '../../src/integrand/math/index.ts';
import { provideMath } from '../../src/integrand/math/now.ts';
import { bind, type Params } from '../../src/integrand/params.ts';
import { read } from '../../src/integrand/read.ts';

export type { Integrand };

export function lowerFor(f: Integrand, dims: number, params: Params = {}): CompiledProgram {
  provideMath(); // what `lower` asks for at once
  const program = lower(read(f), dims, params);
  return { kind: 'compiled', dims, program, params: bind(program.params, params) };
}

/** The function as it is; workers make it from its text, if it is given. */
export function plainFor(f: Integrand, dims: number, params: Params = {}, text?: string): PlainProgram {
  const call = (x: number[]) => f(x, params, kit);
  return {
    kind: 'plain',
    dims,
    call: text ? { f: call, moved: { text, params: { values: params } } } : { f: call },
  };
}
