/**
 * Workers, the same in Node and in a page: made from the text of the engines, so that no bundler has to find a
 * worker file and no server has to send special headers. A worker that dies rejects what it was doing, with the cause;
 * what others asked of it is rejected with `WorkerGone`, and can be asked of another one.
 */
import { onSampled, toDomain } from '../../integrand/domain.ts';
import type { MovedFunction } from '../../integrand/plain.ts';
import { makeEvaluator } from './evaluator.ts';
import { type MemoryPool, makeMemoryPool } from './memory-pool.ts';
import { makeSampler } from './sampler.ts';

export interface WorkerLike {
  /** Sends a request and waits for its answer. */
  ask<T>(request: { what: string; engine?: number; [more: string]: unknown }): Promise<T>;
  close(): void;
  /** Requests that are waiting for their answer. */
  readonly load: number;
  /** Whether it cannot be asked any more. */
  readonly dead: boolean;
}

/** A worker ended, and not by what was asked of it here. */
export class WorkerGone extends Error {
  override name = 'WorkerGone';
}

/** What a worker does with requests. Self-contained: its text is the worker's. */
function serve(
  makers: { sampler: typeof makeSampler; evaluator: typeof makeEvaluator },
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
  let last: Promise<unknown> = Promise.resolve(); // one request after another: an engine does one thing at a time
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
  kind: 'sampler' | 'evaluator';
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
 * The program of a worker. Tools that rewrite functions may leave calls of their helpers in the text: they do nothing
 * here. `import` stands in the text itself, since tools rewrite it too.
 */
function workerText(memories: number): string {
  const port = inNode
    ? `const { parentPort } = require('node:worker_threads');
       const port = { post: m => parentPort.postMessage(m), listen: f => parentPort.on('message', f) };`
    : 'const port = { post: m => postMessage(m), listen: f => { onmessage = e => f(e.data); } };';
  return `const __name = f => f; ${port} (${serve})({ sampler: ${makeSampler}, evaluator: ${makeEvaluator} }, (${makeMemoryPool})(${memories}), ${toDomain}, ${onSampled}, u => import(u), port);`;
}

/** A worker, one of so many. */
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
  /** Rejects every request; those of the engine that was at work with the cause, if there is one. */
  const end = (cause?: Error) => {
    dead = true;
    const [first] = waiting.values(); // requests are done in their order
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
          waiting.delete(id); // something that cannot be sent
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
  /** A busy worker keeps the process alive, an idle one does not: a script that is done must end. */
  busy(): void;
  idle(): void;
  close(): void;
}

function nodePort(text: string, receive: (m: Answer) => void, fail: (cause: unknown) => void): Port {
  // asked for this way, bundlers for the browser do not look for it
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

/** MemoryPool of WebAssembly that we take in a page, all threads together: Chromium has address space for 125. */
const PAGE_MEMORIES = 60;

/** How many workers to use when nobody says. In a page each needs one of its few memories. */
export function defaultWorkers(): number {
  if (!inNode) return Math.min(PAGE_MEMORIES, navigator.hardwareConcurrency || 2);
  return process.getBuiltinModule('node:os').availableParallelism();
}

/** MemoryPool a thread, beside so many workers: one for each integral of a scan, or as many as there is room for. */
export function mostMemories(workers: number): number {
  return inNode ? 8 : Math.max(1, Math.min(8, Math.floor(PAGE_MEMORIES / (1 + workers))));
}
