/**
 * One worker's share of a task of witnesses: evaluates the points that `testimony` (tasks/testimony.ts) asks for.
 *
 * The text of `makeWitness` is what workers are made of, so it uses nothing but its arguments.
 */
import type { PlainValue } from '../../integrand/plain.ts';
import type { philoxRounds } from '../../random/philox.ts';
import type { Hearing } from '../../tasks/hearing.ts';
import type { testimony } from '../../tasks/testimony.ts';
import type { WitnessSums } from '../../tasks/witness.ts';
import type { MemoryPool, MemoryUser } from './memory-pool.ts';

/** Everything a witness engine is made from; can be posted to a worker. */
export interface WitnessSetup {
  /** The compiled integrand; null when a function is called instead. */
  integrand: WebAssembly.Module | null;
  /**
   * Byte offsets of rows of `batch` numbers: coordinates and values; `pairs`: points of a model along an axis; `result`: which
   * one of the list that a function of several results gives, by default the first.
   */
  layout: {
    dims: number;
    pairs: number;
    batch: number;
    points: number;
    values: number;
    end: number;
    result?: number;
  };
  /** Numbers to write into memory: constants and params. */
  initial: { address: number; data: ArrayLike<number> }[];
}

export interface WitnessEngine {
  bind(initial: WitnessSetup['initial']): void;
  /** Runs a chunk; asynchronous only when the integrand is. */
  run(chunk: Hearing): WitnessSums | Promise<WitnessSums>;
  close(): void;
}

/** See makeEvaluator for `f` and `pause`. */
export function makeWitness(
  tell: typeof testimony,
  random: typeof philoxRounds,
  setup: WitnessSetup,
  memories: MemoryPool,
  f?: (x: number[]) => PlainValue | Promise<PlainValue>,
  pause?: () => Promise<void> | undefined,
): WitnessEngine {
  const { dims, pairs, batch, points, values: at, end, result = 0 } = setup.layout;
  let memory: WebAssembly.Memory | null = null;
  const numbers = (address: number, length: number) => new Float64Array(memory!.buffer, address, length);
  const write = (list: WitnessSetup['initial']) => {
    for (const { address, data } of list) numbers(address, data.length).set(data);
  };
  let evaluateCompiled: (n: number) => void;
  let rows: Float64Array[];
  let values: Float64Array | undefined;
  let told: ReturnType<typeof testimony>;
  let params: WitnessSetup['initial'] = [];
  let inside = false;
  const user: MemoryUser = {
    size: end,
    enter(found) {
      if (memory !== found && setup.integrand) {
        const compiled = new WebAssembly.Instance(setup.integrand, { env: { memory: found } });
        evaluateCompiled = compiled.exports.evaluate as typeof evaluateCompiled;
      }
      memory = found;
      // made anew only for another memory, or one that has grown: scans come here for every integral
      if (values?.buffer !== found.buffer) {
        rows = Array.from({ length: dims }, (_, d) => numbers(points + d * batch * 8, batch));
        values = numbers(at, batch);
        told = tell(dims, pairs, rows, batch, random);
      }
      write(setup.initial);
      write(params);
      inside = true;
    },
    leave() {
      inside = false;
    },
  };
  const compiled = (chunk: Hearing): WitnessSums => {
    const witness = told(chunk);
    for (let step = witness.next(); ; step = witness.next(values!)) {
      if (step.done) return step.value;
      const n = step.value;
      // points are evaluated in pairs; what another engine has left beside the last one might never end
      if (n % 2 === 1) for (const row of rows) row[n] = row[n - 1];
      evaluateCompiled(n);
    }
  };
  /** With a plain function, which may be asynchronous; its points are not in the memory, which another engine may get. */
  const plain = async (chunk: Hearing): Promise<WitnessSums> => {
    const own = Array.from({ length: dims }, () => new Float64Array(batch));
    const witness = tell(dims, pairs, own, batch, random)(chunk);
    const found = new Float64Array(batch);
    const keep = (i: number, y: PlainValue) => {
      found[i] = typeof y === 'object' && y !== null ? y[result] : y;
    };
    for (let step = witness.next(); ; step = witness.next(found)) {
      if (step.done) return step.value;
      const waits: Promise<void>[] = [];
      for (let i = 0; i < step.value; i++) {
        let y: PlainValue | Promise<PlainValue>;
        try {
          y = f!(own.map(r => r[i]));
        } catch (e) {
          y = Promise.reject(e); // not thrown, since promises of other points may be pending and have to be awaited
        }
        if (typeof y === 'object' && y !== null && typeof (y as Promise<PlainValue>).then === 'function')
          waits.push((y as Promise<PlainValue>).then(v => keep(i, v)));
        else keep(i, y as PlainValue);
      }
      const turn = pause?.();
      if (turn) waits.push(turn);
      if (waits.length > 0) await Promise.all(waits);
    }
  };
  return {
    bind(list) {
      params = list;
      if (inside) write(params);
    },
    run: chunk => (f ? plain(chunk) : memories.use(user, () => compiled(chunk))),
    close: () => memories.close(user),
  };
}
