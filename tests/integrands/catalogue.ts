/**
 * Every integrand of the four papers: m-Cubes, PAGANI, cuVegas and ZMCintegral. The application of m-Cubes, a
 * cosmological integral over six dimensions, is not among them: the paper does not define it (see tabulated.ts).
 */
import { applications } from './applications.ts';
import { cuvegas } from './cuvegas.ts';
import type { Entry } from './entry.ts';
import { suite } from './suite.ts';
import { zmc } from './zmc.ts';

export const catalogue: Entry[] = [...suite, ...cuvegas, ...applications, ...zmc];
