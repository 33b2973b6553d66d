/** All kinds of integrands. */
import type { Kind } from '../kind.ts';
import { ends } from './ends.ts';
import { kinks } from './kinks.ts';
import { peaks } from './peaks.ts';
import { periodic } from './periodic.ts';
import { planes } from './planes.ts';
import { round } from './round.ts';
import { steps } from './steps.ts';
import { tails } from './tails.ts';

export const kinds: readonly Kind[] = [
  ...steps,
  ...planes,
  ...round,
  ...peaks,
  ...kinks,
  ...periodic,
  ...tails,
  ...ends,
];
