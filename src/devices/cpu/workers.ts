/**
 * Workers, the same in Node and in a page. They are made from the text of the engines, so that no bundler has to find a
 * worker file and no server has to send special headers. When a worker dies, the requests of the engine that was at work
 * are rejected with the cause; those of other engines are rejected with `WorkerGone` and can be sent to another worker.
 */
import { onSampled, toDomain } from '../../integrand/domain.ts';
import type { MovedFunction } from '../../integrand/plain.ts';
import { philoxRounds } from '../../random/philox.ts';
import { testimony } from '../../tasks/testimony.ts';
import { makeEvaluator } from './evaluator.ts';
import { type MemoryPool, makeMemoryPool } from './memory-pool.ts';
import { makeSampler } from './sampler.ts';
import { makeWitness } from './witness.ts';

export type EngineKind = 'sampler' | 'evaluator' | 'witness';

/** The witness engine of this thread. */
export const witnessEngine = makeWitness.bind(null, testimony, philoxRounds);

export interface WorkerLike {
  /** Sends a request and waits for its answer. */
  ask<T>(request: { what: string; engine?: number; [more: string]: unknown }): Promise<T>;
  close(): void;
  /** The number of requests that wait for their answer. */
  readonly load: number;
  /** Whether it has ended and takes no more requests. */
  readonly dead: boolean;
}

/** The worker has ended for a reason that has nothing to do with the rejected request. */
export class WorkerGone extends Error {
  override name = 'WorkerGone';
}

/** Answers requests inside a worker. It uses nothing but its arguments, because its text is the worker's program. */
function serve(
  makers: { sampler: typeof makeSampler; evaluator: typeof makeEvaluator; witness: typeof witnessEngine },
  memories: MemoryPool,
  place: typeof toDomain,
  adapt: typeof onSampled,
  load: (url: string) => Promise<Record<string, unknown>>,
  port: { post(message: unknown): void; listen(handle: (message: Request) => void): void },
) {
  const engines = new Map<number, Record<string, (v: unknown) => unknown>>();
  /** The plain function of an engine, found by its text or its module. */
  const plainFunction = async ({ text, url, name, params, axes }: MovedFunction) => {
    const found = text ? new Function(`return (${text})`)() : (await load(url as string))[name as string];
    return adapt((x: number[]) => found(x, params), axes, place);
  };
  const answer = async ({ engine, kind, what, value, plain }: Request): Promise<unknown> => {
    if (what === 'ping') return null;
    if (what === 'setup') {
      engines.set(
        engine,
        makers[kind](value as never, memories, plain && (await plainFunction(plain))) as never,
      );
      return null;
    }
    if (what === 'close') {
      engines.get(engine)?.close(null);
      return void engines.delete(engine);
    }
    return engines.get(engine)![what](value);
  };
  let last: Promise<unknown> = Promise.resolve(); // requests are answered one after another, since an engine does one thing at a time
  port.listen(request => {
    last = last
      .then(() => answer(request))
      .then(
        result => port.post({ id: request.id, result: result ?? null }),
        error => port.post({ id: request.id, error: String(error?.stack ?? error) }),
      );
  });
}

interface Request {
  id: number;
  engine: number;
  kind: EngineKind;
  what: 'ping' | 'setup' | 'bind' | 'begin' | 'run' | 'end' | 'close';
  value?: unknown;
  plain?: MovedFunction;
}

interface Answer {
  id: number;
  result?: unknown;
  error?: string;
}

const inNode = typeof process === 'object' && !!process.versions?.node;

/**
 * The program of a worker. Tools that rewrite functions may leave calls of their helper `__name` in the text, which is
 * defined here to do nothing. `import` stands in the text itself, since tools rewrite it too.
 */
function workerText(memories: number): string {
  const port = inNode
    ? `const { parentPort } = require('node:worker_threads');
       const port = { post: m => parentPort.postMessage(m), listen: f => parentPort.on('message', f) };`
    : 'const port = { post: m => postMessage(m), listen: f => { onmessage = e => f(e.data); } };';
  return `const __name = f => f; ${port} (${serve})({ sampler: ${makeSampler}, evaluator: ${makeEvaluator}, witness: (...own) => (${makeWitness})(${testimony}, ${philoxRounds}, ...own) }, (${makeMemoryPool})(${memories}), ${toDomain}, ${onSampled}, u => import(u), port);`;
}

/** Starts one of `workers` workers. */
export function startWorker(workers: number): WorkerLike {
  const waiting = new Map<
    number,
    { engine: number | undefined; resolve(v: never): void; reject(e: Error): void }
  >();
  let nextId = 0;
  let dead = false;
  const receive = ({ id, result, error }: Answer) => {
    const request = waiting.get(id);
    waiting.delete(id);
    if (error !== undefined) request?.reject(new Error(`a worker failed: ${error}`));
    else request?.resolve(result as never);
    if (waiting.size === 0) port.idle();
  };
  /** Rejects every request: those of the engine that was at work with the cause, if there is one, others as WorkerGone. */
  const end = (cause?: Error) => {
    dead = true;
    const [first] = waiting.values(); // requests are answered in their order
    for (const { engine, reject } of waiting.values())
      reject(cause && engine === first.engine ? cause : new WorkerGone('the worker is gone'));
    waiting.clear();
  };
  const fail = (cause: unknown) => {
    if (!dead) end(new Error(`a worker died: ${cause instanceof Error ? cause.message : cause}`, { cause }));
  };
  const text = workerText(mostMemories(workers));
  const port = inNode ? nodePort(text, receive, fail) : webPort(text, receive, fail);
  return {
    get dead() {
      return dead;
    },
    get load() {
      return waiting.size;
    },
    ask<T>(request: { what: string; engine?: number }) {
      if (dead) return Promise.reject(new WorkerGone('the worker is gone'));
      return new Promise<T>((resolve, reject) => {
        const id = nextId++;
        waiting.set(id, { engine: request.engine, resolve, reject });
        port.busy();
        try {
          port.post({ id, ...request });
        } catch (e) {
          waiting.delete(id); // the request contains something that cannot be cloned
          reject(e as Error);
        }
      });
    },
    close() {
      end();
      port.close();
    },
  };
}

interface Port {
  post(message: unknown): void;
  /** A busy worker keeps the process alive, an idle one does not, so that a script can end. */
  busy(): void;
  idle(): void;
  close(): void;
}

function nodePort(text: string, receive: (m: Answer) => void, fail: (cause: unknown) => void): Port {
  // bundlers for the browser do not follow getBuiltinModule
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const worker = new Worker(text, { eval: true, name: 'quadrille' });
  let closed = false;
  worker.on('message', receive);
  worker.on('error', fail);
  worker.on('exit', code => {
    if (!closed) fail(`it ended with code ${code}`);
  });
  worker.unref();
  return {
    post: m => worker.postMessage(m),
    busy: () => worker.ref(),
    idle: () => worker.unref(),
    close: () => {
      closed = true;
      void worker.terminate();
    },
  };
}

function webPort(text: string, receive: (m: Answer) => void, fail: (cause: unknown) => void): Port {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  const worker = new Worker(url, { name: 'quadrille' });
  worker.onmessage = e => receive(e.data);
  worker.onerror = e => fail(e.message || 'it could not start');
  return {
    post: m => worker.postMessage(m),
    busy() {},
    idle() {},
    close() {
      worker.terminate();
      URL.revokeObjectURL(url);
    },
  };
}

/** WebAssembly memories in a page, at most, over all threads: Chromium has address space for 125. */
const PAGE_MEMORIES = 60;

/** The number of workers by default. In a page each of them needs one of the few memories. */
export function defaultWorkers(): number {
  if (!inNode) return Math.min(PAGE_MEMORIES, navigator.hardwareConcurrency || 2);
  return process.getBuiltinModule('node:os').availableParallelism();
}

/** Memories per thread, with this many workers: two per integral of a scan (8), or as many as a page allows. */
export function mostMemories(workers: number): number {
  return inNode ? 16 : Math.max(1, Math.min(16, Math.floor(PAGE_MEMORIES / (1 + workers))));
}
