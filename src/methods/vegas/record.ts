/** What a run of VEGAS has done, as data: recorded-sampling.ts writes it, and goes on from it. */
import { OptionError } from '../../options/option-error.ts';
import type { NonFinite } from '../../tasks/part.ts';
import type { Ranges } from '../../tasks/region.ts';
import type { Strata } from '../../tasks/strata.ts';
import type { Estimate } from '../combine.ts';
import type { ShiftMeans } from '../lattice/shift-means.ts';
import type { MethodProblem, Nearest, Several } from '../method.ts';
import type { UnitState } from '../result-units.ts';
import type { Knobs } from './knobs.ts';
import type { Box, WitnessState } from './witness.ts';

/** The state of a sampling but for its map and the variances of cubes. */
export interface Scalars extends UnitState {
  bins: number;
  strata: Strata | null;
  known: boolean;
  iteration: number;
  carriers: number;
  endBins: Nearest;
  witnesses: WitnessState;
  /** Lattices of the present measurement; null when there are none. */
  lattice: ShiftMeans | null;
  seen: boolean;
  nonFinite: boolean;
  probed: Estimate | null;
}

/** What was learned: the map and, where they are known, the variances of cubes. */
export interface Learned {
  bins: number;
  /** The box that the map is of. */
  ranges: Ranges;
  edges: Float64Array;
  strata: Strata | null;
  /** Variances of the cubes; null where they are not known, or are in the memory of a card. */
  variances: Float64Array | null;
}

/** A call that was answered by samples. */
export interface Call {
  what: 'probe' | 'adapt' | 'measure' | 'lattice' | 'witness' | 'seed';
  /** Samples, or 0 for `seed`; α where it is given; the boxes of `seed`; the lattices. */
  evaluations: number;
  alpha: number | null;
  boxes: readonly Box[] | null;
  lattice?: readonly [shifts: number, log2: number, folded: boolean];
}

/** A call, what it spent and found, and the state of the sampling after it. */
export interface Entry extends Call {
  spent: number;
  /** The estimate of an iteration, or the number of witnesses. */
  result: Estimate | number | null;
  after: Scalars;
  nonFinite: NonFinite[];
}

export interface VegasRecord {
  knobs: Knobs;
  /** Of several results those that the run learned from, and its goals; absent for one. */
  several?: Pick<Several, 'goals' | 'leads' | 'allPairs'>;
  /** The map that the run began with, if it was given one. */
  began: Learned | null;
  entries: readonly Entry[];
  /** Null when the run ended in the middle of learning, or was stopped while a card had the map. */
  learned: Learned | null;
}

/** What was recorded with other knobs or goals would be taken for what these find. */
export function checkRecord({ resume, several }: MethodProblem, knobs: Knobs): void {
  if (!resume) return;
  const [then, now] = [resume.several, several].map(
    s => s && JSON.stringify([s.goals, s.leads, !!s.allPairs]),
  );
  if (then !== now)
    throw new OptionError(
      'resume',
      resume,
      'pass the `goals`, `learnFrom` and `covariance` that it was made with, or leave it out',
      w =>
        `${w.quoted('resume')} is a state of a run with other ${w.quoted('goals')}, ${w.quoted('learnFrom')} or ${w.quoted('covariance')}`,
    );
  if (JSON.stringify(resume.knobs) !== JSON.stringify(knobs))
    throw new OptionError(
      'resume',
      resume,
      'pass the `vegas` options that it was made with, or leave it out',
      w => `${w.quoted('resume')} is a state of a run with other ${w.quoted('vegas')} options`,
    );
}
