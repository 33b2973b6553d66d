/**
 * What the fuzzer found, reduced, with the verdict that each has since: `same` as JavaScript, or `refused`. A finding stays here
 * when it is mended.
 */
export const findings: Record<string, readonly [text: string, verdict: 'same' | 'refused']> = {
  'a string compared with a string': [
    "() => { const s = 'sq'; if (s === 'sq') return 1; return 0; }",
    'same',
  ],
  'a call with a string as its second argument, of a name that is not there': [
    '() => q(0, "log")',
    'refused',
  ],
  'a comparator that always says the same': ['x => { [2, x[0]].sort(() => -1); return 0; }', 'refused'],
  'a hole is no element for some': ['() => +[1, , 2].some(v => v === undefined)', 'refused'],
  'the length of Array with two arguments': ['() => Array(0, 0).length', 'same'],
  'concat puts a typed array in as one element': ['(x, p) => Math.max(...[].concat(p.data))', 'refused'],
  'reduce without a function': ['x => Array.from({ length: 0 }).concat(x[0]).reduce()', 'refused'],
  'a variable read in its own declaration': ['() => { let t = 1; { let t = t; } return 0; }', 'refused'],
  'a variable read in its own declaration, by a function': [
    '() => { let t = 1; { let t = (() => t)(); } return 0; }',
    'refused',
  ],
  'a variable read before its declaration, not used': [
    '() => { const n = n2; const n2 = 1; return 0; }',
    'refused',
  ],
  'a variable read before its declaration by a function called there': [
    '() => { const g = () => n; g(); const n = 1; return 0; }',
    'refused',
  ],
  'a function called before the declaration of a variable that it does not read': [
    'x => { const g = v => (v > 9 ? n : v); const t = g(0.5); const n = 1; return t + n; }',
    'same',
  ],
  'a special function of a boolean': ['(x, p, m) => m.erf(x[0] > 0) + m.erf(p.off)', 'same'],
  'an element at NaN is the first': ['x => [3].at(0 / x[0])', 'same'],
  'a function in a block with the name of one outside': [
    '() => { let t = 0; { function g() {} } function g() { t += 1; } g(); return t; }',
    'refused',
  ],
};
