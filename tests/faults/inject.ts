/**
 * Faults of the machine, made to order: workers that do not start, workers that are killed, memories and modules that
 * cannot be had. What is patched is restored by `restore`.
 */
import workerThreads, { type Worker } from 'node:worker_threads';

const original = {
  Worker: workerThreads.Worker,
  Memory: WebAssembly.Memory,
  grow: WebAssembly.Memory.prototype.grow,
  compile: WebAssembly.compile,
};

/** Workers of the library that were started since `watchWorkers`, and have not ended. */
export const workers = new Set<Worker>();

export interface WorkerFaults {
  /** Whether the n-th start, from 1 on, throws, as under Node's `--permission`. */
  startThrows?: (n: number) => boolean;
  /** Whether the n-th worker dies before it has started, as with EAGAIN. */
  startDies?: (n: number) => boolean;
  /** Text that the n-th worker runs before its program: faults inside of it. */
  prefix?: (n: number) => string;
}

/** Counts workers, and makes the start of some fail. */
export function watchWorkers({ startThrows, startDies, prefix }: WorkerFaults = {}): { started: number } {
  const count = { started: 0 };
  (workerThreads as { Worker: unknown }).Worker = class extends original.Worker {
    constructor(text: string, options: { name?: string }) {
      const own = options?.name === 'quadrille';
      const n = own ? ++count.started : 0;
      if (own && startThrows?.(n)) throw new Error('injected: no worker');
      const dies = own && startDies?.(n);
      super(
        dies ? "throw new Error('injected: no thread')" : (own ? (prefix?.(n) ?? '') : '') + text,
        options,
      );
      if (!own) return;
      workers.add(this);
      this.on('exit', () => workers.delete(this));
    }
  };
  return count;
}

/** Makes the n-th memory of this thread, or the n-th time that one grows, fail where `fails(n)`. */
export function failMemories(fails: (n: number) => boolean): { made: number } {
  const count = { made: 0 };
  original.Memory.prototype.grow = function (pages) {
    if (fails(++count.made)) throw new RangeError('WebAssembly.Memory.grow(): injected: unable to grow');
    return original.grow.call(this, pages);
  };
  WebAssembly.Memory = class extends original.Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      if (fails(++count.made))
        throw new RangeError('WebAssembly.Memory(): injected: could not allocate memory');
      super(descriptor);
    }
  };
  return count;
}

/** The same inside a worker, as text to run before its program; `fails` uses nothing from outside. */
export const memoriesFailIn = (fails: (n: number) => boolean): string => `{
  const { Memory } = WebAssembly; let n = 0; const fails = ${fails};
  WebAssembly.Memory = function (d) { if (fails(++n)) throw new RangeError('injected: could not allocate'); return new Memory(d); };
}`;

/** Makes the n-th compilation of a module fail where `fails(n)`. */
export function failCompile(fails: (n: number) => boolean): { compiled: number } {
  const count = { compiled: 0 };
  WebAssembly.compile = async bytes => {
    if (fails(++count.compiled)) throw new WebAssembly.CompileError('injected: refused');
    return original.compile(bytes);
  };
  return count;
}

export function restore(): void {
  (workerThreads as { Worker: unknown }).Worker = original.Worker;
  WebAssembly.Memory = original.Memory;
  WebAssembly.Memory.prototype.grow = original.grow;
  WebAssembly.compile = original.compile;
}
