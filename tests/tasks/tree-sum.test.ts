/** Sums as a tree: the same bits for any cut of the list, against a tree that is added up as its definition says. */
import { describe, expect, test } from 'vitest';
import { TreeSum } from '../../src/tasks/tree-sum.ts';
import { Random } from '../compiler/random.ts';

const WIDTH = 2;

/** Rows of numbers of very different sizes and both signs, whose sums depend on their order. */
function rowsFor(length: number): number[][] {
  const random = new Random(length);
  return Array.from({ length }, () =>
    Array.from({ length: WIDTH }, () => (random.unit() - 0.5) * 10 ** (12 * random.unit())),
  );
}

/** The list filled up with zeros to a power of two; neighbours in pairs, pairs in pairs. */
function definition(rows: readonly number[][]): number[] {
  let level = [...rows];
  while (level.length & (level.length - 1)) level.push(Array(WIDTH).fill(0));
  while (level.length > 1)
    level = level.filter((_, i) => i % 2 === 0).map((row, i) => row.map((x, j) => x + level[2 * i + 1][j]));
  return level[0];
}

/** The subtrees of the items from `first` up to `end`. */
function nodesOf(rows: readonly number[][], first: number, end: number): Float64Array {
  const sum = new TreeSum(WIDTH, rows.length);
  for (let i = first; i < end; i++) sum.add(i, rows[i]);
  return sum.nodes;
}

/** The same from the subtrees of parts, cut at these places. */
function nodesOfParts(rows: readonly number[][], ...cuts: number[]): Float64Array {
  const sum = new TreeSum(WIDTH, rows.length);
  for (let p = 1; p < cuts.length; p++) sum.add(cuts[p - 1], nodesOf(rows, cuts[p - 1], cuts[p]), cuts[p]);
  return sum.nodes;
}

const lengths = Array.from({ length: 70 }, (_, i) => i + 1);

describe('lists of 1 to 70 items', () => {
  test('one node, with the bits of the definition', () => {
    for (const n of lengths) {
      const rows = rowsFor(n);
      expect([...nodesOf(rows, 0, n)], `${n} items`).toEqual(definition(rows));
    }
  });
  test('in a third of these lists a plain sum has other bits: the order matters here', () => {
    const plain = lengths.filter(n => rowsFor(n).reduce((s, [x]) => s + x, 0) !== definition(rowsFor(n))[0]);
    expect(plain.length).toBeGreaterThan(lengths.length / 3);
  });
  test('the same bits for every cut into two and three parts', () => {
    for (const n of lengths) {
      const rows = rowsFor(n);
      const whole = definition(rows);
      for (let a = 0; a <= n; a++)
        for (let b = a; b <= n; b++) {
          const [sum, second, ...more] = nodesOfParts(rows, 0, a, b, n);
          if (sum !== whole[0] || second !== whole[1] || more.length > 0)
            expect.fail(`${n} items, cut at ${a} and ${b}: ${sum} is ${whole[0]}`);
        }
    }
  });
  test('a part that is put together from two has the nodes that it has as one', () => {
    for (const n of [7, 32, 45, 70]) {
      const rows = rowsFor(n);
      for (let a = 0; a <= n; a++)
        for (let b = a; b <= n; b += 3)
          for (let c = b; c <= n; c += 5)
            expect(nodesOfParts(rows, a, b, c), `${n} items: ${a}, ${b}, ${c}`).toEqual(nodesOf(rows, a, c));
    }
  });
  test('a part has at most 2·log₂(length) nodes', () => {
    for (const n of lengths.slice(1)) {
      const rows = rowsFor(n);
      for (let a = 0; a <= n; a++)
        for (let b = a; b <= n; b++)
          expect(nodesOf(rows, a, b).length / WIDTH).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(n)));
    }
  });
});
