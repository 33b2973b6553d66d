/** Claims of `lattice`; see check.ts. */
import { checkClaims } from './check.ts';

checkClaims({ methods: ['lattice'], seed: 60, runs: 3, least: 40 });
