/**
 * The state of lowering one integrand from syntax tree to program, which statements, expressions and calls share.
 *
 * Lowering is partial evaluation: what is known at compile time is computed here and leaves no trace (loops over
 * dimensions, helper functions, arrays, destructuring); what is not known becomes instructions. Three assumptions are
 * optimistic: that a loop unrolls, that an array's elements need no memory, and that an array of constants is never
 * written to. When one fails, the node is recorded in `Decisions`. A loop is then lowered once more from its first turn;
 * an array may have been used before, so lowering starts again.
 */

import type { AnyNode } from 'acorn';
import type { Text } from '../../options/wording.ts';
import { Builder } from '../builder.ts';
import { IntegrandError, type Source } from '../diagnostics.ts';
import type { Id } from '../ir.ts';
import type { Shape } from '../shape.ts';
import { Flow, type Target } from './flow.ts';
import { describe, type Names, type Scalar, type Slot, type Val } from './values.ts';

/** The environment of a node: names in scope, targets of `return`, `break` and `continue`, the text it is part of. */
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

/** The nodes for which an optimistic assumption failed. They outlive a restart. */
export class Decisions {
  /** Loops that are not unrolled. */
  rolled = new Set<AnyNode>();
  /** Arrays that live in memory, because an index is known only at run time. */
  inMemory = new Set<AnyNode>();
  /** Arrays of constants that are written to. */
  written = new Set<AnyNode>();
  /** Nodes lowered so far, in all attempts. */
  steps = 0;
}

export class Restart extends Error {}

/** Compiling was still under way at the deadline. */
export class OutOfTime extends Error {}

export interface Limits {
  /** When compiling has to end, as performance.now() has it; then it throws `OutOfTime`. */
  deadline?: number;
  /** As the builder has it. */
  keepCalls?: boolean;
  /** Whether nothing can be loaded. */
  atOnce?: boolean;
}

/** Nodes that are lowered in all attempts together, at most: three seconds. */
const MAX_STEPS = 3_000_000;
/** Values of a program, at most. */
const MAX_VALUES = 200_000;
const STEPS_PER_LOOK = 4096;

export class Lowering {
  readonly builder: Builder;
  readonly flow: Flow;
  readonly decisions: Decisions;
  readonly limits: Limits;
  readonly arrays: number[] = [];
  readonly constants: Record<string, number[]> = {};
  /** The number of calls inlined so far. */
  inlined = 0;
  /** The number of turns of unrolled loops so far. */
  turns = 0;
  /** The shapes of what the integrand returns, each with the place where it does so. */
  readonly returns: { shape: Shape; env: Env; node: AnyNode }[] = [];
  /** The calls that are being inlined, outermost first; none in the integrand itself. */
  readonly calls: { fn: AnyNode; at: AnyNode; source: Source }[] = [];

  constructor(decisions: Decisions, limits: Limits = {}) {
    this.decisions = decisions;
    this.limits = limits;
    this.builder = new Builder(limits.keepCalls);
    this.flow = new Flow(this.builder);
  }

  /** Counts a node that is lowered; ends a compilation that takes too long. */
  step(env: Env, node: AnyNode): void {
    const steps = ++this.decisions.steps;
    if (steps > MAX_STEPS || this.builder.size > MAX_VALUES) {
      this.fail(
        env,
        node,
        `Unfolding the loops and helpers of this integrand takes ${steps > MAX_STEPS ? `more than ${MAX_STEPS} steps` : `more than ${MAX_VALUES} values`}.`,
        'Nest fewer loops and helpers, or let the number of turns come from `params`, so that the loop stays one.',
      );
    }
    if (steps % STEPS_PER_LOOK === 0 && performance.now() > (this.limits.deadline ?? Infinity))
      throw new OutOfTime('compiling took until maxTime');
  }

  fail(env: Env, node: AnyNode, reason: string, remedy: Text, runsAsItIs = true): never {
    // functions of this library are not in the user's text: the message points at the call that led there
    const blamed = env.source.internal ? this.calls.find(c => !c.source.internal) : undefined;
    const place = { source: blamed?.source ?? env.source, span: blamed?.at ?? node };
    const { called } = place.source;
    const inside = called && !reason.includes(`inside ${called},`) ? `In ${called}: ${reason}` : reason;
    throw new IntegrandError(inside, remedy, place, runsAsItIs);
  }

  /** The node by which a decision is recorded; for functions of this library, the user's call. */
  site(env: Env, node: AnyNode): AnyNode {
    return (env.source.internal && this.calls.find(c => !c.source.internal)?.at) || node;
  }

  /** Runs `body`; if it gives up, undoes what it did (Flow.attempt). */
  attempt(targets: readonly Target[], body: () => boolean): boolean {
    const { turns, inlined } = this;
    const [arrays, constants] = [this.arrays.length, Object.keys(this.constants).length];
    if (this.flow.attempt(targets, body)) return true;
    this.turns = turns;
    this.inlined = inlined;
    this.arrays.length = arrays;
    for (const name of Object.keys(this.constants).slice(constants)) delete this.constants[name];
    return false;
  }

  /** Records a decision and starts lowering again. */
  restart(set: Set<AnyNode>, node: AnyNode): never {
    if (set.has(node))
      throw new Error(`the compiler learned twice that ${node.type} at ${node.start} is not as it seemed`);
    set.add(node);
    throw new Restart();
  }

  get(slot: Slot): Val {
    return this.flow.state.get(slot) ?? { kind: 'unsettled', why: 'no longer available here' };
  }

  /** Writes to a slot of the current state; a method, because lowering `value` may have replaced the state. */
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

  /** The value as a condition, as JavaScript converts it. */
  toBool(v: Val, env: Env, node: AnyNode): Id {
    const { builder } = this;
    if (v.kind === 'bool') return v.id;
    if (v.kind === 'number') {
      return builder.op('and', builder.op('ne', v.id, builder.constant(0)), builder.op('eq', v.id, v.id));
    }
    if (v.kind === 'undefined' || v.kind === 'null') return builder.constant(false);
    if (v.kind === 'string') return builder.constant(v.text !== '');
    if (v.kind === 'unsettled') return this.misused(v, 'a condition', env, node);
    return builder.constant(true);
  }

  /** Fails for an element that may be undefined in JavaScript, where that would make a difference. */
  settled(v: Val, env: Env, node: AnyNode): void {
    if (!(v.kind === 'number' && v.element)) return;
    this.fail(
      env,
      node,
      'An element at an index known only at run time is a number, NaN outside the array, and never undefined.',
      'Test the index: i < a.length ? a[i] : 0.',
    );
  }

  /** The value, if it is known when compiling. */
  known(v: Val): number | boolean | undefined {
    return v.kind === 'number' || v.kind === 'bool' ? this.builder.constantOf(v.id) : undefined;
  }
}

export const AFTER_FILTER =
  'It has length, map, reduce with a first value, every, some, forEach and filter, and for … of walks it.';

export function remedyFor(v: Val): string {
  switch (v.kind) {
    case 'undefined':
      return 'Give it a value first.';
    case 'unsettled':
      if (v.early) return 'Declare it before it is used.';
      return 'Give it a value of one kind, a number or a boolean, on every path.';
    case 'point':
    case 'data':
    case 'tuple':
      return 'Use one of its elements, such as a[0].';
    case 'string':
      return 'An integrand computes with numbers and booleans only.';
    case 'filtered':
      return AFTER_FILTER;
    case 'iterator':
      return 'Use it where it is made: for (const [i, v] of a.entries()), or [...a.entries()].';
    case 'table':
      return 'Call it with its coordinates, such as p.spectrum(x[0]).';
    case 'function':
    case 'builtin':
      return 'Call it.';
    default:
      return 'Use one of its members.';
  }
}
