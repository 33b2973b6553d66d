/**
 * The verdict on bytes that claim to be a program: they are refused with a `ProgramError`, or they are a program that every
 * target compiles, that ends, gives the same bits on both targets and at a point whatever was computed before it.
 */
import { type Program, walk } from '../../src/integrand/ir.ts';
import type { Bindings } from '../../src/integrand/params.ts';
import { toCuda } from '../../src/integrand/targets/cuda.ts';
import { javascriptTarget } from '../../src/integrand/targets/javascript.ts';
import { wasmTarget } from '../../src/integrand/targets/wasm.ts';
import { decodeProgram, ProgramError } from '../../src/integrand/verify.ts';
import { firstDifference } from '../compiler/compare.ts';
import { TimedOut, within } from './sandbox.ts';

export type Sent = { kind: 'refused' | 'runs' } | { kind: 'fault'; why: string };

/** Milliseconds for one input, which may spend its turns at 9 points; a machine may have other work to do. */
const LIMIT = 60_000;

export function judgeBytes(bytes: Uint8Array): Sent {
  let why = 'decoding';
  try {
    return within(LIMIT, (): Sent => {
      const program = decodeProgram(bytes);
      why = 'compiling';
      const bindings = someParams(program);
      const [wasm, javascript] = [wasmTarget(program, bindings), javascriptTarget(program, bindings)];
      toCuda(program);
      why = 'running';
      const count = program.results.length;
      const values = [wasm, javascript].map(run => {
        const dirty = new Float64Array(2 * count);
        run(pointsOf(program, 0.9), dirty); // leaves its numbers in the arrays
        const out = new Float64Array(2 * count);
        run(pointsOf(program, 0.2), out);
        return out;
      });
      // the first of the points is run alone as well: nothing may remain of the others
      const alone = new Float64Array(count);
      javascriptTarget(program, bindings)(
        pointsOf(program, 0.2).filter((_, i) => i % 2 === 0),
        alone,
      );
      const i = firstDifference(values[0], values[1]);
      if (i >= 0) return { kind: 'fault', why: `wasm ${values[0]}, javascript ${values[1]}` };
      if (!Object.is(alone[0], values[0][0]))
        return { kind: 'fault', why: `alone ${alone[0]}, after others ${values[0][0]}` };
      return { kind: 'runs' };
    });
  } catch (e) {
    if (e instanceof ProgramError) return { kind: 'refused' };
    if (e instanceof TimedOut) return { kind: 'fault', why: `${why} does not end` };
    return { kind: 'fault', why: `${why}: ${(e as Error)?.stack ?? e}` };
  }
}

function pointsOf({ dims }: Program, first: number): Float64Array {
  return Float64Array.from({ length: 2 * dims }, (_, i) => (first + 0.37 * i) % 1);
}

/** Values for the params that a program declares. */
export function someParams(program: Program): Bindings {
  return new Map(
    program.params.map(p => [
      p.name,
      p.kind === 'array'
        ? Float64Array.from({ length: p.length }, (_, i) => i - 1.5)
        : p.kind === 'number'
          ? 1.25
          : true,
    ]),
  );
}

/** How many statements a program has, and how deep they are nested. */
export function sizeOf(program: Program): { statements: number; depth: number } {
  let statements = 0;
  walk(program.body, () => statements++);
  const depth = (list: Program['body']): number =>
    1 +
    Math.max(
      0,
      ...list.map(s =>
        s.kind === 'if' ? Math.max(depth(s.then), depth(s.else)) : 'body' in s ? depth(s.body) : 0,
      ),
    );
  return { statements, depth: depth(program.body) };
}
