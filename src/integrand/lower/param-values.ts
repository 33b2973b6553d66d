/**
 * Params, and what functions capture, as values of the lowering. Numbers are made at the head of the program, where they are
 * visible everywhere. Objects and functions are made when they are first used: a function that the integrand does not call is
 * not parsed, so it may be one that the language does not have.
 */
import { type Captured, type Captures, capturesIn, Refused } from '../captures.ts';
import { isTable } from '../is-table.ts';
import { allLeaves, type Leaf, type ParamFunction, type Params, roundsOf } from '../params.ts';
import { readParam } from '../read.ts';
import { nativeFunction } from './globals.ts';
import type { Lowering } from './lowering.ts';
import { writtenName } from './toolchains.ts';
import { type FunctionValue, Names, type Outside, type Val } from './values.ts';

export class ParamValues {
  readonly #params: Params;
  readonly #captures: Captures | undefined;
  /** By path: the same object or function is one value wherever it is read, so that paths which hold it agree. */
  readonly #made = new Map<string, Val>();

  constructor(l: Lowering, params: Params) {
    this.#params = params;
    this.#captures = capturesIn(params);
    for (const [path, value] of allLeaves(params)) {
      const kind = typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'bool' : undefined;
      const id = kind && l.builder.value({ op: 'param', name: path }, kind === 'number' ? 'f64' : 'bool');
      if (id !== undefined) this.#made.set(path, { kind: kind!, id });
    }
  }

  /** The second argument of the integrand. */
  get params(): Val {
    return this.#object('', 'params', this.#params);
  }

  /** What a function finds under names that it does not declare. */
  outside(f: unknown): Outside | undefined {
    const names = this.#captures?.get(f as object);
    if (!names) return undefined;
    return reference => {
      const found = names.get(reference);
      return found && this.#value(found.path, writtenName(reference), found.value);
    };
  }

  #value(path: string, called: string, value: Captured): Val | Refused {
    if (value instanceof Refused) return value;
    const known = this.#made.get(path);
    if (known) return known;
    const made = this.#make(path, called, value as Exclude<Captured, Refused>);
    this.#made.set(path, made);
    return made;
  }

  #make(path: string, called: string, value: Leaf | Params): Val {
    if (isTable(value)) return { kind: 'table', name: path, called, table: value };
    if (typeof value === 'function')
      return nativeFunction(value) ?? this.#function(called, value as ParamFunction);
    if (ArrayBuffer.isView(value))
      return { kind: 'data', name: path, called, length: value.length, rounds: roundsOf(value) };
    return this.#object(path, called, value as Params);
  }

  #object(path: string, called: string, members: Params): Val {
    return {
      kind: 'namespace',
      what: called,
      fields: {
        get: name =>
          Object.hasOwn(members, name)
            ? this.#value(path ? `${path}.${name}` : name, `${called}.${name}`, members[name])
            : undefined,
        keys: () => Object.keys(members),
      },
      given: true,
    };
  }

  #function(called: string, f: ParamFunction): FunctionValue {
    const { node, source } = readParam(f, called);
    const name = node.id?.name ?? called.slice(called.lastIndexOf('.') + 1);
    return { kind: 'function', node, source, names: new Names(null, this.outside(f)), name };
  }
}
