/**
 * States that a run is given, loaded when there is one. A state fits a run when method, seed, domain, integrand and params are the
 * same; a map is taken from any run on as many dimensions. What does not fit is refused, with the member that differs.
 */
import type { BoundProgram } from './integrand/bound.ts';
import { KnownRegions } from './methods/cubature/known-regions.ts';
import { type CubatureRecord, isCubatureRecord } from './methods/cubature/region-record.ts';
import type { MethodProblem, MethodRecord } from './methods/method.ts';
import { FAMILIES, type MethodName } from './methods/names.ts';
import type { Learned, VegasRecord } from './methods/vegas/record.ts';
import { isZmcRecord, type ZmcRecord } from './methods/zmc/record.ts';
import { OptionError } from './options/option-error.ts';
import type { Problem } from './problem.ts';
import { digestOf, learnsMap, type State, VERSION } from './state.ts';
import { decode, encode } from './tasks/wire.ts';

const MEMBERS = ['method', 'domain', 'seed', 'integrand', 'record'] as const;

/** The options that take a state. */
type StateOption = 'resume' | 'map' | 'state';

/** Throws unless a value is a state of this version. */
export function checkState(option: StateOption, value: unknown): void {
  const state = value as State | null;
  const looksRight =
    typeof state === 'object' && state !== null && MEMBERS.every(m => typeof state[m] === 'string');
  if (!looksRight) throw new OptionError(option, value, 'pass the `state` of a result');
  if (state.version !== VERSION)
    throw new OptionError(
      option,
      value,
      `this version reads states of version ${VERSION}: run the integral anew`,
      w => `${w.quoted(option)} is a state of version ${state.version}`,
    );
}

/** What the states in the options hand to the method; throws when they do not fit the problem. */
export function fromStates(
  problem: Problem,
  integrand: BoundProgram,
): Pick<MethodProblem, 'resume' | 'regions' | 'blocks' | 'map'> {
  const { resume, map } = problem;
  if (resume) {
    checkFit(resume, problem, integrand);
    const family = familyOf(resume);
    if (family === 'cubature') return { regions: readRegions(resume) };
    return family === 'zmc' ? { blocks: readBlocks(resume) } : { resume: readVegas('resume', resume) };
  }
  if (!map) return {};
  const refuse = refusal('map', map);
  if (map.dims !== problem.dims)
    throw refuse(`of ${map.dims} dimensions, not ${problem.dims}`, 'pass one of as many dimensions');
  if (!hasMap(map))
    throw refuse(`of ${map.method}, which has learned no map`, "use the state of a run by method 'vegas+'");
  if (!learnsMap(problem.method) || (map.method === 'mcubes1d') !== (problem.method === 'mcubes1d'))
    throw refuse(
      `of ${map.method}, whose map ${problem.method} cannot use`,
      `use method '${map.method}', or leave it out`,
    );
  const { learned } = readVegas('map', map);
  if (!learned) throw refuse('of a run that was stopped while it learned', 'resume it, or leave it out');
  return { map: learned };
}

/** The map that a state of this integral has learned, whatever its seed; throws when it is one of another integral. */
export function learnedFor(state: State, problem: Problem, integrand: BoundProgram): Learned {
  const refuse = refusal('state', state);
  if (!hasMap(state))
    throw refuse(`of ${state.method}, which has learned no map`, "use the state of a run by method 'vegas+'");
  checkIntegral('state', state, problem, integrand);
  const { learned } = readVegas('state', state);
  if (!learned) throw refuse('of a run that was stopped while it learned', 'resume it to its end first');
  return learned;
}

/** Whether a state comes from a method of the family of VEGAS, or from one that learns as these do. */
const hasMap = (state: State): boolean => ['vegas', 'lattice'].includes(familyOf(state));

/** The family of methods that a state comes from; that of VEGAS if its method is unknown, which is refused later. */
const familyOf = ({ method }: State) =>
  (Object.hasOwn(FAMILIES, method) ? FAMILIES[method as MethodName] : null) ?? 'vegas';

/** Throws unless a state is one of this problem. */
function checkFit(state: State, problem: Problem, integrand: BoundProgram): void {
  const refuse = refusal('resume', state);
  if (state.method !== problem.method)
    throw refuse(
      `of ${state.method}, not ${problem.method}`,
      `use method '${state.method}', or leave it out`,
    );
  checkIntegral('resume', state, problem, integrand);
  if (state.seed !== String(problem.seed)) throw refuse(`of seed ${state.seed}, not ${problem.seed}`, ANEW);
}

const ANEW = 'leave it out, or pass the options that it was made with';

/** Throws unless a state is one of this integral, by any method and with any seed. */
function checkIntegral(option: StateOption, state: State, problem: Problem, integrand: BoundProgram): void {
  const refuse = refusal(option, state);
  if (state.dims !== problem.dims) throw refuse(`of ${state.dims} dimensions, not ${problem.dims}`, ANEW);
  if (state.domain !== encode(problem.domain.axes)) throw refuse('of another domain', ANEW);
  if (state.integrand !== digestOf(integrand))
    throw refuse(
      'of another integrand or other params',
      learnsMap(state.method) ? 'leave it out, or pass it as `map` to begin with what it learned' : ANEW,
    );
}

const refusal = (option: StateOption, state: State) => (what: string, remedy: string) =>
  new OptionError(option, state, remedy, w => `${w.quoted(option)} is a state ${what}`);

const readVegas = (option: StateOption, state: State): VegasRecord =>
  readRecord<VegasRecord>(option, state, record =>
    [record.learned, record.began].every(l => l === null || isWhole(l, state.dims)),
  );

function readRegions(state: State): NonNullable<MethodProblem['regions']> {
  const record = readRecord<CubatureRecord>('resume', state, own => isCubatureRecord(own, state.dims));
  return 'pool' in record ? record : new KnownRegions(record, state.dims);
}

const readBlocks = (state: State): ZmcRecord =>
  readRecord<ZmcRecord>('resume', state, record => isZmcRecord(record, state.dims));

function readRecord<R extends MethodRecord>(
  option: StateOption,
  state: State,
  isSound: (record: R) => boolean,
): R {
  try {
    const record = decode<R>(state.record);
    if (isSound(record)) return record;
  } catch {
    // told below
  }
  throw refusal(option, state)('whose record cannot be read', 'pass the `state` of a result as it was');
}

/** Whether lists are as long as their counts say: devices copy them into memory by these. */
function isWhole({ bins, edges, ranges, strata, variances }: Learned, dims: number): boolean {
  const cubes = strata?.perAxis.reduce((a, b) => a * b, 1);
  return (
    ranges.length === dims &&
    edges instanceof Float64Array &&
    edges.length === dims * (bins + 1) &&
    edges.every((e, i) => Number.isFinite(e) && (i % (bins + 1) === 0 || e >= edges[i - 1])) &&
    (variances === null || (variances instanceof Float64Array && variances.length === cubes))
  );
}
