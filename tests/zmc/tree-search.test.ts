/** The tree search against a reading of section 2.1 of the paper that keeps everything and computes it plainly. */
import { describe, expect, test } from 'vitest';
import { type Box, blockOf, type Slab } from '../../src/methods/zmc/blocks.ts';
import { searchTree, trialDeviations } from '../../src/methods/zmc/tree-search.ts';

/** What a trial finds in a block: any function of the block and the trial. */
type World = (box: Box, trial: number, block: number, level: number) => number;

interface Knobs {
  perAxis: number;
  trials: number;
  sigma: number;
  depth: number;
  /** Nodes that a level may add. */
  room?: number;
}

const unitBox = (dims: number): Box => Array.from({ length: dims }, () => [0, 1]);
const keyOf = (box: Box) => box.flat().join(' ');
const widthOf = (box: Box) => box[0][1] - box[0][0];

/** The search of the library in a made-up world; `asked` counts trials by slab. */
async function found(root: Box, world: World, knobs: Knobs) {
  const { perAxis, room = 1e9 } = knobs;
  const asked = new Map<string, number>();
  const boxes = new Map<string, Box>(); // of the nodes that are searched
  const trialOf = async (slab: Slab) => {
    const key = keyOf(slab.box);
    const trial = asked.get(key) ?? 0;
    asked.set(key, trial + 1);
    boxes.set(key, slab.box);
    const means = Float64Array.from({ length: slab.blocks }, (_, i) => {
      const own = cell(slab, i);
      const level = Math.round(-Math.log(widthOf(own)) / Math.log(perAxis)) || 1;
      return world(own, trial, slab.first + i, level);
    });
    return { means };
  };
  const nodes = await searchTree(root, {
    ...knobs,
    searchable: () => Infinity,
    room: () => room,
    deviations: slab => trialDeviations(knobs.trials, () => trialOf(slab)),
  });
  return { nodes, asked };
}

/** A block of a slab, by its place in it. */
function cell(slab: Slab, i: number): Box {
  let rest = i;
  return slab.box.map(([low, high], d) => {
    const n = slab.strata[d];
    const k = rest % n;
    rest = Math.floor(rest / n);
    return [low + ((high - low) * k) / n, low + ((high - low) * (k + 1)) / n] as const;
  });
}

/** The paper, plainly: boxes of all nodes, level by level, with the numbers of their unstable blocks. */
function expected(root: Box, world: World, { perAxis, trials, sigma, depth, room = 1e9 }: Knobs) {
  const nodes = [{ box: root, unstable: [] as number[] }];
  let level = nodes;
  for (let d = 1; d < depth; d++) {
    const all = level.flatMap(node =>
      Array.from({ length: perAxis ** root.length }, (_, block) => {
        const box = blockOf(node.box, perAxis, block);
        const values = Array.from({ length: trials }, (_, t) => world(box, t, block, d));
        return { node, block, deviation: deviationOf(values) };
      }),
    );
    const deviations = all.map(b => b.deviation);
    const threshold = meanOf(deviations) + sigma * deviationOf(deviations);
    const unstable = all
      .filter(b => b.deviation > threshold)
      .sort((a, b) => b.deviation - a.deviation)
      .slice(0, room);
    for (const { node, block } of unstable) node.unstable.push(block);
    for (const node of level) node.unstable.sort((a, b) => a - b);
    level = unstable.map(({ node, block }) => ({ box: blockOf(node.box, perAxis, block), unstable: [] }));
    nodes.push(...level);
  }
  return nodes;
}

const meanOf = (v: number[]) => v.reduce((a, b) => a + b, 0) / v.length;
function deviationOf(v: number[]): number {
  const m = meanOf(v);
  return Math.sqrt(v.reduce((s, x) => s + (x - m) ** 2, 0) / Math.max(1, v.length - 1));
}

/** Numbers in [0, 1) that depend on everything given. */
function hash(...parts: number[]): number {
  let h = 2166136261;
  for (const p of parts) {
    h = Math.imul(h ^ Math.round(p * 1e6), 16777619);
    h = Math.imul(h ^ (h >>> 15), 2246822519);
  }
  return ((h ^ (h >>> 13)) >>> 0) / 2 ** 32;
}

const noise = (box: Box, trial: number) => hash(...box.map(r => r[0] + r[1]), trial) - 0.5;
/** Noise that is larger near a point; the smaller `size`, the nearer. */
const peakAt =
  (at: number[], size: number): World =>
  (box, trial) => {
    const r2 = box.reduce((s, [a, b], d) => s + ((a + b) / 2 - at[d]) ** 2, 0);
    return noise(box, trial) * (0.01 + Math.exp(-r2 / size ** 2));
  };

async function expectAsRead(root: Box, world: World, knobs: Knobs): Promise<number> {
  const { nodes } = await found(root, world, knobs);
  const plain = expected(root, world, knobs);
  const flat = (list: typeof plain) => list.map(n => [keyOf(n.box), n.unstable] as const);
  const order = (a: readonly [string, number[]], b: readonly [string, number[]]) => (a[0] < b[0] ? -1 : 1);
  expect(flat(nodes).sort(order)).toEqual(flat(plain).sort(order));
  return nodes.length;
}

describe('as the paper says it', () => {
  test.each([
    [1, 30, 3],
    [2, 7, 3],
    [2, 12, 2],
    [3, 5, 3],
    [4, 3, 3],
  ])(
    '%i dimensions, %i blocks an axis, depth %i: a peak in the first, the last, a middle block',
    async (dims, perAxis, depth) => {
      for (const at of [0, 1, 0.5, 0.5 / perAxis, 0.31]) {
        const world = peakAt(Array(dims).fill(at), 1 / perAxis);
        const n = await expectAsRead(unitBox(dims), world, { perAxis, trials: 5, sigma: 2, depth });
        expect(n).toBeGreaterThan(1);
      }
    },
  );
  test.each([0, 0.5, 1, 2, 5])('sigma %d, in a world of noise', async sigma => {
    for (let salt = 0; salt < 5; salt++) {
      const world: World = (box, trial) => noise(box, trial + 17 * salt) ** 5;
      await expectAsRead(unitBox(2), world, { perAxis: 9, trials: 3, sigma, depth: 3 });
    }
  });
  test.each([2, 3, 5, 11])('%i trials', async trials => {
    await expectAsRead(unitBox(2), peakAt([0.2, 0.9], 0.1), { perAxis: 8, trials, sigma: 1, depth: 3 });
  });
  test('a box that is no cube, with borders that are no round numbers', async () => {
    const root: Box = [
      [-3, 0.1],
      [0.7, 12.9],
    ];
    const world: World = (box, trial) =>
      noise(box, trial) / (0.1 + Math.abs(box[0][0]) + Math.abs(box[1][0] - 3));
    expect(await expectAsRead(root, world, { perAxis: 6, trials: 4, sigma: 1.5, depth: 3 })).toBeGreaterThan(
      1,
    );
  });
  test('360,000 blocks, which are searched in slabs', async () => {
    const world: World = (box, trial) =>
      noise(box, trial) * (0.1 + 3 * Math.exp(-1e4 * (box[0][0] - 0.1) ** 2));
    const n = await expectAsRead(unitBox(2), world, { perAxis: 600, trials: 2, sigma: 3, depth: 2 });
    expect(n).toBeGreaterThan(100);
  });
});

describe('the threshold', () => {
  test('deviations that fall from block to block: the first one is unstable', async () => {
    const world: World = (_, trial, block) => (trial % 2 ? 1 : -1) * 0.5 ** block;
    const { nodes } = await found([[0, 1]], world, { perAxis: 40, trials: 4, sigma: 2, depth: 2 });
    expect(nodes[0].unstable).toEqual([0, 1]);
    await expectAsRead([[0, 1]], world, { perAxis: 40, trials: 4, sigma: 2, depth: 2 });
  });
  test.each([0, 1, 17, 38, 39])(
    'one block of 40 that deviates, number %i, is the one that is found',
    async own => {
      const world: World = (_, trial, block) => (block === own ? trial : 1);
      const { nodes } = await found([[0, 1]], world, { perAxis: 40, trials: 4, sigma: 5, depth: 2 });
      expect(nodes.map(n => n.unstable)).toEqual([[own], []]);
      expect(nodes[1].box).toEqual(blockOf([[0, 1]], 40, own));
    },
  );
  test('blocks that all deviate alike are stable, however much they do', async () => {
    const world: World = (_, trial) => (trial % 2 ? 1e6 : -1e6);
    const { nodes } = await found(unitBox(2), world, { perAxis: 5, trials: 4, sigma: 0, depth: 4 });
    expect(nodes).toEqual([{ box: unitBox(2), unstable: [] }]);
  });
  test('where all is 0 nothing is unstable', async () => {
    const { nodes } = await found(unitBox(2), () => 0, { perAxis: 5, trials: 4, sigma: 0, depth: 4 });
    expect(nodes).toHaveLength(1);
  });
  test('blocks that deviate nowhere else than at a level of their own have one of their own', async () => {
    // at depth 2 all is a thousand times quieter: with the threshold of depth 1 nothing would be found there
    const world: World = (box, trial, _, level) => noise(box, trial) ** 5 * (level === 1 ? 1 : 1e-3);
    const n = await expectAsRead(unitBox(2), world, { perAxis: 6, trials: 3, sigma: 1, depth: 3 });
    const { nodes } = await found(unitBox(2), world, { perAxis: 6, trials: 3, sigma: 1, depth: 3 });
    const second = nodes.filter(x => widthOf(x.box) < 1 && widthOf(x.box) > 1 / 30);
    expect(second.flatMap(x => x.unstable).length).toBeGreaterThan(0);
    expect(n).toBe(nodes.length);
  });
  test.each([-300, -160, 150, 300])(
    'values of size 1e%i: the same tree as for those of size 1',
    async exponent => {
      const size = 10 ** exponent;
      const knobs = { perAxis: 8, trials: 4, sigma: 1, depth: 3 };
      const plain = peakAt([0.4, 0.6], 0.1);
      const { nodes } = await found(unitBox(2), plain, knobs);
      const scaled = await found(unitBox(2), (...a) => size * plain(...a), knobs);
      expect(scaled.nodes).toEqual(nodes);
      expect(nodes.length).toBeGreaterThan(2);
    },
  );
  test('a large value that all trials agree on is no deviation', async () => {
    const world: World = (_, trial, block) => (block === 11 ? 1e9 : block === 12 ? trial * 1e-3 : 0);
    const { nodes } = await found([[0, 1]], world, { perAxis: 40, trials: 3, sigma: 5, depth: 2 });
    expect(nodes[0].unstable).toEqual([12]);
  });
});

describe('the tree', () => {
  test('depth 1 asks for no trial at all', async () => {
    const { nodes, asked } = await found(unitBox(2), noise, { perAxis: 5, trials: 4, sigma: 0, depth: 1 });
    expect([nodes.length, asked.size]).toEqual([1, 0]);
  });
  test('every slab of nodes above the last level has exactly `trials` trials', async () => {
    const { nodes, asked } = await found(unitBox(2), peakAt([0.3, 0.3], 0.2), {
      perAxis: 6,
      trials: 7,
      sigma: 1,
      depth: 3,
    });
    const above = nodes.filter(n => widthOf(n.box) > 1 / 30);
    expect([...asked.keys()].sort()).toEqual(above.map(n => keyOf(n.box)).sort());
    expect(new Set(asked.values())).toEqual(new Set([7]));
  });
  test('there is one node a block that is cut, the box of that block; the root comes first', async () => {
    const { nodes } = await found(unitBox(3), peakAt([0.1, 0.5, 0.9], 0.3), {
      perAxis: 4,
      trials: 5,
      sigma: 1,
      depth: 3,
    });
    const boxes = nodes.map(n => keyOf(n.box));
    const cut = nodes.flatMap(n => n.unstable.map(b => keyOf(blockOf(n.box, 4, b))));
    expect(boxes[0]).toBe(keyOf(unitBox(3)));
    expect([...cut].sort()).toEqual(boxes.slice(1).sort());
    for (const { unstable } of nodes) expect(unstable).toEqual([...unstable].sort((a, b) => a - b));
  });
  test.each([1, 2, 30, 700])(
    'with room for %i nodes a level, those that deviate most of 9973',
    async room => {
      const world: World = (_, trial, block) => (trial % 2 ? 1 : -1) * ((block * 5821) % 9973) ** 2;
      const knobs = { perAxis: 9973, trials: 2, sigma: 1, depth: 2, room };
      const n = await expectAsRead([[0, 1]], world, knobs);
      expect(n).toBe(1 + room);
    },
  );
});
