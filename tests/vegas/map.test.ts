/** The VEGAS map: what refining, rebinning and sharing keep, and what they move. */
import { describe, expect, test } from 'vitest';
import { floorFor, rebin, refineMap, uniformMap, widthAt } from '../../src/tasks/map.ts';

const axisOf = (edges: Float64Array, dims: number, d: number) => {
  const n = edges.length / dims;
  return [...edges.subarray(d * n, (d + 1) * n)];
};
const widthsOf = (axis: number[]) => axis.slice(1).map((e, i) => e - axis[i]);

/** Histograms of 64 bins: what Σ(J·f)² looks like for integrands of several kinds. */
const shapes: Record<string, (t: number) => number> = {
  flat: () => 1,
  peak: t => Math.exp(-(((t - 0.4) / 0.03) ** 2)),
  'one bin': t => (Math.floor(t * 64) === 20 ? 1 : 0),
  'first bin': t => (t < 1 / 64 ? 1 : 0),
  'last bin': t => (t > 63 / 64 ? 1 : 0),
  'two peaks': t => Math.exp(-(((t - 0.1) / 0.02) ** 2)) + Math.exp(-(((t - 0.9) / 0.02) ** 2)),
  steep: t => Math.exp(30 * t),
  step: t => (t < 0.5 ? 1 : 0),
  noise: t => Math.abs(Math.sin(12_345 * t)),
  tiny: t => 1e-300 * (1 + t),
  huge: t => 1e300 * (1 + t),
};
const histogramOf = (shape: string, bins = 64) =>
  Float64Array.from({ length: bins }, (_, i) => shapes[shape]((i + 0.5) / bins));

describe('uniformMap', () => {
  test('has equal bins and the exact ends of every range', () => {
    const edges = uniformMap(
      [
        [0, 1],
        [-0.1, 0.7],
      ],
      7,
    );
    expect(edges).toHaveLength(16);
    expect([edges[0], edges[7], edges[8], edges[15]]).toEqual([0, 1, -0.1, 0.7]);
    for (const w of widthsOf(axisOf(edges, 2, 1))) expect(w).toBeCloseTo(0.8 / 7, 14);
  });
  test('ends are exact where a + (b − a) is not b', () => {
    const [a, b] = [0.1, 0.1 + 0.7];
    for (let bins = 1; bins < 200; bins++) expect(uniformMap([[a, b]], bins)[bins]).toBe(b);
  });
});

describe.each(Object.keys(shapes))('refineMap with a histogram that is %s', shape => {
  const histogram = histogramOf(shape);
  describe.each([0, 0.1, 0.5, 1, 1.5, 2])('alpha %s', alpha => {
    test.each([0, 1e-6, 0.01])('floor %s: keeps the ends and never goes back, over 20 turns', floor => {
      let edges = uniformMap([[-2, 3]], 64);
      for (let turn = 0; turn < 20; turn++) {
        edges = refineMap(edges, histogram, 1, alpha, floor);
        expect(edges).toHaveLength(65);
        expect([edges[0], edges[64]]).toEqual([-2, 3]);
        expect(Math.min(...widthsOf([...edges]))).toBeGreaterThanOrEqual(0);
      }
    });
  });
  test('the old map is not written to', () => {
    const edges = uniformMap([[0, 1]], 64);
    const [before, own] = [edges.slice(), histogram.slice()];
    refineMap(edges, own, 1, 1.5, 0.01);
    expect(edges).toEqual(before);
    expect(own).toEqual(histogram);
  });
});

describe('refineMap', () => {
  const uniform = uniformMap([[0, 1]], 64);
  test('a flat histogram keeps a uniform map, to 1e-13', () => {
    for (const floor of [0, 0.01]) {
      const refined = refineMap(uniform, histogramOf('flat'), 1, 1.5, floor);
      refined.forEach((e, i) => expect(Math.abs(e - uniform[i])).toBeLessThan(1e-13));
    }
  });
  test('a flat histogram keeps any gradual map when no floor pulls it, to 1e-13', () => {
    const edges = Float64Array.from({ length: 65 }, (_, i) => (1.2 ** i - 1) / (1.2 ** 64 - 1));
    const refined = refineMap(edges, histogramOf('flat'), 1, 0.5, 0);
    refined.forEach((e, i) => expect(Math.abs(e - edges[i])).toBeLessThan(1e-13));
  });
  test('widths change gradually: beside a peak no bin is ten times as wide as its neighbour', () => {
    let edges = uniform;
    for (let turn = 0; turn < 20; turn++) {
      const weights = Float64Array.from({ length: 64 }, (_, i) =>
        edges[i] < 0.419 && edges[i + 1] > 0.418 ? edges[i + 1] - edges[i] : 0,
      );
      edges = refineMap(edges, weights, 1, 1, 0);
      const widths = widthsOf([...edges]);
      for (let i = 1; i < 64; i++) {
        expect(widths[i] / widths[i - 1]).toBeLessThan(10);
        expect(widths[i - 1] / widths[i]).toBeLessThan(10);
      }
    }
    expect(Math.min(...widthsOf([...edges]))).toBeLessThan(1e-4);
  });
  test('a histogram of zeros keeps the map', () => {
    expect(refineMap(uniform, new Float64Array(64), 1, 1.5, 0.01)).toEqual(uniform);
  });
  test('alpha 0 keeps the map', () => {
    expect(refineMap(uniform, histogramOf('peak'), 1, 0, 0.01)).toEqual(uniform);
  });
  test('a map of one bin stays as it is', () => {
    const edges = uniformMap([[0, 1]], 1);
    expect(refineMap(edges, Float64Array.of(5), 1, 1.5, 0.01)).toEqual(edges);
  });
  test('bins are narrow where the histogram is high: the narrowest is at the peak', () => {
    const refined = refineMap(uniform, histogramOf('peak'), 1, 1.5, 0.01);
    const widths = widthsOf([...refined]);
    const narrowest = widths.indexOf(Math.min(...widths));
    expect(Math.abs(refined[narrowest] - 0.4)).toBeLessThan(0.02);
    expect(widths[narrowest]).toBeLessThan(0.25 / 64);
  });
  test('a larger alpha narrows more', () => {
    const narrowest = [0.25, 0.5, 1, 1.5].map(alpha =>
      Math.min(...widthsOf([...refineMap(uniform, histogramOf('peak'), 1, alpha, 0)])),
    );
    expect(narrowest).toEqual(narrowest.toSorted((a, b) => b - a));
    expect(new Set(narrowest).size).toBe(4);
  });
  test('each new bin holds an equal part of the damped weights, to 1e-12', () => {
    // the definition, straight from Lepage: smooth (1 6 1)/8, damp, cut into equal parts
    const alpha = 0.75;
    const w = histogramOf('noise');
    const smooth = w.map((v, i) => (w[Math.max(0, i - 1)] + 6 * v + w[Math.min(63, i + 1)]) / 8);
    const total = smooth.reduce((a, b) => a + b, 0);
    const damped = smooth.map(v => ((1 - v / total) / Math.log(total / v)) ** alpha);
    const sum = damped.reduce((a, b) => a + b, 0);
    const below = (x: number) => {
      const k = Math.min(63, Math.floor(x * 64));
      return (damped.subarray(0, k).reduce((a, b) => a + b, 0) + (x * 64 - k) * damped[k]) / sum;
    };
    refineMap(uniform, w, 1, alpha, 0).forEach((e, i) => expect(below(e)).toBeCloseTo(i / 64, 12));
  });
  test('the floor keeps that part of the samples spread evenly: no bin is wider than 1/(bins · floor)', () => {
    for (const floor of [0.01, 0.1]) {
      let edges = uniform;
      for (let turn = 0; turn < 50; turn++) edges = refineMap(edges, histogramOf('one bin'), 1, 1.5, floor);
      expect(Math.max(...widthsOf([...edges]))).toBeLessThanOrEqual(1.0001 / (64 * floor));
    }
  });
  test('a steady peak is reached in a few turns: half the bins lie within its width', () => {
    const f = (x: number) => Math.exp(-(((x - 0.37) / 0.001) ** 2));
    let edges = uniformMap([[0, 1]], 256);
    for (let turn = 0; turn < 15; turn++) {
      const widths = widthsOf([...edges]);
      // Σ(J·f)² of 40 points in each bin
      const squares = Float64Array.from(widths, (w, i) => {
        let s = 0;
        for (let k = 0; k < 40; k++) s += (f(edges[i] + (w * (k + 0.5)) / 40) * w) ** 2;
        return s;
      });
      edges = refineMap(edges, squares, 1, 1, 1e-4);
    }
    expect([...edges].filter(e => Math.abs(e - 0.37) < 0.003).length).toBeGreaterThan(128);
  });
  test('every axis has its own refinement', () => {
    const both = refineMap(
      uniformMap(
        [
          [0, 1],
          [5, 9],
        ],
        64,
      ),
      Float64Array.of(...histogramOf('peak'), ...histogramOf('steep')),
      2,
      0.5,
      0.01,
    );
    expect(axisOf(both, 2, 0)).toEqual([...refineMap(uniform, histogramOf('peak'), 1, 0.5, 0.01)]);
    const second = refineMap(uniformMap([[5, 9]], 64), histogramOf('steep'), 1, 0.5, 0.01);
    expect(axisOf(both, 2, 1)).toEqual([...second]);
  });
  test('shared: all axes are refined by the sum of their histograms', () => {
    const sum = histogramOf('peak').map((v, i) => v + histogramOf('steep')[i]);
    const both = refineMap(
      uniformMap(
        [
          [0, 1],
          [0, 1],
        ],
        64,
      ),
      Float64Array.of(...histogramOf('peak'), ...histogramOf('steep')),
      2,
      0.5,
      0.01,
      true,
    );
    expect(axisOf(both, 2, 0)).toEqual(axisOf(both, 2, 1));
    expect(axisOf(both, 2, 0)).toEqual([...refineMap(uniform, sum, 1, 0.5, 0.01)]);
  });
});

describe('rebin', () => {
  const edges = Float64Array.from({ length: 65 }, (_, i) => (i / 64) ** 2);
  test('the same number of bins is the same map', () => expect(rebin(edges, 1, 64)).toEqual(edges));
  test('half as many bins: every second edge', () => {
    expect(rebin(edges, 1, 32)).toEqual(edges.filter((_, i) => i % 2 === 0));
  });
  test('twice as many bins: an edge in the middle of each', () => {
    const fine = rebin(edges, 1, 128);
    expect(fine.filter((_, i) => i % 2 === 0)).toEqual(edges);
    for (let i = 1; i < 128; i += 2) expect(fine[i]).toBeCloseTo((fine[i - 1] + fine[i + 1]) / 2, 15);
  });
  test('there and back gives the same map', () => expect(rebin(rebin(edges, 1, 512), 1, 64)).toEqual(edges));
  test('from one bin: uniform', () => {
    const fine = rebin(uniformMap([[2, 4]], 1), 1, 10);
    fine.forEach((e, i) => expect(e).toBeCloseTo(2 + i / 5, 15));
  });
  test.each([1, 3, 7, 100, 1000, 1023])('to %s bins: keeps the ends, rises, on each axis', bins => {
    const two = Float64Array.of(...edges, ...edges.map(e => 3 * e - 1));
    const result = rebin(two, 2, bins);
    expect(result).toHaveLength(2 * (bins + 1));
    for (const [d, a, b] of [
      [0, 0, 1],
      [1, -1, 2],
    ]) {
      const axis = axisOf(result, 2, d);
      expect([axis[0], axis[bins]]).toEqual([a, b]);
      for (const w of widthsOf(axis)) expect(w).toBeGreaterThan(0);
    }
  });
});

test('floorFor leaves the same number of samples spread evenly in every iteration, and at most 1 % of them', () => {
  const spread = floorFor(1e9) * 1e9;
  expect(spread).toBeGreaterThanOrEqual(100);
  expect(floorFor(1e7) * 1e7).toBeCloseTo(spread, 9);
  for (const n of [64, 1000, spread, 100 * spread]) expect(floorFor(n)).toBe(0.01);
});

test('the width of the bin at a place is that of a search among all bins, on even and very uneven maps', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const bins = [1, 2, 7, 64, 512][seed % 5];
    let edges = uniformMap([[-seed, 3 * seed]], bins);
    const histogram = Float64Array.from(
      { length: bins },
      (_, b) => 1e-9 + Math.exp(-seed * ((b - 0.3 * bins) / bins) ** 2 * 40),
    );
    for (let i = 0; i < seed % 7; i++) edges = refineMap(edges, histogram, 1, 1.5, 0);
    const width = widthAt(edges);
    const places = Array.from({ length: 300 }, (_, i) => -seed + 4 * seed * ((i * 0.61803398875) % 1));
    for (const x of [...places, ...edges, -seed - 1, 3 * seed + 1]) {
      let b = 0;
      while (b < bins - 1 && edges[b + 1] <= x) b++;
      expect(width(x)).toBe(edges[b + 1] - edges[b]);
    }
  }
});
