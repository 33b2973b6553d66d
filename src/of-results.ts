/**
 * Functions of results with their errors. To first order the variance of g(v) is dᵀ C d, with d the derivatives of g
 * (integrand/gradient.ts) and C the covariances of the results.
 *
 * C is known within blocks of results that were sampled together (tasks/correlation.ts), or for all pairs. Between blocks it is not, and the
 * standard deviations that the blocks contribute are added: |cov(a, b)| ≤ σ(a)·σ(b), so the sum is the most that the error can
 * be. Errors of deterministic methods estimate the largest deviation, and so does Σ |dᵢ|·errorᵢ.
 */
import { differentiate } from './integrand/gradient.ts';
import { build, leaves, type ResultValue, type Shape } from './integrand/shape.ts';
import { withError } from './methods/with-error.ts';
import { blocksIn, packedIndex, RESULTS_PER_PASS } from './tasks/correlation.ts';

/** Values and errors of all results. */
export interface Numbers {
  values: readonly number[];
  errors: readonly number[];
  correlations?: readonly (readonly number[])[];
  /** Whether errors are those of a deterministic method, which estimate the largest deviation. */
  deterministic: boolean;
  /** The method and its device, for messages. */
  method: string;
}

/** A function of results: what it gives, and its error. */
export class OfResults<T = number> {
  /** What the function gives. */
  readonly value: ResultValue<T>;
  /** One standard deviation; where covariances are not known, the largest that it can be. */
  readonly error: ResultValue<T>;
  /** Whether the derivatives are exact; those of functions that do not compile are central differences. */
  readonly exact: boolean;
  readonly #texts: readonly string[];

  constructor(shape: Shape, values: readonly number[], errors: readonly number[], exact: boolean) {
    this.value = build(shape, values) as ResultValue<T>;
    this.error = build(shape, errors) as ResultValue<T>;
    this.exact = exact;
    this.#texts = leaves(shape).map(
      (name, i) => `${name ? `${name} = ` : ''}${withError(values[i], errors[i])}`,
    );
  }

  /** A line for each number: `0.9973(49)`. */
  toString(): string {
    return this.#texts.join('\n');
  }
}

/** The function at the results, with its error. */
export function propagate<T>(f: (value: never) => T, shape: Shape, numbers: Numbers): OfResults<T> {
  const { values, errors } = numbers;
  const found = differentiate(f, shape)(values, errors);
  const own = found.derivatives.map(d => errorAlong(d, numbers));
  return new OfResults<T>(found.shape, found.values, own, found.exact);
}

function errorAlong(slopes: readonly number[], numbers: Numbers): number {
  const { errors, deterministic } = numbers;
  if (deterministic) return slopes.reduce((s, d, i) => s + (d === 0 ? 0 : Math.abs(d) * errors[i]), 0);
  return blocksIn(numbers.correlations ?? [], errors.length).reduce(
    (s, block) => s + errorInBlock(slopes, block, numbers),
    0,
  );
}

/** In units of the largest term, since squares of 1e-200 underflow. */
function errorInBlock(slopes: readonly number[], block: readonly number[], numbers: Numbers): number {
  const { errors } = numbers;
  const used = block.filter(i => slopes[i] !== 0);
  const terms = used.map(i => slopes[i] * errors[i]);
  const largest = terms.reduce((m, t) => Math.max(m, Math.abs(t)), 0);
  if (!(largest > 0 && largest < Infinity)) return terms.some(Number.isNaN) ? Number.NaN : largest;
  let variance = 0;
  used.forEach((i, a) => {
    used.forEach((j, b) => {
      variance += (terms[a] / largest) * (terms[b] / largest) * correlation(numbers, i, j);
    });
  });
  return largest * Math.sqrt(Math.max(0, variance));
}

/** The covariance of two results, given by their numbers. */
export function covarianceOf(numbers: Numbers, a: number, b: number): number {
  refuseDeterministic(numbers);
  const { errors } = numbers;
  const c = correlation(numbers, a, b);
  // in an order that does not depend on who is named first: the same bits for (a, b) and (b, a)
  return c === 0 ? 0 : c * errors[Math.min(a, b)] * errors[Math.max(a, b)];
}

/** The correlations of all results. */
export function correlationsOf(numbers: Numbers): number[][] {
  refuseDeterministic(numbers);
  return numbers.values.map((_, a) => numbers.values.map((_, b) => correlation(numbers, a, b)));
}

/** NaN between blocks, unless there is one list for all results. */
function correlation({ correlations }: Numbers, a: number, b: number): number {
  if (a === b) return 1;
  if (correlations?.length === 1) return correlations[0][packedIndex(a, b)] ?? Number.NaN;
  const block = Math.floor(a / RESULTS_PER_PASS);
  if (block !== Math.floor(b / RESULTS_PER_PASS)) return Number.NaN;
  const first = block * RESULTS_PER_PASS;
  return correlations?.[block]?.[packedIndex(a - first, b - first)] ?? Number.NaN;
}

function refuseDeterministic({ deterministic, method }: Numbers): void {
  if (!deterministic) return;
  throw new TypeError(
    `the errors of ${method} estimate the largest deviation, and have no covariance; \`of\` adds them, and method 'vegas+' has covariances.`,
  );
}
