/**
 * Writes one program as the instructions of one function that works on two points at a time. Values are in values.ts; control
 * flow is here.
 *
 * Control flow that is the same for both lanes becomes jumps. Where lanes diverge, both branches are run, each
 * under a mask of the lanes that take it (and skipped when there are none). The mask matters in three
 * places only: the outputs of a divergent construct, which each lane must set when it leaves and not
 * later; stores to local arrays; and the end of a loop, when no lane is left in it. All other values may
 * be computed in lanes that do not need them.
 *
 * The `exit` mask of a divergent label collects the lanes that left for it. After a construct from which lanes may
 * have left, those lanes are removed from the mask; if the mask is then empty, the rest is jumped over.
 */
import type { FunctionWriter } from '../../../wasm/assembler.ts';
import type { Id, Program, Statement, Value } from '../../ir.ts';
import { findDivergence } from './divergence.ts';
import { labelsLeft } from './uses.ts';
import { type EmitterOptions, type Form, Values } from './values.ts';

interface Label {
  out: number[];
  /** The jump target behind the construct. */
  end: number;
  /** The local with the mask of the lanes that left for this label; null if the label is not divergent. */
  exit: number | null;
}

export class Emitter {
  readonly #program: Program;
  readonly #w: FunctionWriter;
  readonly #values: Values;
  readonly #varying: ReadonlySet<Id>;
  readonly #divergent: ReadonlySet<number>;
  readonly #labels = new Map<number, Label>();
  /** The forms of locals that are assigned. */
  readonly #formOf = new Map<number, Form>();
  /** Jump targets for an empty mask, innermost last: each is behind an arm or a divergent construct. */
  readonly #skips: number[] = [];
  #mask: number | null = null;
  #stray: number | null = null;

  constructor(program: Program, options: EmitterOptions) {
    this.#program = program;
    this.#w = options.writer;
    const { varying, divergent } = findDivergence(program);
    this.#varying = varying;
    this.#divergent = divergent;
    this.#values = new Values(program, options, varying);
  }

  /** Computes, once per batch, every value that is the same for all points. */
  invariants(): void {
    this.#values.invariants();
    this.#stray = this.#program.arrays.length > 0 ? this.#w.local('v128') : null;
  }

  /** Computes the program for two points; `result` gives what it computed. */
  body(): void {
    if (this.#stray !== null) this.#w.v128(0).set(this.#stray);
    this.#list(this.#program.body, []);
  }

  /** Pushes one of the results after `body`, as a vector. */
  result(id: Id): void {
    this.#values.vector(id);
    if (this.#stray !== null) this.#w.get(this.#stray).op('v128.or'); // all bits set is a NaN
  }

  #list(list: Statement[], ends: number[], masked = false): void {
    for (const s of list) this.#statement(s, ends, masked);
  }

  /** A yield or continue at the end of this list sets the locals `ends`; if `masked`, in the lanes of the mask only. */
  #statement(s: Statement, ends: number[], masked: boolean): void {
    const w = this.#w;
    switch (s.kind) {
      case 'let':
        return this.#values.let(s);
      case 'store':
        return this.#values.store(s, this.#mask, this.#stray!);
      case 'if':
        if (this.#varying.has(s.cond)) this.#splitIf(s);
        else this.#uniformIf(s);
        return this.#afterExits(s);
      case 'block':
        return this.#block(s);
      case 'loop':
        return this.#loop(s);
      case 'yield':
      case 'continue':
        return this.#assign(ends, s.args, masked);
      case 'break': {
        const { out, end, exit } = this.#labels.get(s.label)!;
        this.#assign(out, s.args, exit !== null);
        if (exit === null) w.br(end);
        else {
          this.#pushMask();
          w.get(exit).op('v128.or').set(exit);
        }
      }
    }
  }

  #pushMask(): void {
    if (this.#mask === null) this.#w.v128bits(-1, -1);
    else this.#w.get(this.#mask);
  }

  /** Sets locals all at once: a value may depend on the old value of another one. */
  #assign(locals: number[], args: Id[], masked: boolean): void {
    const w = this.#w;
    args.forEach((a, i) => {
      const form = this.#formOf.get(locals[i])!;
      this.#values.value(a, form);
      if (masked && this.#mask !== null && form === 'vector')
        w.get(locals[i]).get(this.#mask).op('v128.bitselect');
    });
    for (const l of [...locals].reverse()) w.set(l);
  }

  #outputs(values: Value[]): number[] {
    return values.map(v => {
      const local = this.#values.define(v.id, v.type);
      this.#formOf.set(local, this.#values.form(v.id));
      return local;
    });
  }

  #uniformIf(s: Extract<Statement, { kind: 'if' }>): void {
    const out = this.#outputs(s.out);
    const mask = this.#mask;
    this.#values.scalar(s.cond);
    this.#w.open('if');
    this.#list(s.then, out);
    this.#mask = mask;
    if (s.else.length > 1 || s.else[0].kind !== 'yield' || out.length > 0) {
      this.#w.else();
      this.#list(s.else, out);
      this.#mask = mask;
    }
    this.#w.close();
  }

  #splitIf(s: Extract<Statement, { kind: 'if' }>): void {
    const w = this.#w;
    const out = this.#outputs(s.out);
    const mask = this.#mask;
    const cond = w.local('v128');
    this.#values.vector(s.cond);
    w.set(cond);
    const take = (wanted: boolean) => {
      w.get(cond);
      if (!wanted) w.op('v128.not');
      if (mask !== null) w.get(mask).op('v128.and');
      this.#mask = w.local('v128');
      w.set(this.#mask);
    };
    const trivial = (arm: Statement[]) => arm.length === 1;
    // an arm of one statement (a yield or a break) needs no jump around it; it goes first, and a yield sets all lanes
    const order = trivial(s.else) || !trivial(s.then) ? [false, true] : [true, false];
    order.forEach((wanted, k) => {
      const arm = wanted ? s.then : s.else;
      if (k === 0 && trivial(arm) && arm[0].kind === 'yield') return this.#list(arm, out);
      take(wanted);
      if (trivial(arm)) return this.#list(arm, out, k > 0);
      w.get(this.#mask!).op('v128.any_true');
      this.#skips.push(w.open('if'));
      this.#list(arm, out, k > 0);
      this.#skips.pop();
      w.close();
    });
    this.#mask = mask;
  }

  /** Removes the lanes that left during `s` from the mask, and jumps when none remains. */
  #afterExits(s: Statement): void {
    const exits = [...labelsLeft(s)].filter(l => this.#divergent.has(l)).map(l => this.#labels.get(l)!.exit!);
    if (exits.length === 0) return;
    const w = this.#w;
    const mask = w.local('v128');
    this.#pushMask();
    for (const e of exits) w.get(e).op('v128.andnot');
    w.tee(mask).op('v128.any_true', 'i32.eqz').brIf(this.#skips.at(-1)!);
    this.#mask = mask;
  }

  #enter(s: Extract<Statement, { label: number; out: unknown }>, end: number): Label {
    const isDivergent = this.#divergent.has(s.label);
    const label: Label = { out: this.#outputs(s.out), end, exit: isDivergent ? this.#w.local('v128') : null };
    if (label.exit !== null) {
      this.#w.v128(0).set(label.exit);
      this.#skips.push(end);
    }
    this.#labels.set(s.label, label);
    return label;
  }

  #block(s: Extract<Statement, { kind: 'block' }>): void {
    const w = this.#w;
    const mask = this.#mask;
    const end = w.open('block');
    const { out, exit } = this.#enter(s, end);
    this.#list(s.body, out, exit !== null);
    w.close();
    if (exit !== null) this.#skips.pop();
    this.#mask = mask;
    this.#afterExits(s);
  }

  #loop(s: Extract<Statement, { kind: 'loop' }>): void {
    const w = this.#w;
    const mask = this.#mask;
    const carried = this.#outputs(s.carried);
    this.#assign(carried, s.init, false);
    const end = w.open('block');
    const { exit } = this.#enter(s, end);
    // a lane that left in one turn must stay out in the next, so the mask is kept in a local across turns
    const leaving = exit !== null || [...labelsLeft(s)].some(l => this.#divergent.has(l));
    let turns = mask;
    if (leaving) {
      turns = w.local('v128');
      this.#pushMask();
      w.set(turns);
      this.#mask = turns;
    }
    const top = w.open('loop');
    this.#list(s.body, carried);
    if (s.body.at(-1)!.kind === 'continue') {
      if (leaving) w.get(this.#mask!).tee(turns!).op('v128.any_true').brIf(top);
      else w.br(top);
    }
    w.close().close();
    if (exit !== null) this.#skips.pop();
    this.#mask = mask;
    this.#afterExits(s);
  }
}
