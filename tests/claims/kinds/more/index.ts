/**
 * Further kinds of integrands, such as people who compute integrals bring along. All integrals are closed forms, or one-dimensional quadratures
 * to rounding. `bench:claims -- --more` makes claims about these.
 */
import type { Kind } from '../../kind.ts';
import { axisByAxis } from './axis-by-axis.ts';
import { manyBoxes } from './boxes.ts';
import { densities } from './densities.ts';
import { differences } from './differences.ts';
import { manyPeaks } from './many-peaks.ts';
import { obliquePlanes } from './oblique.ts';
import { order } from './order.ts';
import { waves } from './waves.ts';

export const moreKinds: readonly Kind[] = [
  ...axisByAxis,
  ...manyBoxes,
  ...order,
  ...obliquePlanes,
  ...manyPeaks,
  ...densities,
  ...waves,
  ...differences,
];
