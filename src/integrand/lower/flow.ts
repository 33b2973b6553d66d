/**
 * Control flow over states. A state says what every slot holds at a point of the program; where paths
 * meet, slots that differ become outputs of the construct that joins them. This is how mutable
 * variables turn into single assignments.
 *
 * A loop's carried slots are found by trial: the body is lowered as if no slot changed in it; the slots that did
 * change are carried in the next trial, until no others change. The statements of a failed trial are dropped.
 *
 * A slot that holds another array or object on another path, or after a turn of a loop, gets one with slots of its own, to which
 * the elements are copied (a choice). JavaScript has one object under two names there, so none of those that took part in
 * a choice may change any more: `chosen` has them, and writing to them is refused.
 */
import type { Builder, Scope } from '../builder.ts';
import { type Id, type Statement, type Type, walk } from '../ir.ts';
import { State } from './state.ts';
import { isScalar, type Scalar, type Slot, type TupleValue, type Val } from './values.ts';

/** A block or loop that `break` can leave. */
export interface Target {
  label: number;
  exits: Exit[];
}

/** An exit: its statement, whose arguments are filled in once all exits are known, and the state at that point. */
interface Exit {
  statement: Extract<Statement, { args: Id[] }>;
  state: State;
}

export class Flow {
  readonly builder: Builder;
  state = new State();
  /** The elements of arrays that took part in a choice. The chosen array is a copy, so they may not change later. */
  readonly chosen = new Set<readonly Slot[]>();
  #nextSlot = 0;

  constructor(builder: Builder) {
    this.builder = builder;
  }

  get dead(): boolean {
    return this.builder.scope.dead;
  }

  slot(value: Val): Slot {
    this.state.set(this.#nextSlot, value);
    return this.#nextSlot++;
  }

  if(cond: Id, then: () => void, otherwise: () => void): void {
    const known = this.builder.constantOf(cond);
    if (known !== undefined) return known ? then() : otherwise();
    const entry = this.state;
    const exits: Exit[] = [];
    const [a, b] = [then, otherwise].map(arm => {
      this.state = entry.copy();
      this.builder.open();
      arm();
      this.#yield(exits);
      return this.builder.close();
    });
    const [slots, types, maybe] = this.#join(entry, exits);
    if (exits.length > 0) return this.#assign(slots, this.builder.if(cond, a, b, types), maybe);
    // both arms end with breaks to outer labels: the second one becomes the rest of this list
    const stay: Scope = { ...b, body: [{ kind: 'yield', args: [] }] };
    this.builder.if(cond, a, stay, []);
    this.builder.splice(b);
    this.builder.scope.dead = true;
  }

  /** Runs `body`, which may leave early by `break(target)`. */
  block(body: (target: Target) => void): void {
    const { builder } = this;
    const entry = this.state;
    const target: Target = { label: builder.label(), exits: [] };
    this.state = entry.copy();
    builder.open();
    body(target);
    this.#yield(target.exits);
    const closed = builder.close();
    const last = closed.body.at(-1)!;
    const [only] = target.exits;
    if (target.exits.length === 1 && only.statement === last) {
      builder.splice(closed, 1); // the only exit is at the end: no block is needed
      this.state = only.state;
      return;
    }
    if (target.exits.length === 0) {
      builder.splice(closed); // the end is not reached: the body always breaks to an outer label
      builder.scope.dead = true;
      return;
    }
    const [slots, types, maybe] = this.#join(entry, target.exits);
    this.#assign(slots, builder.block(target.label, closed, types), maybe);
  }

  /** A loop that `break(target)`, or a break to an outer label, leaves; returns false when nothing leaves it. */
  loop(body: (target: Target) => void): boolean {
    const { builder } = this;
    const entry = this.state;
    const carried = new Set<Slot>();
    /** Carried slots that may hold an element at a run-time index after some turn. */
    const elements = new Set<Slot>();
    /** What slots hold at the head that hold another array or object of the same shape after a turn. */
    const heads = new Map<Slot, TupleValue>();
    for (;;) {
      const target: Target = { label: builder.label(), exits: [] };
      const choices = this.chosen.size;
      this.state = entry.copy();
      builder.open();
      const [slots, init] = this.#carry(carried);
      const values = slots.map(s => builder.out(this.#typeOf(entry.get(s)!)));
      this.#assign(
        slots,
        values.map(v => v.id),
        slots.map(s => elements.has(s) || isElement(entry.get(s)!)),
      );
      for (const s of carried) if (!slots.includes(s)) this.state.set(s, unsettled(entry.get(s)!));
      body(target);
      if (!this.dead) this.#backToHeads(heads);
      const changed = this.dead
        ? []
        : this.state
            .differences(entry)
            .filter(s => entry.has(s) && !carried.has(s) && !same(this.state.get(s)!, entry.get(s)!));
      if (changed.length > 0) {
        builder.close();
        const after = this.state;
        for (const s of changed) if (!this.#carryTuple(s, entry, after, heads, carried)) carried.add(s);
        continue;
      }
      if (!this.dead) {
        const args = slots.map(s => this.#idOf(this.state.get(s)!, this.#typeOf(entry.get(s)!)));
        const wrong = args.indexOf(undefined);
        if (wrong >= 0) {
          // a number that is of another kind after one turn cannot be carried: it is unsettled, and its use fails
          builder.close();
          entry.set(slots[wrong], unsettled(this.state.get(slots[wrong])!));
          continue;
        }
        const more = slots.filter(
          s => isElement(this.state.get(s)!) && !isElement(entry.get(s)!) && !elements.has(s),
        );
        if (more.length > 0) {
          builder.close();
          for (const s of more) elements.add(s);
          continue;
        }
        // an array from outside that a turn chose may have been written to earlier in that turn, which is after the choice
        if (heads.size > 0 && [...this.chosen].slice(choices).some(e => e.some(slot => entry.has(slot)))) {
          builder.close();
          continue;
        }
        builder.emit({ kind: 'continue', args: args as Id[] });
      }
      const closed = builder.close();
      const [outs, types, maybe] = this.#join(entry, target.exits);
      const out = types.map(t => builder.out(t));
      builder.emit({ kind: 'loop', label: target.label, init, carried: values, body: closed.body, out });
      this.#assign(
        outs,
        out.map(v => v.id),
        maybe,
      );
      if (target.exits.length === 0) builder.emit({ kind: 'unreachable' });
      return target.exits.length > 0 || leaves(closed.body);
    }
  }

  /**
   * Runs `body`, which may give up by returning false: then what it did is undone, and false is returned. `targets` are those
   * that it may leave to.
   */
  attempt(targets: readonly Target[], body: () => boolean): boolean {
    const { builder, chosen } = this;
    const before = this.state.copy();
    const exits = targets.map(t => t.exits.length);
    const [choices, size] = [chosen.size, builder.size];
    builder.open();
    const done = body();
    const closed = builder.close();
    if (done) {
      builder.splice(closed);
      builder.scope.dead ||= closed.dead;
      return true;
    }
    this.state = before;
    for (const [i, t] of targets.entries()) t.exits.length = exits[i];
    for (const c of [...chosen].slice(choices)) chosen.delete(c);
    builder.forget(size);
    return false;
  }

  /**
   * Makes a slot carry its array or object, which is another one of the same shape after a turn; false if it cannot. Of the new
   * elements, those that a turn changed are carried at once.
   */
  #carryTuple(
    slot: Slot,
    entry: State,
    after: State,
    heads: Map<Slot, TupleValue>,
    carried: Set<Slot>,
  ): boolean {
    if (heads.delete(slot)) return false; // its shape changes after all
    const [first, last] = [entry.get(slot)!, after.get(slot)!];
    const [start, end] = [this.#asTuple(first, last, entry), this.#asTuple(last, first, after)];
    if (!start || !end || shape(start) !== shape(end)) return false;
    const elements = start.elements.map((e, k) => {
      const [value, next] = [entry.get(e)!, after.get(end.elements[k])!];
      const own = this.#nextSlot++;
      entry.set(own, value);
      if (isScalar(value) && !same(value, next)) carried.add(own);
      return own;
    });
    this.chosen.add(start.elements).add(elements);
    const head = { ...start, elements };
    entry.set(slot, head);
    heads.set(slot, head);
    return true;
  }

  /** At the end of a turn: copies what the carried arrays and objects have become to the elements of those at the head. */
  #backToHeads(heads: ReadonlyMap<Slot, TupleValue>): void {
    const writes: [Slot, Val][] = []; // done at last: two variables may have exchanged their arrays
    const copy = (slot: Slot, value: Val): void => {
      const head = heads.get(slot);
      const end = head && this.#asTuple(value, head, this.state);
      if (!end || shape(end) !== shape(head)) {
        writes.push([slot, value]);
        return;
      }
      this.chosen.add(end.elements);
      head.elements.forEach((e, k) => {
        copy(e, this.state.get(end.elements[k])!);
      });
      writes.push([slot, head]);
    };
    const nested = new Set([...heads.values()].flatMap(h => h.elements));
    for (const slot of heads.keys()) if (!nested.has(slot)) copy(slot, this.state.get(slot)!);
    for (const [slot, value] of writes) this.state.set(slot, value);
  }

  /**
   * A value that can take part in a choice: an array or object with slots of its own, or the point where `other` is an array.
   * The slots of the point's coordinates are new in `state`.
   */
  #asTuple(v: Val, other: Val, state: State): TupleValue | undefined {
    if (v.kind === 'tuple') return v.memory === undefined ? v : undefined;
    if (v.kind !== 'point' || other.kind !== 'tuple') return undefined;
    const elements = Array.from({ length: v.length }, (_, i) => {
      const slot = this.#nextSlot++;
      state.set(slot, { kind: 'number', id: this.builder.coordinate(i) });
      return slot;
    });
    return { kind: 'tuple', length: v.length, elements, site: other.site, fixed: 'the point' };
  }

  break(target: Target): void {
    const statement = { kind: 'break' as const, label: target.label, args: [] };
    this.builder.emit(statement);
    target.exits.push({ statement, state: this.state });
  }

  #yield(exits: Exit[]): void {
    if (this.dead) return;
    const statement = { kind: 'yield' as const, args: [] };
    this.builder.emit(statement);
    exits.push({ statement, state: this.state });
  }

  #typeOf(v: Val): Type {
    return v.kind === 'bool' ? 'bool' : 'f64';
  }

  #idOf(v: Val, type: Type): Id | undefined {
    return (v.kind === 'number' || v.kind === 'bool') && this.#typeOf(v) === type ? v.id : undefined;
  }

  #carry(carried: Set<Slot>): [Slot[], Id[]] {
    const slots = [...carried].filter(s => isScalar(this.state.get(s)!));
    return [slots, slots.map(s => (this.state.get(s) as { id: Id }).id)];
  }

  #assign(slots: Slot[], ids: Id[], elements: boolean[]): void {
    slots.forEach((s, i) => {
      const kind = this.builder.type(ids[i]) === 'bool' ? 'bool' : 'number';
      this.state.set(s, { kind, id: ids[i], ...(elements[i] && { element: true }) });
    });
  }

  /**
   * Sets the state after all exits and gives each its arguments. A slot gets an output unless every exit agrees
   * on a value that is visible here; a slot that no instruction can choose for becomes unsettled. Returns the slots with
   * outputs, their types, and whether each may hold an element at a run-time index.
   */
  #join(entry: State, exits: Exit[]): [Slot[], Type[], boolean[]] {
    if (exits.length === 0) {
      this.state = entry.copy();
      return [[], [], []];
    }
    const slots: Slot[] = [];
    const types: Type[] = [];
    const elements: boolean[] = [];
    const state = entry.copy();
    const valuesOf = (slot: Slot) => exits.map(e => e.state.get(slot)!);
    const done = new Set<Slot>();
    const put = (slot: Slot, values: Val[]): void => {
      done.add(slot);
      const [first] = values;
      const agree = values.every(v => same(v, first));
      if (agree && first.kind === 'tuple') {
        state.set(slot, first);
        for (const e of first.elements) if (!entry.has(e) && !done.has(e)) put(e, valuesOf(e)); // made inside it
        return;
      }
      const model = values.find(v => v.kind === 'tuple');
      const tuples = model ? values.map((v, i) => this.#asTuple(v, model, exits[i].state)) : [];
      if (model && tuples.every(t => t !== undefined && shape(t) === shape(model))) {
        const chosen = model.elements.map((_, k) => {
          const element = this.#nextSlot++;
          put(
            element,
            exits.map((e, i) => e.state.get(tuples[i]!.elements[k])!),
          );
          return element;
        });
        for (const t of tuples) this.chosen.add(t!.elements);
        this.chosen.add(chosen);
        state.set(slot, { ...model, elements: chosen });
        return;
      }
      if (agree && (!isScalar(first) || this.builder.visible(first.id))) state.set(slot, first);
      else if (isScalar(first) && values.every(v => v.kind === first.kind)) {
        slots.push(slot);
        types.push(this.#typeOf(first));
        elements.push(values.some(isElement));
        exits.forEach((e, i) => {
          e.statement.args.push((values[i] as Scalar).id);
        });
      } else state.set(slot, unsettled(...values));
    };
    const changed = new Set(exits.flatMap(e => e.state.differences(entry)));
    for (const slot of [...changed].sort((a, b) => a - b)) if (entry.has(slot)) put(slot, valuesOf(slot));
    this.state = state;
    return [slots, types, elements];
  }
}

/** Whether a break in the list leads outside it. */
function leaves(list: Statement[]): boolean {
  const inside = new Set<number>();
  let found = false;
  walk(list, s => {
    if (s.kind === 'block' || s.kind === 'loop') inside.add(s.label);
    if (s.kind === 'break') found ||= !inside.has(s.label);
  });
  return found;
}

const isElement = (v: Val): boolean => v.kind === 'number' && v.element === true;

const shape = (t: TupleValue) => `${t.typed ? 'typed ' : ''}${t.keys ? t.keys.join() : t.length}`;

/** Whether two values are identical: the same id, or the same compile-time object. */
export function same(a: Val, b: Val): boolean {
  if (isScalar(a)) return isScalar(b) && a.id === b.id;
  if (a.kind === 'undefined') return b.kind === 'undefined' && !a.hole === !b.hole;
  if (a.kind === 'string') return b.kind === 'string' && a.text === b.text;
  return a === b || (a.kind === b.kind && (a.kind === 'unsettled' || a.kind === 'null'));
}

function unsettled(...values: Val[]): Val {
  const undef = values.some(v => v.kind === 'undefined');
  const known = values.find(v => v.kind === 'unsettled');
  if (known && !undef) return known;
  return { kind: 'unsettled', why: undef ? 'undefined on some path' : 'of another kind on another path' };
}
