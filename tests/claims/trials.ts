/**
 * What is tried: an example of a kind, a method, a tolerance and a budget. Methods and kinds take turns; everything else about
 * trial number n of a seed is drawn from (seed, n, kind), so that one trial of twenty thousand can be repeated alone.
 */
import type { MethodName } from '../../src/problem.ts';
import { Draw } from './draw.ts';
import { type Example, exampleOf, type Kind } from './kind.ts';
import { kinds } from './kinds/index.ts';

export interface Trial {
  seed: number;
  number: number;
  example: Example;
  method: MethodName;
  relTol: number;
  maxEvaluations: number;
}

export interface TrialOptions {
  methods: readonly MethodName[];
  /** The budgets that are drawn from. */
  budgets: readonly number[];
  /** All kinds, unless given. */
  among?: readonly Kind[];
  /** The smallest tolerance that is drawn; all of them, unless given. */
  tightest?: number;
}

const DETERMINISTIC: readonly string[] = ['pagani', 'cuhre', 'two-phase'];

/** Whether a method draws samples, so that its error is one standard deviation. */
export const isSampled = (method: string): boolean => !DETERMINISTIC.includes(method);

type Weighted = readonly (readonly [weight: number, relTol: number])[];

const TOLERANCES: Weighted = [
  [2, 1e-2],
  [2, 1e-3],
  [1, 1e-4],
  [1, 1e-5],
  [1, 1e-6],
];
/** Errors of samples fall with 1/√n: 1e-5 takes 1e10 evaluations where values deviate by as much as the integral. */
const SAMPLED_TOLERANCES: Weighted = [
  [4, 1e-2],
  [3, 1e-3],
  [1, 1e-4],
];

export function trialOf(seed: number, number: number, options: TrialOptions): Trial {
  const { methods, budgets, among = kinds, tightest = 0 } = options;
  // every kind in turn, with the next method in every round: a few trials are of many kinds, many are of all pairs
  const method = methods[(number + Math.floor(number / among.length)) % methods.length];
  const symmetric = method === 'mcubes1d';
  const possible = symmetric ? among.filter(k => k.symmetric) : among;
  const kind = possible[number % possible.length];
  const own = Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b);
  const draw = new Draw(own ^ Math.imul(kinds.indexOf(kind) + 1, 0xc2b2ae35), { symmetric });
  const tolerances = isSampled(method) && method !== 'auto' ? SAMPLED_TOLERANCES : TOLERANCES;
  const relTol = draw.weighted(tolerances.filter(([, tolerance]) => tolerance >= tightest));
  const maxEvaluations = draw.pick(budgets);
  const example = exampleOf(kind, draw, draw.pick(kind.dims));
  return { seed, number, example, method, relTol, maxEvaluations };
}
