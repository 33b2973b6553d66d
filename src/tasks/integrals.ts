/**
 * Whole integrals as a task: for scans on devices that are many machines, where one integral is too small to be cut into
 * parts. All of them are integrals of one program. Options travel as `integrate` takes them, and whoever solves the integrals
 * checks them again as those of a user (../whole-integrals.ts). Results are the members of results as data, without what depends
 * on the machine and on the clock: the same integral gives the same bytes everywhere.
 */
import type { CompiledProgram } from '../integrand/bound.ts';

/** In a scan: how many integrals it has, and whether witnesses have contradicted a claim on any of them. */
export interface Neighbours {
  /** Integrals of the scan. */
  count: number;
  /** Whether a claim was contradicted; then each integral draws the full number of witnesses. */
  contradicted: boolean;
}

/** One integral. */
export interface IntegralData {
  /** The values of the program's params, in the order in which it declares them. */
  params: readonly unknown[];
  /** The option `domain`, where each integral has its own. */
  domain?: unknown;
}

export interface IntegralsTask {
  /** The options that all integrals have in common. */
  options: object;
  integrals: readonly IntegralData[];
  /** As it was when the task was made. */
  neighbours: Neighbours;
}

/** The members of a result that do not depend on machine and clock. */
export type ResultMembers = Readonly<Record<string, unknown>> & { readonly evaluations: number };

/** What came of one integral; null where it failed, or took more than WHOLE_EVALUATIONS: it is to be done in parts. */
export type IntegralDone = {
  result: ResultMembers;
  /** Whether witnesses have contradicted a claim on it, so that its neighbours need more of them. */
  contradicted: boolean;
} | null;

export interface IntegralSums {
  integrals: readonly IntegralDone[];
}

/** Integrals that a device may solve elsewhere; `Session.integrals` takes them. */
export interface IntegralList {
  /** How many there are. */
  count: number;
  /** The options that all integrals have in common, as data. */
  options: object;
  /** Of the scan; `contradicted` becomes true while it goes on. */
  neighbours: Neighbours;
  /** An integral by its number; null where it cannot travel. */
  at(index: number): Promise<{ program: CompiledProgram; domain?: unknown } | null>;
}

/** An integral that was solved elsewhere. */
export interface SolvedIntegral {
  /** The members of its result. */
  result: ResultMembers;
  /** Milliseconds that it took, about. */
  elapsed: number;
  /** It began before a contradiction, and relied on its neighbours. */
  vouched: boolean;
}

/**
 * Evaluations of an integral that is solved whole, at most: a second or two on a core. A larger one keeps all workers busy when
 * it is cut into parts.
 */
export const WHOLE_EVALUATIONS = 2 ** 24;
