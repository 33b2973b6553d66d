/**
 * The program that a worker runs, and the port to it: the same in Node and in a page. The program is made from the text
 * of the engines, so that no bundler has to find a worker file and no server has to send special headers.
 */
import { onSampled, revived, toDomain } from '../../integrand/domain.ts';
import { flatCall } from '../../integrand/flat-call.ts';
import { arrivedParams } from '../../integrand/moved-params.ts';
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

/** Answers requests inside a worker. It uses nothing but its arguments, because its text is the worker's program. */
function serve(
  makers: { sampler: typeof makeSampler; evaluator: typeof makeEvaluator; witness: typeof witnessEngine },
  memories: MemoryPool,
  place: typeof toDomain,
  adapt: typeof onSampled,
  revive: typeof revived,
  flat: typeof flatCall,
  arrived: typeof arrivedParams,
  load: (url: string) => Promise<Record<string, unknown>>,
  port: { post(message: unknown): void; listen(handle: (message: Request) => void): void },
) {
  const engines = new Map<number, Record<string, (v: unknown) => unknown>>();
  /** The plain function of an engine, found by its text or its module. */
  const plainFunction = async ({ text, url, name, params, axes, shape }: MovedFunction) => {
    const found = text ? new Function(`return (${text})`)() : (await load(url as string))[name as string];
    const own = arrived(params);
    const call = adapt((x: number[]) => found(x, own), revive(axes, own), place);
    return flat(call, shape ?? 'number');
  };
  const answer = async ({ engine, kind, what, value, plain }: Request): Promise<unknown> => {
    if (what === 'ping') return null;
    if (what === 'setup') {
      engines.get(engine)?.close(null); // made for requests that were given up
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
        error =>
          port.post({
            id: request.id,
            error: String(error?.stack ?? error),
            outOfMemory: error?.name === 'OutOfMemory',
          }),
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

export interface Answer {
  id: number;
  result?: unknown;
  error?: string;
  /** The worker has no memory for the request; another thread may have. */
  outOfMemory?: boolean;
}

const inNode = typeof process === 'object' && !!process.versions?.node;

/**
 * The program of a worker. It is a module under `node --input-type=module`, and has no `require` then. Tools that rewrite
 * functions may leave calls of their helper `__name` in the text, which is defined here to do nothing. `import` stands in the
 * text itself, since tools rewrite it too.
 */
function workerText(memories: number): string {
  const port = inNode
    ? `const { parentPort } = process.getBuiltinModule('node:worker_threads');
       const port = { post: m => parentPort.postMessage(m), listen: f => parentPort.on('message', f) };`
    : 'const port = { post: m => postMessage(m), listen: f => { onmessage = e => f(e.data); } };';
  return `const __name = f => f; ${port} (${serve})({ sampler: ${makeSampler}, evaluator: ${makeEvaluator}, witness: (...own) => (${makeWitness})(${testimony}, ${philoxRounds}, ...own) }, (${makeMemoryPool})(${memories}), ${toDomain}, ${onSampled}, ${revived}, ${flatCall}, ${arrivedParams}, u => import(u), port);`;
}

export interface Port {
  post(message: unknown): void;
  /** A busy worker keeps the process alive, an idle one does not, so that a script can end. */
  busy(): void;
  idle(): void;
  close(): void;
}

/** Starts a worker whose thread has at most `memories` memories; throws where none can be started. */
export function openPort(
  memories: number,
  receive: (m: Answer) => void,
  fail: (cause: unknown) => void,
): Port {
  return (inNode ? nodePort : webPort)(workerText(memories), receive, fail);
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
