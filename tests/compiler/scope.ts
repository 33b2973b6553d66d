/** What a generated program can see at a point of its text, and what it may do with it. */
export type Name =
  | { kind: 'number'; name: string; mutable: boolean; below?: number } // below: a counter, an integer in [0, below)
  | { kind: 'bool'; name: string; mutable: boolean }
  | { kind: 'array'; name: string; length: number; writable: boolean }
  | { kind: 'helper'; name: string; takes: ('number' | 'array')[] };

export type Kind<K extends Name['kind']> = Extract<Name, { kind: K }>;

export interface Scope {
  names: Name[];
  /** Labels of the loops around, innermost last; '' for one without. */
  loops: string[];
  /** Labels of blocks around. */
  blocks: string[];
  /** How to leave the function: undefined where `return` cannot stand. */
  leave: (() => string) | undefined;
  /** Inside a helper, where `var` would make a variable of its own. */
  helper: boolean;
  /** How many times what is written here may run: loops multiply it, and stay below a bound. */
  runs: number;
}

export function inner(scope: Scope, more: Partial<Scope> = {}): Scope {
  return { ...scope, names: [...scope.names], ...more };
}

export function namesOf<K extends Name['kind']>(scope: Scope, kind: K): Kind<K>[] {
  return scope.names.filter((n): n is Kind<K> => n.kind === kind);
}
