/** What a step of a pool tells its kernels: the words of the task that `RECORD` of kernels/pool-record.ts declares. */
import { DEEP } from '../../tasks/pool/borders.ts';

/** Words of the task that change from step to step (kernels/pool-record.ts). */
export interface PoolShape {
  n: number;
  purpose: number;
  threshold: number;
  listAt: number;
  relative: number;
  factor: number;
  power: number;
  thin: number;
}

/** The pool that a step finds: its regions, and the tree of halvings. */
export interface PoolTree {
  count: number;
  nodes: number;
  rootLevel: number;
}

/** The words of a step about items `first` to `end`. */
export function poolWords(
  shape: Partial<PoolShape>,
  { count, nodes, rootLevel }: PoolTree,
  first = 0,
  end = 0,
): Uint32Array {
  const {
    n = 0,
    purpose = 0,
    threshold = 0,
    listAt = 0,
    relative = 0,
    factor = 0,
    power = 0,
    thin = 0,
  } = shape;
  const deep = DEEP + Math.ceil(Math.log2(Math.max(1, count)));
  const words = new Uint32Array(16);
  const floats = new Float32Array(words.buffer);
  words.set([count, n, first, end, purpose, threshold, nodes, rootLevel, listAt, deep]);
  floats[10] = relative;
  floats[11] = factor;
  words[12] = power;
  words[13] = thin;
  return words;
}
