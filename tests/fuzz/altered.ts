/** Programs as a sender might alter them: bytes with some changed, and structures with members taken out, swapped or replaced. */

import type { Program } from '../../src/integrand/ir.ts';
import { encodeProgram } from '../../src/integrand/verify.ts';
import type { Random } from '../compiler/random.ts';

const PIECES = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '1e999',
  '-1',
  'null',
  '__proto__',
  '\\u0000',
  '{"kind":"break","label":0,"args":[]}',
];

/** The bytes of a program with one to four changes. */
export function alteredBytes(program: Program, r: Random): Uint8Array {
  let bytes = [...encodeProgram(program)];
  for (let k = 1 + r.below(4); k > 0; k--) {
    const [i, j] = [r.below(bytes.length), r.below(bytes.length)];
    const change = r.below(6);
    if (change === 0) bytes[i] = r.below(256);
    else if (change === 1) bytes.splice(i, 1 + r.below(8));
    else if (change === 2) bytes.splice(i, 0, ...new TextEncoder().encode(r.pick(PIECES)));
    else if (change === 3)
      bytes[i] = 48 + r.below(10); // a digit
    else if (change === 4) bytes = bytes.slice(0, i + 1);
    else bytes.splice(i, 0, ...bytes.slice(j, j + 40));
  }
  return Uint8Array.from(bytes);
}

type Node = Record<string, unknown> | unknown[];

const VALUES: readonly unknown[] = [
  0,
  1,
  2,
  -1,
  1.5,
  1e9,
  2 ** 40,
  'NaN',
  '-0',
  'constructor',
  '__proto__',
  'f64',
  'bool',
  null,
  true,
  {},
  [],
  '0;process.exit()',
];
const OPERATIONS = [
  'add',
  'select',
  'lt',
  'not',
  'load',
  'coord',
  'param',
  'element',
  'const',
  'call',
  'exponent',
  'toString',
];
const KINDS = ['let', 'store', 'if', 'block', 'loop', 'yield', 'break', 'continue', 'unreachable', 'none'];

/** The structure of a program with one to three changes: most are well formed JSON, many well formed programs. */
export function alteredStructure(program: Program, r: Random): Uint8Array {
  const copy = JSON.parse(new TextDecoder().decode(encodeProgram(program))) as Node;
  const places: [Node, string | number][] = [];
  const visit = (node: Node) => {
    for (const key of Array.isArray(node) ? node.keys() : Object.keys(node)) {
      places.push([node, key]);
      const child = (node as Record<string | number, unknown>)[key];
      if (child && typeof child === 'object') visit(child as Node);
    }
  };
  visit(copy);
  for (let k = 1 + r.below(3); k > 0; k--) {
    const [node, key] = r.pick(places);
    const [other, from] = r.pick(places);
    const at = node as Record<string | number, unknown>;
    const source = other as Record<string | number, unknown>;
    const change = r.below(8);
    if (change === 0) at[key] = r.pick(VALUES);
    else if (change === 1 && Array.isArray(node)) node.splice(key as number, 1);
    else if (change === 1) delete at[key];
    else if (change === 2 && Array.isArray(node) && node.length < 50)
      node.splice(key as number, 0, structuredClone(source[from]));
    else if (change === 3) at[key] = structuredClone(source[from]);
    else if (change === 4 && typeof at[key] === 'number')
      at[key] = (at[key] as number) + r.pick([-1, 1, -2, 2, 100]);
    else if (change === 5 && 'op' in at) at.op = r.pick(OPERATIONS);
    else if (change === 6 && 'kind' in at) at.kind = r.pick(KINDS);
    else if (typeof at[key] === 'number') at[key] = r.below(12); // another id, label or array
  }
  return new TextEncoder().encode(JSON.stringify(copy));
}
