/** No false `converged` of a deterministic method: the truth is within max(error, tolerance). */
import { checkClaims } from './check.ts';

checkClaims({ methods: ['pagani', 'cuhre', 'two-phase'], seed: 20, runs: 15, least: 450 });
