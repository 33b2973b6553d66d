/** No false `converged` of a Monte Carlo method: the truth is within 5 errors. */
import { checkClaims } from './check.ts';

checkClaims({ methods: ['vegas+', 'mcubes', 'mcubes1d', 'zmc', 'plain'], seed: 30, runs: 12, least: 700 });
