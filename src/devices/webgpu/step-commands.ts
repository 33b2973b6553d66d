/** The commands of one step of a pool: recorded one after the other, and submitted together by whoever reads what they found. */
import type { Commands } from './commands.ts';
import type { Dispatch, Gpu } from './gpu.ts';

export class StepCommands {
  readonly #gpu: Gpu;
  #now: Commands | null = null;
  /** What is to be called when the last evaluation among them is done. */
  #evaluated: (() => void) | null = null;

  constructor(gpu: Gpu) {
    this.#gpu = gpu;
  }

  /** Begins a step; whatever one that was aborted has left is dropped. */
  begin(): Commands {
    this.#evaluated = null;
    this.#now = this.#gpu.record();
    return this.#now;
  }

  /** The commands so far, to which others can be added. */
  get now(): Commands {
    this.#now ??= this.#gpu.record();
    return this.#now;
  }

  add(...dispatches: readonly Dispatch[]): void {
    for (const { pipeline, buffers, workgroups } of dispatches)
      this.now.dispatch(pipeline, buffers, workgroups);
  }

  /** The commands so far, for whoever submits them or adds an evaluation. */
  take(): Commands {
    const { now } = this;
    this.#now = null;
    return now;
  }

  /** Goes on with commands whose last one is an evaluation. */
  goOn(last: { commands: Commands; done: () => void }): void {
    this.#now = last.commands;
    this.#evaluated = last.done;
  }

  /** All of them are done. */
  done(): void {
    this.#evaluated?.();
    this.#evaluated = null;
  }
}
