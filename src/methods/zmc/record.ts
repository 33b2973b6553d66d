/**
 * What a run of ZMCintegral has done, as data, for runs that go on later: the tree that its search has found, and what each pass
 * over the blocks came to. The tolerance decides how large passes are and when they end, and nothing else. So a run is resumed by
 * making it again: the tree and passes of the same size are taken from the record, the first pass that differs is made.
 * Options, budget and goals decide about the tree; with others the record is not used.
 */
import { blocksOf, packedLength } from '../../tasks/correlation.ts';
import type { NonFinite } from '../../tasks/part.ts';
import type { SeveralSums } from '../../tasks/sample.ts';
import type { Box } from './blocks.ts';
import type { Floor } from './several-blocks.ts';
import type { Node } from './tree-search.ts';

/** Where a run was after a step, and what the step spent and found. */
export interface After {
  calls: number;
  unit: number;
  size: number;
  seen: boolean;
  nonFinite: boolean;
  spent: number;
  found: NonFinite[];
}

/** What a pass over all blocks came to, in the unit of its values. */
export interface PassTotals {
  value: number;
  variance: number;
  /** The largest variance of one block. */
  largest: number;
  /** Several results: their sums, in passes over the same points, each in the unit of its result; the other members are 0. */
  several?: readonly SeveralSums[];
}

/** A pass with so many samples per block on average. */
export interface CountedPass extends PassTotals {
  count: number;
}

export interface PassRecord extends CountedPass {
  /** The unit of the sums. */
  unit: number;
  units?: readonly number[];
  /** What samples of this pass and those before it may hide (faces.ts, jumps.ts); 0 with several results, which have floors. */
  hidden: number;
  after: After;
}

export interface ZmcRecord {
  /** Options, budget and the goals and leads of several results, as text. */
  plan: string;
  nodes: readonly NodeRecord[];
  /** For each node: the samples of its blocks, relative to the average over all blocks. */
  shares: readonly number[];
  after: After;
  /** Several results: their units, and what goals may hide. */
  units?: readonly number[];
  floors?: readonly Floor[] | null;
  passes: readonly PassRecord[];
}

/** A node, with its parent by its number. */
interface NodeRecord {
  box: Box;
  unstable: readonly number[];
  parent: { node: number; block: number } | null;
}

export const nodeRecords = (nodes: readonly Node[]): NodeRecord[] =>
  nodes.map(({ box, unstable, parent }) => ({
    box,
    unstable: [...unstable],
    parent: parent ? { node: nodes.indexOf(parent.node), block: parent.block } : null,
  }));

export function nodesOf(records: readonly NodeRecord[]): Node[] {
  const nodes: Node[] = [];
  for (const { box, unstable, parent } of records)
    nodes.push({
      box,
      unstable: [...unstable],
      ...(parent && { parent: { node: nodes[parent.node], block: parent.block } }),
    });
  return nodes;
}

/** Whether a record has boxes of so many axes, and parents before their children. */
export function isZmcRecord({ nodes, shares, units, passes }: ZmcRecord, dims: number): boolean {
  const isNumber = (x: unknown) => typeof x === 'number' && Number.isFinite(x);
  return (
    nodes.length > 0 &&
    nodes.every(
      ({ box, unstable, parent }, i) =>
        box.length === dims &&
        box.every(range => range.length === 2 && range.every(isNumber)) &&
        unstable.every(isNumber) &&
        (parent === null ? i === 0 : parent.node >= 0 && parent.node < i),
    ) &&
    shares.every(isNumber) &&
    (units ?? []).every(isNumber) &&
    passes.every(
      ({ count, unit, several }) =>
        isNumber(count) &&
        isNumber(unit) &&
        (units === undefined ? several === undefined : isWhole(several, units.length)),
    )
  );
}

/** Whether there are sums of so many results. */
const isWhole = (several: readonly SeveralSums[] | undefined, results: number): boolean =>
  blocksOf(results).every(({ length: n }, b) => {
    const own = several?.[b];
    return own?.sums.length === n && own.covariances.length === packedLength(n);
  });
