/** The options of the deterministic methods. */
import type { OptionsOf, OptionTable } from '../../options/table.ts';
import { RULES } from '../../tasks/rules.ts';

export const CUBATURE_OPTIONS = {
  /** The rule; by default Cuhre's choice for the number of dimensions. */
  rule: { kind: 'choice', choices: RULES, placeholder: 'RULE' },
  /** `pagani`, `two-phase`: parts of each axis at the start, a power of two (d in the paper). Default 1. */
  split: {
    kind: 'whole',
    least: 1,
    default: 1,
    accepts: parts => Number.isInteger(Math.log2(parts)),
    remedy: 'pass a power of two, such as 2',
  },
  /** Bytes that lists of regions may take; by default a quarter of the machine's memory. */
  maxMemory: {
    kind: 'number',
    least: 2 ** 20,
    infinite: true,
    remedy: 'pass bytes, from 1048576 on',
    typedAs: 'whole',
  },
  /** Random points that confirm a claim; 0: none. By default as many as the tolerance and the evaluations so far ask for. */
  witnesses: { kind: 'whole', least: 0 },
  /** Bytes that the `state` of a result may take for regions: 9·dims + 17·results for each that was evaluated; 600 per step of `pagani` on a card. Default 16777216. */
  maxState: {
    kind: 'number',
    least: 0,
    infinite: true,
    default: 2 ** 24,
    remedy: 'pass bytes, from 0 on',
    typedAs: 'whole',
  },
  /** `pagani`: drop regions whose relative error is small. By default until region values of both signs are seen. */
  relErrFilter: { kind: 'boolean' },
  // the paper has one region per slot of a multiprocessor; the defaults are its numbers, scaled down
  /** `two-phase`: regions that phase I hands to phase II, one per processor. Default 512. */
  processors: { kind: 'whole', least: 1, default: 512 },
  /** `two-phase`: regions that a processor can hold. Default 2048. */
  perProcessor: { kind: 'whole', least: 1, default: 2048 },
} as const satisfies OptionTable;

/** Options of `pagani`, `cuhre` and `two-phase`. */
export interface CubatureOptions extends OptionsOf<typeof CUBATURE_OPTIONS> {}
