/**
 * Params on their way to a worker, which calls the integrand as it is. Numbers and arrays are sent; functions travel as their
 * texts, and a worker makes them anew. That is possible for functions which use nothing from outside.
 */

import { isTable } from './is-table.ts';
import { isObjectParam, leavesOf, type Params } from './params.ts';

export interface MovedParams {
  /** Without the functions. */
  values: unknown;
  /** The functions by their paths, each as the text of an expression. */
  functions?: readonly (readonly [path: string, text: string])[];
}

/** `textOf` gives the text of a function from which it can be made anew. Undefined where that is impossible for one of them. */
export function moveParams(
  params: Params,
  textOf: (f: object) => string | undefined,
): MovedParams | undefined {
  const functions: [string, string][] = [];
  for (const [path, value] of leavesOf(params)) {
    if (isTable(value)) return undefined; // a table holds functions, which cannot be sent
    if (typeof value !== 'function') continue;
    const text = textOf(value);
    if (text === undefined) return undefined;
    functions.push([path, text]);
  }
  if (functions.length === 0) return { values: params };
  const withoutFunctions = (object: object): object =>
    Object.fromEntries(
      Object.entries(object).flatMap(([name, v]) => {
        if (typeof v === 'function') return [];
        return [[name, isObjectParam(v) ? withoutFunctions(v) : v]];
      }),
    );
  return { values: withoutFunctions(params), functions };
}

/** Params as a worker makes them. It uses nothing but its arguments: its text is a part of the program of workers. */
export function arrivedParams({ values, functions = [] }: MovedParams): unknown {
  const copy = (object: object): object =>
    Object.fromEntries(
      Object.entries(object).map(([name, v]) => [
        name,
        typeof v === 'object' && !ArrayBuffer.isView(v) ? copy(v) : v,
      ]),
    );
  const params = copy(values as object) as Record<string, unknown>;
  for (const [path, text] of functions) {
    const names = path.split('.');
    const last = names.pop() as string;
    let object = params;
    for (const name of names) object = object[name] as Record<string, unknown>;
    object[last] = new Function(`return (${text})`)();
  }
  return params;
}
