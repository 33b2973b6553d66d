/** The source of the integrand's values for the engines of a session: a compiled module, or a function that is called. */

import {
  type BoundProgram,
  type CompiledProgram,
  type PlainProgram,
  resultCount,
} from '../../integrand/bound.ts';
import type { Program } from '../../integrand/ir.ts';
import { withResults } from '../../integrand/optimise.ts';
import type { PlainFunction } from '../../integrand/plain.ts';
import { stopChecksOf } from '../../integrand/stop-checks.ts';
import { toWasm, type WasmModule } from '../../integrand/targets/wasm.ts';
import { blocksOf } from '../../tasks/correlation.ts';
import { moduleOf } from './wasm-modules.ts';

/** Numbers to write into a memory, each list at its byte address. */
export type Numbers = { address: number; data: ArrayLike<number> }[];

/** An integrand in the memory of an engine, at addresses behind those of the kernel. */
export interface Placed {
  /** The compiled integrand; null when a function is called instead. */
  integrand: WebAssembly.Module | null;
  /** Constants and params to write into the memory. */
  initial: Numbers;
  end: number;
  /** The params as they are now. */
  params(): Numbers;
}

/** Where an integrand finds its points and leaves its values, and the end of what is in use. */
interface Place {
  end: number;
  points: number;
  values: number;
}

export interface Values {
  /** The device's name for results, with the place where it really runs. */
  readonly description: string;
  /** Whether its loops may run long or never end; such an integrand runs in workers, since these can be ended. */
  readonly long: boolean;
  /** How many calls of a usual integrand take as long as one of this one, roughly; at least 1. */
  readonly weight: number;
  /** The function to call on this thread, and the form in which it is sent to workers; null for a compiled integrand. */
  readonly plain: PlainFunction | null;
  /** How many results the integrand has. */
  readonly results: number;
  /**
   * The results in passes over the same points: a compiled integrand is narrowed to blocks of RESULTS_PER_PASS; a function
   * gives all of them whenever it is called.
   */
  readonly passes: readonly (readonly number[])[];
  /** Places the integrand, or only some of its results; a function is called for all of them anyway. */
  place(layout: Place, batch: number, results?: readonly number[]): Promise<Placed>;
  /** Takes other params; returns whether engines have to be made anew for them. */
  rebind(program: BoundProgram): boolean;
}

/** Turns (stop-checks.ts) of an integrand of which 65,536 calls take a few milliseconds. */
const USUAL_TURNS = 16;

/** Programs as modules, one for each place in a memory: a program is kept from run to run (integrand/program-cache.ts). */
const modules = new WeakMap<Program, Map<string, WasmModule>>();

function wasmOf(program: Program, batch: number, at: Place) {
  const known = modules.get(program) ?? new Map<string, WasmModule>();
  modules.set(program, known);
  const place = `${batch} ${at.end} ${at.points} ${at.values}`;
  const module = known.get(place) ?? toWasm(program, batch, at.end, at);
  known.set(place, module);
  return module;
}

export class CompiledValues implements Values {
  readonly plain = null;
  readonly description: string;
  readonly long: boolean;
  readonly weight: number;
  readonly results: number;
  readonly passes: readonly (readonly number[])[];
  #bound: CompiledProgram;

  constructor(bound: CompiledProgram, description: string) {
    this.#bound = bound;
    this.description = description;
    const { checked, perCall } = stopChecksOf(bound.program);
    this.long = checked.size > 0;
    this.weight = Math.max(1, perCall / USUAL_TURNS);
    this.results = resultCount(bound);
    this.passes = blocksOf(this.results);
  }

  async place(layout: Place, batch: number, results?: readonly number[]): Promise<Placed> {
    const { program } = this.#bound;
    const narrow = results && results.length < program.results.length;
    const { bytes, layout: own } = wasmOf(narrow ? withResults(program, results) : program, batch, layout);
    return {
      integrand: await moduleOf(bytes),
      initial: [...own.initial(), ...own.params(this.#bound.params)],
      end: own.end,
      params: () => own.params(this.#bound.params),
    };
  }

  rebind(program: BoundProgram): boolean {
    this.#bound = program as CompiledProgram;
    return false;
  }
}

export class PlainValues implements Values {
  readonly weight = 1;
  #bound: PlainProgram;

  constructor(bound: PlainProgram) {
    this.#bound = bound;
  }

  get long(): boolean {
    return this.plain.long ?? false;
  }

  get description(): string {
    return this.plain.moved ? 'js' : 'js on this thread';
  }

  get results(): number {
    return resultCount(this.#bound);
  }

  get passes(): readonly (readonly number[])[] {
    return [Array.from({ length: this.results }, (_, r) => r)];
  }

  get plain() {
    return this.#bound.call;
  }

  async place(layout: { end: number }): Promise<Placed> {
    return { integrand: null, initial: [], end: layout.end, params: () => [] };
  }

  rebind(program: BoundProgram): boolean {
    this.#bound = program as PlainProgram;
    return true;
  }
}
