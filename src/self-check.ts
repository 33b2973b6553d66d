/**
 * The compiled integrand and the function itself, compared before a run.
 *
 * Both are evaluated at a few random points of the domain, on the calling thread. A difference is an error that shows the point
 * and both values: a construct that compiles into something else must not become a wrong integral.
 *
 * - What is compared is the program as JavaScript (targets/javascript.ts), which is ready in a tenth of a millisecond and is
 *   made for every run anyway (ends/end-points.ts). It has been through everything that differs from integrand to integrand: reading,
 *   lowering, folding. The other targets give its bits, which the fuzzer asserts on random programs.
 * - The compiled program goes first, with a limited number of turns of its loops. The function is called only where these were
 *   enough: nothing could end it on this thread. So what loops for long at every point is not compared.
 * - Last bits differ, since the engine's Math is not our library, and an integrand may magnify them without bound: it
 *   subtracts nearly equal numbers, or a step lies between the two values. Where values differ by more than 1e-9, the program is
 *   compiled again with all calls of the library left as calls, and evaluated with arguments and results of calls changed in
 *   their last bits. A difference that such changes can make is none of the compiler's.
 * - Documented differences are none either: what is read outside an array is NaN, and so is everything after a write there.
 */
import {
  agree,
  type Checked,
  evaluatorFor,
  MAX_MS,
  MAX_TURNS,
  madeFrom,
  type Outcome,
  POINTS,
  pointOf,
  SMALL,
} from './compared.ts';
import type { CompiledProgram } from './integrand/bound.ts';
import type { Integrand } from './integrand/compile.ts';
import { isMapped, onSampled, toDomain } from './integrand/domain.ts';
import { type Program, walk } from './integrand/ir.ts';
import { kit } from './integrand/math/common.ts';
import { OnDemand } from './integrand/on-demand.ts';
import { flatten, leaves, type ResultShape } from './integrand/shape.ts';

/** What to make of values that differ. */
const differences = new OnDemand(() => import('./differences.ts'));

/** Throws an `IntegrationError` when the compiled program is not the function. */
export function selfCheck(
  f: Integrand<ResultShape>,
  { program, params }: CompiledProgram,
  problem: Checked,
): void {
  const { domain, dims } = problem;
  const evaluate = evaluatorFor(program, params);
  if (!evaluate) return;
  const axes = isMapped(domain.axes) ? domain.axes : undefined;
  const shape = program.shape ?? 'number';
  const names = leaves(shape);
  /** An outcome, result by result; a single number is compared as it is, of whatever type. */
  const byResult = (outcome: Outcome): Outcome[] => {
    if ('thrown' in outcome || shape === 'number') return names.map(() => outcome);
    try {
      return flatten(outcome.value, shape).map(value => ({ value }));
    } catch (e) {
      return names.map(() => ({ thrown: e }));
    }
  };
  const plain = (z: Float64Array, g = f): Outcome => {
    const call = onSampled((x: number[]) => g(x, problem.params, kit), axes, toDomain);
    try {
      return { value: call([...z]) };
    } catch (e) {
      return { thrown: e };
    }
  };
  const start = performance.now();
  for (let i = 0; i < POINTS && (i === 0 || performance.now() - start < MAX_MS); i++) {
    const z = pointOf(domain.ranges, dims, i);
    const compiled = evaluate(z, MAX_TURNS);
    if (compiled === undefined) continue;
    const own = byResult(plain(z));
    for (const [k, leaf] of names.entries()) {
      const [mine, value] = [own[k], compiled[k]];
      if (agree(mine, value, SMALL)) continue;
      if (Number.isNaN(value) && hasStores(program)) continue;
      const { different, explained, unsteady } = differences.now;
      const { x } = toDomain(domain.axes, [...z]);
      const again = byResult(plain(z))[k];
      if ('value' in mine && 'value' in again && !Object.is(mine.value, again.value))
        throw unsteady(x, leaf, mine.value, again.value);
      if ('value' in mine && explained(f, problem, z, k, Number(mine.value), value)) continue;
      const made = madeFrom(String(f));
      const itsText = made !== undefined && agree(byResult(plain(z, made))[k], value, SMALL);
      throw different(x, leaf, mine, value, itsText);
    }
  }
}

function hasStores(program: Program): boolean {
  let found = false;
  walk(program.body, s => {
    found ||= s.kind === 'store';
  });
  return found;
}
