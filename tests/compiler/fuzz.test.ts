/**
 * Random programs give the same result however they are run. Exact ones: the same bits in plain JavaScript and on
 * both targets. Smooth ones: the same bits on both targets, and plain JavaScript's numbers to the accuracy of
 * the math library, against the sum of the sizes of all terms.
 */
import { describe, expect, test } from 'vitest';
import { compile } from '../../src/integrand/compile.ts';
import { kit } from '../../src/integrand/math/index.ts';
import { bind } from '../../src/integrand/params.ts';
import { javascriptTarget } from '../../src/integrand/targets/javascript.ts';
import { decodeProgram, encodeProgram } from '../../src/integrand/verify.ts';
import { columns, firstDifference, functionOf, plainly } from './compare.ts';
import { type Generated, generate } from './generate.ts';
import { params, pointsFor } from './surroundings.ts';

const EXACT = 400;
const SMOOTH = 200;
const BATCH = 50; // programs a test, so that a failure says roughly where

/** Both targets, and the JavaScript one again from a program that was sent as bytes. */
function compiled({ text, dims }: Generated, points: number[][]) {
  const wasm = compile(functionOf(text), { dims, params });
  const { program } = wasm;
  const again = decodeProgram(encodeProgram(program));
  const given = columns(points);
  const reference = (p: typeof program) => {
    const out = new Float64Array(points.length);
    javascriptTarget(p, bind(p.params, params))(given, out);
    return out;
  };
  return { wasm: wasm.evaluate(given), javascript: reference(program), again: reference(again) };
}

/** Fails with the program and the point where two ways differ. */
function expectSame(
  what: string,
  g: Generated,
  points: number[][],
  a: ArrayLike<number>,
  b: ArrayLike<number>,
) {
  const i = firstDifference(a, b);
  if (i >= 0) expect.fail(`${what}: ${a[i]} and ${b[i]} at [${points[i].join(', ')}] for\n${g.text}`);
}

const batches = (count: number) => Array.from({ length: count / BATCH }, (_, k) => k * BATCH);

describe.each(batches(EXACT))('exact programs from seed %i on', first => {
  test('plain JavaScript, both targets and a program sent as bytes give the same bits', () => {
    for (let seed = first; seed < first + BATCH; seed++) {
      const g = generate(seed, 'exact');
      const points = pointsFor(seed, g.dims);
      const { wasm, javascript, again } = compiled(g, points);
      expectSame('plain and javascript', g, points, plainly(functionOf(g.text), points, params), javascript);
      expectSame('javascript and wasm', g, points, javascript, wasm);
      expectSame('javascript and its copy', g, points, javascript, again);
    }
  });
});

describe.each(batches(SMOOTH))('programs with transcendental functions from seed %i on', first => {
  test('both targets give the same bits, and plain JavaScript agrees within 1e-13 of the sum of all terms', () => {
    for (let seed = first; seed < first + BATCH; seed++) {
      const g = generate(seed, 'smooth');
      const points = pointsFor(seed, g.dims);
      const { wasm, javascript, again } = compiled(g, points);
      expectSame('javascript and wasm', g, points, javascript, wasm);
      expectSame('javascript and its copy', g, points, javascript, again);
      let size = 0;
      const term = (t: number) => {
        if (Number.isFinite(t)) size += Math.abs(t);
        return t;
      };
      const plain = new Function('term', `return (${g.marked});`)(term);
      points.forEach((x, i) => {
        size = 0;
        const value = plain([...x], params, kit);
        if (size > 1e300 || Object.is(value, javascript[i])) return; // at the edge of overflow anything goes
        if (!(Math.abs(value - javascript[i]) <= 1e-13 * size + 1e-300))
          expect.fail(`plain ${value}, compiled ${javascript[i]} at [${x.join(', ')}] for\n${g.text}`);
      });
    }
  });
});
