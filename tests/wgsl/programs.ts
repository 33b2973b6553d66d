/** Programs in WGSL against the same programs in float32 on the CPU (reference.ts). */
import { compile } from '../../src/integrand/compile.ts';
import type { Program } from '../../src/integrand/ir.ts';
import { type Bindings, bind } from '../../src/integrand/params.ts';
import { functionOf } from '../compiler/compare.ts';
import { generate } from '../compiler/generate.ts';
import { params as fuzzParams, pointsFor } from '../compiler/surroundings.ts';
import { scatter } from '../math/points.ts';
import { evaluate, jobOf } from './evaluate.ts';
import { INCOMPARABLE, referenceOf } from './reference.ts';

export interface Subject {
  name: string;
  program: Program;
  bindings: Bindings;
  points: number[][];
}

/** A random program of the compiler's grammar, at points that include infinities, NaN and huge numbers. */
export function randomProgram(seed: number, kind: 'exact' | 'smooth'): Subject {
  const { text, dims } = generate(seed, kind);
  const { program } = compile(functionOf(text), { dims, params: fuzzParams, target: 'javascript' });
  const bindings = bind(program.params, fuzzParams);
  return { name: `${kind} program ${seed}`, program, bindings, points: pointsFor(seed, dims) };
}

export interface Comparison {
  compared: number;
  /** Values that rounding does not explain. */
  wrong: string[];
}

/** Runs of the reference with functions that are wrong by up to 4 ulp. */
const RUNS = 8;
const MIN = 2 ** -126;

/**
 * A value is right if it lies within what the runs of the reference span, four times as wide, or 1e-6 beside them: SPIRV-Tools
 * turn (x − 1) − 1 into x − 2, so sums may differ in their last bits without any function.
 */
export async function compareWithReference(
  subjects: readonly Subject[],
  exactZeros = false,
): Promise<Comparison> {
  const single = (v: number) => {
    const f = Math.fround(v);
    return f !== 0 && Math.abs(f) < MIN ? Math.sign(f) * MIN : f;
  };
  const points = subjects.map(s => s.points.map(p => p.map(single)));
  const jobs = subjects.map((s, k) => jobOf(s.program, s.bindings, Float32Array.from(points[k].flat())));
  const outcomes = await evaluate(jobs);
  const comparison: Comparison = { compared: 0, wrong: [] };
  const random = scatter(4);
  outcomes.forEach((outcome, k) => {
    const { name, program, bindings } = subjects[k];
    if (outcome.error) {
      comparison.wrong.push(`${name}: ${outcome.error}`);
      return;
    }
    const reference = referenceOf(program, bindings);
    const count = program.results.length;
    points[k].forEach((point, i) => {
      const plain = reference(point, () => 0);
      if (plain === INCOMPARABLE) return;
      const got = [...outcome.values.subarray(i * count, (i + 1) * count)];
      if (got.every((value, r) => Object.is(value, Math.fround(plain[r])))) {
        comparison.compared += count;
        return;
      }
      const runs = Array.from({ length: RUNS }, () => reference(point, () => 8 * random() - 4));
      const all = [plain, ...runs].filter((r): r is number[] => r !== INCOMPARABLE);
      if (all.length <= RUNS) return;
      for (let r = 0; r < count; r++) {
        comparison.compared++;
        const value = got[r];
        if (
          isRight(
            value,
            all.map(a => a[r]),
            exactZeros,
          )
        )
          continue;
        comparison.wrong.push(
          `${name} at [${point.join(', ')}] is ${value}, not ${all.map(a => a[r]).join(' or ')}`,
        );
      }
    });
  });
  return comparison;
}

function isRight(value: number, expected: readonly number[], exactZeros: boolean): boolean {
  if (expected.some(e => Object.is(Math.fround(e), value))) return true;
  if (value === 0 && expected[0] === 0) return !exactZeros;
  const [low, high] = [Math.min(...expected), Math.max(...expected)];
  const beside = 3 * (high - low) + 1e-6 * Math.max(Math.abs(low), Math.abs(high));
  return value >= low - beside && value <= high + beside;
}
