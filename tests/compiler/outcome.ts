/** What compiling something comes to: numbers, a refusal in our own words, or a crash, which is a bug. */
import { compile, type Integrand } from '../../src/integrand/compile.ts';
import { IntegrandError } from '../../src/integrand/diagnostics.ts';
import { type Program, walk } from '../../src/integrand/ir.ts';
import { kit } from '../../src/integrand/math/index.ts';
import { byResult, columns, firstDifference } from './compare.ts';
import { params } from './surroundings.ts';

export type Outcome =
  | { kind: 'agrees' }
  | { kind: 'refused'; error: IntegrandError }
  | { kind: 'crash' | 'differs'; why: string };

const POINTS = [
  [0.3, 0.7, 0.1],
  [0.9, -2, 3],
  [0, 1, 0.5],
];

/** Undefined where plain JavaScript itself throws: then there is nothing to compare with. */
function plainValues(f: Integrand): unknown[] | undefined {
  try {
    return POINTS.map(x => f([...x], params, kit));
  } catch {
    return undefined;
  }
}

/** Whether a compiled number says what plain JavaScript says; what was read outside an array is NaN, not undefined. */
function agree(plain: unknown, compiled: number): boolean {
  if (plain === undefined) return Number.isNaN(compiled);
  if (typeof plain !== 'number') return false;
  return Object.is(plain, compiled) || Math.abs(plain - compiled) <= 1e-9 * Math.max(1, Math.abs(plain));
}

/** A store outside an array gives NaN where plain JavaScript makes the array longer: so says the IR. */
const mayStray = (program: Program) => {
  let found = false;
  walk(program.body, s => {
    found ||= s.kind === 'store';
  });
  return found;
};

/** Compiles and runs; transcendental functions make plain JavaScript differ in the last bits, so it gets 1e-9. */
export function outcome(f: Integrand): Outcome {
  let wasm: Float64Array;
  let javascript: Float64Array;
  let program: Program;
  try {
    const given = columns(POINTS);
    const reference = compile(f, { dims: 3, params, target: 'javascript' });
    program = reference.program;
    javascript = reference.evaluate(given);
    wasm = compile(f, { dims: 3, params }).evaluate(given);
  } catch (error) {
    if (error instanceof IntegrandError) return { kind: 'refused', error };
    return { kind: 'crash', why: String((error as Error).stack ?? error) };
  }
  if (firstDifference(javascript, wasm) >= 0)
    return { kind: 'differs', why: `javascript ${javascript}, wasm ${wasm}` };
  const all = plainValues(f);
  const plain = all && byResult(all, program.shape ?? 'number');
  const stray = mayStray(program);
  if (plain && !plain.every((v, i) => agree(v, wasm[i]) || (stray && Number.isNaN(wasm[i]))))
    return { kind: 'differs', why: `plain ${plain}, compiled ${wasm}` };
  return { kind: 'agrees' };
}
