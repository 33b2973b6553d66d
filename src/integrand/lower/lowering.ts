/**
 * One integrand on its way from syntax tree to program: what statements, expressions and calls share.
 *
 * Lowering runs the function on values that are only partly known. What is known at compile time is
 * computed here and leaves no trace: loops over dimensions, helper functions, arrays, destructuring.
 * What is not known becomes instructions. Two choices are made optimistically, that a loop unrolls and
 * that an array's elements need no memory; when one proves wrong, its node is remembered and lowering
 * starts again.
 */

import type { AnyNode } from 'acorn';
import type { Text } from '../../options/wording.ts';
import { Builder } from '../builder.ts';
import { IntegrandError, type Source } from '../diagnostics.ts';
import type { Id } from '../ir.ts';
import { Flow, type Target } from './flow.ts';
import { describe, type Names, type Scalar, type Slot, type Val } from './values.ts';

/** What a node is lowered in: names in scope, where `return`, `break` and `continue` lead, whose text it is. */
export interface Env {
  names: Names;
  source: Source;
  result: { target: Target; slot: Slot } | null;
  loops: LoopTargets | null;
}

export interface LoopTargets {
  labels: readonly string[];
  break: Target;
  /** Null for a labelled block, which can only be left. */
  continue: Target | null;
  outer: LoopTargets | null;
}

/** Choices that proved wrong, by the node they were made for. They outlive a restart. */
export class Lessons {
  rolled = new Set<AnyNode>();
  inMemory = new Set<AnyNode>();
  written = new Set<AnyNode>();
}

export class Restart extends Error {}

export class Lowering {
  readonly builder = new Builder();
  readonly flow = new Flow(this.builder);
  readonly lessons: Lessons;
  readonly arrays: number[] = [];
  readonly constants: Record<string, number[]> = {};
  /** Params that the integrand reads, as it names them. */
  readonly read = new Set<string>();
  /** Calls inlined so far. */
  inlined = 0;
  /** Turns of unrolled loops so far. */
  turns = 0;
  /** Calls being inlined, outermost first. */
  readonly calls: { fn: AnyNode; at: AnyNode; source: Source }[] = [];

  constructor(lessons: Lessons) {
    this.lessons = lessons;
  }

  fail(env: Env, node: AnyNode, reason: string, remedy: Text, runsAsItIs = true): never {
    // our own functions have no place in a user's file: blame the call that led there
    const blamed = env.source.internal ? this.calls.find(c => !c.source.internal) : undefined;
    const place = { source: blamed?.source ?? env.source, span: blamed?.at ?? node };
    throw new IntegrandError(reason, remedy, place, runsAsItIs);
  }

  /** What to remember a choice by: the node, or for our own functions the user's call. */
  site(env: Env, node: AnyNode): AnyNode {
    return (env.source.internal && this.calls.find(c => !c.source.internal)?.at) || node;
  }

  learn(set: Set<AnyNode>, node: AnyNode): never {
    if (set.has(node))
      throw new Error(`the compiler learned twice that ${node.type} at ${node.start} is not as it seemed`);
    set.add(node);
    throw new Restart();
  }

  get(slot: Slot): Val {
    return this.flow.state.get(slot) ?? { kind: 'unsettled', why: 'no longer available here' };
  }

  /** Writes to a slot of the current state; `value` may have been made by lowering, which replaces states. */
  set(slot: Slot, value: Val): void {
    this.flow.state.set(slot, value);
  }

  readonly number = (id: Id): Scalar => ({ kind: 'number', id });

  bool(id: Id): Scalar {
    return { kind: 'bool', id };
  }

  literal(value: number | boolean): Scalar {
    return { kind: typeof value === 'number' ? 'number' : 'bool', id: this.builder.constant(value) };
  }

  /** The value as a number, as JavaScript converts it. */
  toNumber(v: Val, env: Env, node: AnyNode): Id {
    if (v.kind === 'number') return v.id;
    if (v.kind === 'bool') return this.builder.op('number', v.id);
    return this.misused(v, 'a number', env, node);
  }

  /** Fails because a value of another kind was needed. */
  misused(v: Val, needed: string, env: Env, node: AnyNode): never {
    if (v.kind === 'undefined' && v.why) return v.why();
    return this.fail(env, node, `This is ${describe(v)}, where ${needed} is needed.`, remedyFor(v));
  }

  /** The value as a condition. */
  toBool(v: Val, env: Env, node: AnyNode): Id {
    const { builder } = this;
    if (v.kind === 'bool') return v.id;
    if (v.kind === 'number') {
      return builder.op('and', builder.op('ne', v.id, builder.constant(0)), builder.op('eq', v.id, v.id));
    }
    if (v.kind === 'undefined' || v.kind === 'null') return builder.constant(false);
    if (v.kind === 'unsettled' || v.kind === 'string') return this.misused(v, 'a condition', env, node);
    return builder.constant(true);
  }

  /** The value if it is known now. */
  known(v: Val): number | boolean | undefined {
    return v.kind === 'number' || v.kind === 'bool' ? this.builder.constantOf(v.id) : undefined;
  }
}

export function remedyFor(v: Val): string {
  switch (v.kind) {
    case 'undefined':
      return 'Give it a value first.';
    case 'unsettled':
      return 'Give it a value of one kind, a number or a boolean, on every path.';
    case 'point':
    case 'data':
    case 'tuple':
      return 'Use one of its elements, such as a[0].';
    case 'string':
      return 'An integrand computes with numbers and booleans only.';
    case 'table':
      return 'Call it with its coordinates, such as p.spectrum(x[0]).';
    case 'function':
    case 'builtin':
      return 'Call it.';
    default:
      return 'Use one of its members.';
  }
}
