/** What few integrands use, in a file of its own: sorting, filtering by values, and the words for what the language lacks. */
export { isKept, lengthOf, lowerFilteredMethod, madeByFilter } from './filtered.ts';
export { refuseMember, refuseNode, refuseOperator } from './refused.ts';
export { comesBefore, contradicts, demand, lowerSort } from './sort.ts';
