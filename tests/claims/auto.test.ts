/** No false `converged` of `auto`: neither a value that PAGANI found, nor one of VEGAS+. */
import { checkClaims } from './check.ts';

checkClaims({ methods: ['auto'], seed: 10, runs: 32, least: 350 });
