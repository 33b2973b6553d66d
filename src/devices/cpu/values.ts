/** Where the engines of a session get values of the integrand from: a compiled module, or a function that is called. */
import type { BoundProgram, CompiledProgram, PlainProgram } from '../../integrand/bound.ts';
import type { MovedFunction } from '../../integrand/plain.ts';
import { stopChecksOf } from '../../integrand/stop-checks.ts';
import { toWasm } from '../../integrand/targets/wasm.ts';

/** Numbers for a memory. */
export type Numbers = { address: number; data: ArrayLike<number> }[];

/** An integrand in the memory of an engine's kernel, behind what the kernel needs itself. */
export interface Placed {
  /** The compiled integrand; null when a function is called instead. */
  integrand: WebAssembly.Module | null;
  /** Constants and params to write into the memory. */
  initial: Numbers;
  end: number;
  /** The params as they are now. */
  params(): Numbers;
}

export interface Values {
  /** Where it runs, for results. */
  readonly description: string;
  /** Its loops may take long, or never end: a worker can be stopped, the calling thread cannot. */
  readonly long: boolean;
  /** The function to call on this thread, and how workers make it for themselves; null for a compiled integrand. */
  readonly plain: { f: (x: number[]) => number | Promise<number>; moved?: MovedFunction | undefined } | null;
  place(layout: { end: number; points: number; values: number }, batch: number): Promise<Placed>;
  /** Takes other params; whether engines have to be made anew for them. */
  rebind(program: BoundProgram): boolean;
}

export class CompiledValues implements Values {
  readonly plain = null;
  readonly description: string;
  readonly long: boolean;
  #bound: CompiledProgram;

  constructor(bound: CompiledProgram, description: string) {
    this.#bound = bound;
    this.description = description;
    this.long = stopChecksOf(bound.program).checked.size > 0;
  }

  async place(layout: { end: number; points: number; values: number }, batch: number): Promise<Placed> {
    const { bytes, layout: own } = toWasm(this.#bound.program, batch, layout.end, layout);
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
  readonly long = false;
  #bound: PlainProgram;

  constructor(bound: PlainProgram) {
    this.#bound = bound;
  }

  get description(): string {
    return this.plain.moved ? 'js' : 'js on this thread';
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

/** Integrands compiled last, by their bytes: V8 keeps optimised code with a module, so a second run starts fast. */
const modules = new Map<string, Promise<WebAssembly.Module>>();
const MOST_MODULES = 32;

function moduleOf(bytes: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  const key = new TextDecoder('latin1').decode(bytes);
  const module = modules.get(key) ?? WebAssembly.compile(bytes);
  modules.delete(key);
  modules.set(key, module); // now the youngest
  if (modules.size > MOST_MODULES) modules.delete(modules.keys().next().value!);
  return module;
}
