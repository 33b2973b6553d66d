/** Arrays of the integrand: separate values while every index is known when compiling, memory once one is not. */
import type { AnyNode } from 'acorn';
import type { Id } from '../ir.ts';
import { type Env, type Lowering, remedyFor } from './lowering.ts';
import {
  type ArrayLikeValue,
  describe,
  type IteratorValue,
  isArray,
  type TupleValue,
  type Val,
} from './values.ts';

/** The most elements that an array in memory, or one that is spread, may have. */
const MAX_ARRAY_LENGTH = 4096;

/** An array with these elements: in slots, or in memory if an earlier attempt met an index that is not known. */
export function makeArray(l: Lowering, values: Val[], env: Env, node: AnyNode): TupleValue {
  const site = l.site(env, node);
  const { length } = values;
  if (!l.decisions.inMemory.has(site)) {
    return { kind: 'tuple', length, elements: values.map(v => l.flow.slot(v)), site };
  }
  if (length > MAX_ARRAY_LENGTH) {
    l.fail(
      env,
      node,
      `This array has ${length} elements; one that is indexed at run time may have ${MAX_ARRAY_LENGTH}.`,
      'Pass long arrays in `params`, as a Float64Array.',
    );
  }
  const known = values.map(v => l.known(v));
  if (known.every(k => typeof k === 'number') && !l.decisions.written.has(site)) {
    const name = `#${Object.keys(l.constants).length}`;
    const same = Object.keys(l.constants).find(
      k => l.constants[k].length === length && l.constants[k].every((v, i) => Object.is(v, known[i])),
    );
    if (!same) l.constants[name] = known as number[];
    return { kind: 'tuple', length, elements: [], memory: same ?? name, site };
  }
  const memory = l.arrays.push(Math.max(1, length)) - 1;
  // functions of this library fill what they make with Array(n)
  const holes = !env.source.internal && values.some(v => v.kind === 'undefined' && v.hole);
  values.forEach((v, i) => {
    const value =
      v.kind === 'number'
        ? v.id
        : v.kind === 'undefined'
          ? l.builder.constant(NaN)
          : l.fail(
              env,
              node,
              `An array indexed at run time holds numbers only, and this has ${describe(v)}.`,
              'Use indices known when the integrand is compiled, or several arrays of numbers.',
            );
    l.builder.emit({ kind: 'store', array: memory, index: l.builder.constant(i), value });
  });
  return { kind: 'tuple', length, elements: [], memory, site, ...(holes && { holes }) };
}

/** The elements of an array or of an iterator, one by one. */
export function spread(l: Lowering, array: Val, env: Env, node: AnyNode): Val[] {
  if (array.kind === 'iterator') {
    const { length } = iterated(l, array, env, node.type === 'SpreadElement' ? node.argument : node);
    return Array.from({ length }, (_, i) => nextOf(l, array, l.literal(i), env, node));
  }
  if (!isArray(array))
    return l.fail(
      env,
      node,
      `Only an array can be spread; this is ${describe(array)}.`,
      array.kind === 'filtered'
        ? 'Use reduce, as in reduce((a, b) => Math.max(a, b), -Infinity), or for … of.'
        : 'Spread the point, a local array or an array of params.',
    );
  if (array.length > MAX_ARRAY_LENGTH)
    l.fail(env, node, `An array of ${array.length} elements is too long to spread.`, 'Walk it with a loop.');
  return Array.from({ length: array.length }, (_, i) => elementAt(l, array, l.literal(i), env, node));
}

/** The array that an iterator walks. Fails unless it is used up by the expression that made it: elsewhere some of it may be used. */
export function iterated(l: Lowering, iterator: IteratorValue, env: Env, node: AnyNode): ArrayLikeValue {
  if (iterator.site !== node) l.fail(env, node, 'An iterator is used where it is made.', remedyFor(iterator));
  return iterator.array;
}

/** What an iterator gives at the i-th step. */
export function nextOf(l: Lowering, { array, of }: IteratorValue, i: Val, env: Env, node: AnyNode): Val {
  if (of === 'keys') return i;
  const value = elementAt(l, array, i, env, node);
  return of === 'values' ? value : makeArray(l, [i, value], env, node);
}

/** The index as a value; as a number, if it is known when compiling; and the error, if it is outside the array. */
function indexOf(l: Lowering, index: Val, array: ArrayLikeValue, env: Env, node: AnyNode) {
  if (index.kind === 'bool')
    l.fail(env, node, 'An index is a number; this is a boolean.', 'Write c ? 1 : 0.');
  const id = l.toNumber(index, env, node);
  const known = l.builder.constantOf(id) as number | undefined;
  if (known === undefined || (Number.isInteger(known) && known >= 0 && known < array.length))
    return { id, known };
  const { length } = array;
  const what = array.kind === 'data' ? array.called : 'this array';
  const outside: [string, string] =
    array.kind === 'point' || (array.kind === 'tuple' && array.fixed)
      ? [
          `The integrand reads coordinate ${known}, but a point has ${length} (0 to ${length - 1}).`,
          'Check `dims` or `domain`, or the index.',
        ]
      : [
          `Index ${known} is outside ${what} of length ${length}.`,
          'Check the index; arrays in an integrand have a fixed size.',
        ];
  return { id, known, outside };
}

export function elementAt(l: Lowering, object: Val, index: Val, env: Env, node: AnyNode): Val {
  if (!isArray(object)) return l.misused(object, 'an array', env, node);
  const { id: i, known, outside } = indexOf(l, index, object, env, node);
  if (outside) return { kind: 'undefined', why: () => l.fail(env, node, ...outside) };
  const read = (id: Id): Val =>
    known === undefined
      ? { kind: 'number', id, element: true, at: { index: i, length: object.length } }
      : { kind: 'number', id };
  if (object.kind === 'point') return read(l.builder.value({ op: 'coord', args: [i] }, 'f64'));
  if (object.kind === 'data')
    return read(l.builder.value({ op: 'element', array: object.name, args: [i] }, 'f64'));
  const { memory } = object;
  if (memory === undefined) {
    if (known !== undefined) {
      const value = l.get(object.elements[known]);
      return value.kind === 'undefined' && value.hole ? { kind: 'undefined' } : value;
    }
    checkMovable(l, object, env, node);
    return l.restart(l.decisions.inMemory, object.site);
  }
  if (typeof memory === 'number')
    return read(l.builder.value({ op: 'load', array: memory, args: [i] }, 'f64'));
  if (known !== undefined) return l.literal(l.constants[memory][known]);
  return read(l.builder.value({ op: 'element', array: memory, args: [i] }, 'f64'));
}

export function storeElement(
  l: Lowering,
  array: TupleValue,
  index: Val,
  value: Val,
  env: Env,
  node: AnyNode,
): void {
  checkWritable(l, array, env, node);
  const { id: i, known, outside } = indexOf(l, index, array, env, node);
  if (outside) return l.fail(env, node, ...outside);
  if (array.memory === undefined) {
    if (known === undefined) l.restart(l.decisions.inMemory, array.site);
    if (array.typed && value.kind !== 'number') l.misused(value, 'a number', env, node);
    return l.set(array.elements[known], value);
  }
  if (typeof array.memory === 'string') l.restart(l.decisions.written, array.site);
  if (value.kind !== 'number')
    l.fail(env, node, `This array holds numbers, and this is ${describe(value)}.`, remedyFor(value));
  l.builder.emit({ kind: 'store', array: array.memory, index: i, value: value.id });
}

/** Fails when an array may not be written to. */
export function checkWritable(l: Lowering, array: TupleValue, env: Env, node: AnyNode): void {
  if (!l.flow.chosen.has(array.elements)) return;
  l.fail(
    env,
    node,
    `This ${array.keys ? 'object' : 'array'} may be another one on another path or turn, so it cannot be changed.`,
    array.keys
      ? 'Change a copy: o = { ...o }; or choose between copies: c ? { ...a } : { ...b }.'
      : 'Change a copy: a = [...a]; or choose between copies: c ? [...a] : [...b].',
  );
}

/** Fails for an array made by a choice: no single node makes it, so it cannot move to memory. */
function checkMovable(l: Lowering, array: TupleValue, env: Env, node: AnyNode): void {
  if (!l.flow.chosen.has(array.elements)) return;
  l.fail(
    env,
    node,
    'This array was chosen between several, so its indices must be known when the integrand is compiled.',
    'Copy it first: const a = [...b].',
  );
}
