/**
 * Integrals of a scan that are solved whole on other machines. This file has both ends: which options travel, and the solving
 * of what has arrived. An integral has the same bits as in a scan on one machine, since it is the same `solve`; what depends on
 * the machine or the clock is left out of its result, so that two machines can be compared.
 */
import { type Device, DeviceError, type Session } from './devices/device.ts';
import type { CompiledProgram } from './integrand/bound.ts';
import { loading } from './integrand/on-demand.ts';
import { type AllOptions, checkProblem, type Problem } from './problem.ts';
import type { Result } from './result.ts';
import { solve } from './solve.ts';
import {
  type IntegralDone,
  type IntegralsTask,
  type ResultMembers,
  WHOLE_EVALUATIONS,
} from './tasks/integrals.ts';
import { costOf } from './tasks/verify.ts';

/** Options that are data and belong to an integral; others stay with the caller, or keep the whole integral there. */
const TRAVELLING = [
  ...['dims', 'domain', 'breaks', 'points', 'method', 'relTol', 'absTol', 'goals', 'learnFrom', 'covariance'],
  ...['maxEvaluations', 'maxIterations', 'seed', 'onNonFinite', 'vegas', 'cubature', 'lattice', 'zmc'],
] as const;
/** Options that a result depends on and that do not travel: states are large, histograms are functions. */
const STAYING = ['map', 'resume', 'histograms'] as const;
/** Integrals of a task that are under way at a time, so that the threads of a device do not wait for one of them. */
const LANES = 8;

/** The options of an integral, with its domain, as data; null where it cannot be solved elsewhere. */
export async function travelling(options: AllOptions): Promise<object | null> {
  const given = options as Record<string, unknown>;
  if (STAYING.some(name => given[name] !== undefined)) return null;
  const own = picked(given);
  if (typeof own.seed === 'bigint') own.seed = String(own.seed);
  if (!isData(own)) return null;
  try {
    await loading(() => checkProblem(own as AllOptions)); // a run that only `maxTime` ends is refused without it
    return own;
  } catch {
    return null;
  }
}

const picked = (options: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    TRAVELLING.flatMap(name => (options[name] === undefined ? [] : [[name, options[name]]])),
  );

/** Whether a value is numbers, texts, lists and objects all the way down. */
export function isData(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isData);
  return ['number', 'string', 'boolean', 'undefined'].includes(typeof value) || value === null;
}

/** An integral takes more evaluations than one that is solved whole may. */
class TooLarge extends Error {}

/**
 * Solves integrals of a task that came from elsewhere; `programs` are the same program with the params of each. Throws where
 * the options make no sense, and where the device fails.
 */
export async function solveWholes(
  device: Device,
  programs: readonly CompiledProgram[],
  { options, integrals, neighbours }: IntegralsTask,
  signal: AbortSignal,
): Promise<IntegralDone[]> {
  const common = picked(options as Record<string, unknown>);
  const done: IntegralDone[] = Array(programs.length).fill(null);
  let next = 0;
  const lane = async () => {
    let session: Session | null = null;
    try {
      while (next < programs.length) {
        const index = next++;
        const { domain } = integrals[index];
        const problem = await problemOf({ ...common, ...(domain !== undefined && { domain }) }, signal);
        if (session) await session.rebind(programs[index]);
        else session = await device.open(programs[index], { shared: programs.length > 1 });
        done[index] = await one(problem, device, session, programs[index], { ...neighbours });
        signal.throwIfAborted();
      }
    } finally {
      session?.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(LANES, programs.length) }, lane));
  return done;
}

async function problemOf(options: object, signal: AbortSignal): Promise<Problem> {
  return { ...(await loading(() => checkProblem(options as AllOptions))), signal };
}

async function one(
  problem: Problem,
  device: Device,
  session: Session,
  program: CompiledProgram,
  neighbours: { count: number; contradicted: boolean },
): Promise<IntegralDone> {
  if (problem.dims !== program.dims || problem.domain.empty) return null;
  try {
    const result = await solve(problem, device, limited(session), program, performance.now(), neighbours);
    // how much memory there is depends on the machine
    if (result.status === 'memory') return null;
    return { result: membersOf(result), contradicted: neighbours.contradicted };
  } catch (e) {
    if (e instanceof DeviceError || problem.signal?.aborted) throw e;
    return null; // whoever asked does it again in parts, and tells what is wrong with it
  }
}

/** The session as parts of a cluster use it, without memory of its own, and within WHOLE_EVALUATIONS. */
function limited(session: Session): Session {
  let spent = 0;
  const spend = (evaluations: number) => {
    spent += evaluations;
    if (spent > WHOLE_EVALUATIONS) throw new TooLarge();
  };
  return {
    description: session.description,
    async sample(task, part, signal) {
      spend(costOf('sample', task, part));
      return session.sample(task, part, signal);
    },
    async regions(task, part, signal) {
      spend(costOf('regions', task, part));
      return session.regions(task, part, signal);
    },
    async witness(task, part, signal) {
      spend(costOf('witness', task, part));
      return session.witness(task, part, signal);
    },
    rebind: program => session.rebind(program),
    close: () => session.close(),
  };
}

function membersOf(result: Result): ResultMembers {
  const { device: _, elapsed: __, seed: ___, converged: ____, ...members } = result;
  return members;
}
