/**
 * Two integrands of the generator as one with two results, on the same unit cube. Their params become those of one function,
 * with a prefix each.
 */
import type { Integrand } from '../../src/integrand/compile.ts';
import type { Params } from '../../src/integrand/params.ts';
import type { MethodName } from '../../src/problem.ts';
import { Draw } from './draw.ts';
import { type Example, exampleOf, type Kind } from './kind.ts';
import { kinks } from './kinds/kinks.ts';
import { peaks } from './kinds/peaks.ts';
import { periodic } from './kinds/periodic.ts';
import { planes } from './kinds/planes.ts';
import { round } from './kinds/round.ts';
import { steps } from './kinds/steps.ts';

/** Kinds on the unit cube. */
export const PAIRED: readonly Kind[] = [...steps, ...planes, ...round, ...peaks, ...kinks, ...periodic];

const MAX_DIMS = 4;
const TOLERANCES = [1e-2, 1e-3, 1e-4];

export interface PairTrial {
  name: string;
  method: MethodName;
  f: Integrand<number[]>;
  params: Params;
  truths: readonly number[];
  dims: number;
  relTol: number;
}

/** Trial `number` of a method: kinds take turns with each other. */
export function pairOf(method: MethodName, number: number): PairTrial {
  const draw = new Draw(Math.imul(number + 1, 0x85ebca6b) ^ Math.imul(method.length, 0x9e3779b1));
  const first = PAIRED[number % PAIRED.length];
  const dims = draw.pick(first.dims.filter(n => n <= MAX_DIMS));
  const others = PAIRED.filter(k => k.dims.includes(dims));
  const pair = [first, others[draw.below(others.length)]].map(kind => exampleOf(kind, draw, dims));
  const name = `${method}, ${pair.map(e => e.kind).join(' and ')} in ${dims}, trial ${number}`;
  const relTol = draw.pick(TOLERANCES);
  return { name, method, ...joined(pair), truths: pair.map(e => e.truth), dims, relTol };
}

/** Integrands as one whose results are a list. */
export function joined(examples: readonly Example[]): { f: Integrand<number[]>; params: Params } {
  const params: Params = {};
  const calls = examples.map(({ f, params: own }, i) => {
    const members = Object.entries(own).map(([key, value]) => {
      params[`of${i}_${key}`] = value;
      return `${key}: p.of${i}_${key}`;
    });
    return `(${f})(x, { ${members.join(', ')} }, m)`;
  });
  return { f: new Function(`return (x, p, m) => [${calls.join(', ')}]`)(), params };
}
