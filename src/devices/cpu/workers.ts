/**
 * Workers, the same in Node and in a page: made from the text of the engines, so that no bundler has to find a
 * worker file and no server has to send special headers. A worker that dies rejects what it was doing, with the cause.
 */
import { onSampled, toDomain } from '../../domain.ts';
import type { MovedIntegrand } from '../device.ts';
import { makeEvaluator } from './evaluator.ts';
import { makeSampler } from './sampler.ts';

export interface WorkerLike {
  /** Sends a request and waits for its answer. */
  ask<T>(request: object): Promise<T>;
  close(): void;
  /** Requests that are waiting for their answer. */
  readonly load: number;
  /** Why it cannot be asked any more. */
  readonly dead: Error | null;
}

/** What a worker does with requests. Self-contained: its text is the worker's. */
function serve(
  makers: { sampler: typeof makeSampler; evaluator: typeof makeEvaluator },
  place: typeof toDomain,
  adapt: typeof onSampled,
  load: (url: string) => Promise<Record<string, unknown>>,
  port: { post(message: unknown): void; listen(handle: (message: Request) => void): void },
) {
  const engines = new Map<number, Record<string, (v: unknown) => unknown>>();
  /** The plain function of an engine, found by its text or its module. */
  const plainFunction = async ({ text, url, name, params, axes }: MovedIntegrand) => {
    const found = text ? new Function(`return (${text})`)() : (await load(url as string))[name as string];
    return adapt((x: number[]) => found(x, params), axes, place);
  };
  const answer = async ({ engine, kind, what, value, plain }: Request): Promise<unknown> => {
    if (what === 'ping') return null;
    if (what === 'setup') {
      engines.set(engine, makers[kind](value as never, plain && (await plainFunction(plain))) as never);
      return null;
    }
    if (what === 'close') return void engines.delete(engine);
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
  plain?: MovedIntegrand;
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
function workerText(): string {
  const port = inNode
    ? `const { parentPort } = require('node:worker_threads');
       const port = { post: m => parentPort.postMessage(m), listen: f => parentPort.on('message', f) };`
    : 'const port = { post: m => postMessage(m), listen: f => { onmessage = e => f(e.data); } };';
  return `const __name = f => f; ${port} (${serve})({ sampler: ${makeSampler}, evaluator: ${makeEvaluator} }, ${toDomain}, ${onSampled}, u => import(u), port);`;
}

export function startWorker(): WorkerLike {
  const waiting = new Map<number, { resolve(v: never): void; reject(e: Error): void }>();
  let nextId = 0;
  let dead: Error | null = null;
  const receive = ({ id, result, error }: Answer) => {
    const request = waiting.get(id);
    waiting.delete(id);
    if (error !== undefined) request?.reject(new Error(`a worker failed: ${error}`));
    else request?.resolve(result as never);
    if (waiting.size === 0) port.idle();
  };
  const fail = (cause: unknown) => {
    if (dead) return;
    dead = new Error(`a worker died: ${cause instanceof Error ? cause.message : cause}`, { cause });
    for (const { reject } of waiting.values()) reject(dead);
    waiting.clear();
  };
  const port = inNode ? nodePort(receive, fail) : webPort(receive, fail);
  return {
    get dead() {
      return dead;
    },
    get load() {
      return waiting.size;
    },
    ask<T>(request: object) {
      if (dead) return Promise.reject(dead);
      return new Promise<T>((resolve, reject) => {
        const id = nextId++;
        waiting.set(id, { resolve, reject });
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
      dead ??= new Error('the device was closed while a worker was at work');
      for (const { reject } of waiting.values()) reject(dead);
      waiting.clear();
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

function nodePort(receive: (m: Answer) => void, fail: (cause: unknown) => void): Port {
  // asked for this way, bundlers for the browser do not look for it
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const worker = new Worker(workerText(), { eval: true, name: 'quadrille' });
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

function webPort(receive: (m: Answer) => void, fail: (cause: unknown) => void): Port {
  const url = URL.createObjectURL(new Blob([workerText()], { type: 'text/javascript' }));
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

/** How many workers to use when nobody says. */
export function defaultWorkers(): number {
  if (!inNode) return navigator.hardwareConcurrency || 2;
  return process.getBuiltinModule('node:os').availableParallelism();
}
