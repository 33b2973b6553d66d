/**
 * The values of the integrand's expressions while it is being compiled: a number or bool that some instruction
 * computes, or something that exists at compile time only (a function, an array whose elements are separate values,
 * the params object). The second kind never reaches the IR.
 */
import type { AnyNode, ArrowFunctionExpression, FunctionDeclaration, FunctionExpression } from 'acorn';
import type { Refused } from '../captures.ts';
import type { Source } from '../diagnostics.ts';
import type { Id } from '../ir.ts';
import type { Table } from '../tables.ts';

/** A mutable place: a variable, an element of a local array, the result of a call. */
export type Slot = number;

export type FunctionNode = ArrowFunctionExpression | FunctionExpression | FunctionDeclaration;

export interface FunctionValue {
  kind: 'function';
  node: FunctionNode;
  names: Names;
  source: Source;
  name: string;
}

/**
 * A local array, or an object literal when it has `keys`. Its elements are slots of their own, or live in
 * memory when some index is only known at run time.
 */
export interface TupleValue {
  kind: 'tuple';
  length: number;
  elements: Slot[];
  keys?: string[];
  /** The number of the memory array, or the name of the constant one. */
  memory?: number | string;
  /** An array in memory that was made with holes; which of them were filled is known at run time only. */
  holes?: boolean;
  /** It is a copy of a typed array, which holds numbers only and lacks some methods of arrays. */
  typed?: boolean;
  /** What messages call it, if it may not be written to. */
  fixed?: string;
  /** The node that made it, by which `Decisions` remembers that it has to move to memory. */
  site: AnyNode;
}

export interface TableValue {
  kind: 'table';
  name: string;
  called: string;
  table: Table;
}

/** What `filter` kept: all candidates, and for each 1 if it was kept, else 0. How many were is known at run time only. */
export interface FilteredValue {
  kind: 'filtered';
  values: TupleValue;
  kept: TupleValue;
}

/** What `entries`, `keys` or `values` of an array gave. It is used up where it is made, by `for … of` or a spread. */
export interface IteratorValue {
  kind: 'iterator';
  of: 'entries' | 'keys' | 'values';
  array: ArrayLikeValue;
  /** The call that made it. */
  site: AnyNode;
}

/** A fixed set of names: `Math`, `params` and objects in it, the third argument. */
export interface NamespaceValue {
  kind: 'namespace';
  what: string;
  fields: { get(name: string): Val | Refused | undefined; keys(): Iterable<string> };
  /** It is an object of the user's, where a member that is missing is undefined. */
  given?: boolean;
}

/** What a function finds under a name, or `module.name`, that it does not declare; undefined if nothing was captured for it. */
export type Outside = (reference: string) => Val | Refused | undefined;

/** The run-time index of an element, and the length of its array. */
export interface ElementAt {
  index: Id;
  length: number;
}

/** `at` is set for an element that was read just so. `element` marks a value that may be an element at a run-time index: outside the array that is undefined in JavaScript, but NaN here. */
export type Scalar = { kind: 'number' | 'bool'; id: Id; element?: boolean; at?: ElementAt };

export type Val =
  | Scalar
  /** `why` throws the error that says what is missing. It is called on use only: `??` or a default may replace it. */
  | { kind: 'undefined'; why?: () => never; hole?: boolean }
  | { kind: 'null' }
  /**
   * Differs between the paths that lead here, and no instruction can choose between them; using it is an error. `early` marks
   * a variable before its declaration, which may not be written to either.
   */
  | { kind: 'unsettled'; why: string; early?: boolean }
  | { kind: 'point'; length: number }
  /** `name` is that of the program's param, `called` what messages say. `rounds` is set for arrays other than Float64Array: in JavaScript a copy made by `map` or `slice` rounds. */
  | { kind: 'data'; name: string; called: string; length: number; rounds?: boolean }
  | TableValue
  | { kind: 'builtin'; name: string; fn: string }
  | { kind: 'string'; text: string }
  | NamespaceValue
  | TupleValue
  | FilteredValue
  | IteratorValue
  | FunctionValue;

export const isScalar = (v: Val): v is Scalar => v.kind === 'number' || v.kind === 'bool';
export type ArrayLikeValue = Extract<Val, { kind: 'point' | 'data' | 'tuple' }>;
export const isArray = (v: Val): v is ArrayLikeValue =>
  v.kind === 'point' || v.kind === 'data' || (v.kind === 'tuple' && !v.keys);

/** Names in scope, each bound to a slot. */
export class Names {
  readonly parent: Names | null;
  readonly outside: Outside | undefined;
  #own = new Map<string, { slot: Slot; constant: boolean }>();

  constructor(parent: Names | null, outside = parent?.outside) {
    this.parent = parent;
    this.outside = outside;
  }

  declare(name: string, slot: Slot, constant = false): void {
    this.#own.set(name, { slot, constant });
  }

  own(): Iterable<[string, { slot: Slot; constant: boolean }]> {
    return this.#own;
  }

  find(name: string): { slot: Slot; constant: boolean } | undefined {
    return this.#own.get(name) ?? this.parent?.find(name);
  }
}

/** What messages call a value. */
export function describe(v: Val): string {
  switch (v.kind) {
    case 'number':
      return 'a number';
    case 'bool':
      return 'a boolean';
    case 'unsettled':
      return `something ${v.why}`;
    case 'point':
      return 'the point';
    case 'data':
    case 'table':
      return `${v.kind === 'data' ? 'the array' : 'the table'} ${v.called}`;
    case 'namespace':
      return v.what;
    case 'builtin':
      return `the function ${v.name}`;
    case 'string':
      return 'a string';
    case 'tuple':
      return v.fixed ?? (v.keys ? 'an object' : 'an array');
    case 'filtered':
      return 'what `filter` kept, whose length is known at run time only';
    case 'iterator':
      return 'an iterator';
    case 'function':
      return v.name ? `the function ${v.name}` : 'a function';
    default:
      return v.kind;
  }
}
