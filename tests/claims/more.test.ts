/** No false claim about the further kinds of integrands. */
import { checkClaims } from './check.ts';
import { moreKinds } from './kinds/more/index.ts';

checkClaims({ methods: ['auto', 'pagani', 'vegas+'], seed: 70, runs: 4, least: 250, among: moreKinds });
