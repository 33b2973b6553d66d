/** Integrands that repeat: checkerboards and plane waves. Cells or waves that fit the cells of a rule look like a constant to it. */
import type { Integrand } from '../../../src/index.ts';
import { type Kind, upTo } from '../kind.ts';

/** base + height·(−1)^(number of the cell); an axis has `cells` cells, of which the first one begins at −phase/cells. */
const checkerboard: Kind = {
  name: 'checkerboard',
  dims: upTo(5),
  symmetric: true,
  draw(draw, dims) {
    const most = [0, 60, 16, 8, 5, 4][dims];
    const cells = draw.perAxis(dims, () =>
      draw.chance(0.4) ? 2 ** (1 + draw.below(Math.log2(most))) : draw.between(1.2, most),
    );
    const phase = draw.perAxis(dims, () =>
      draw.chance(0.3) ? 0 : draw.chance(0.5) ? draw.edge() : draw.size(1e-5, 0.1),
    );
    const base = draw.pick([0, 1, 1]);
    const height = draw.size(0.05, 3);
    const truth = base + cells.reduce((t, n, i) => (t * (wave(n + phase[i]) - wave(phase[i]))) / n, height);
    return { f: checkerboardOf, params: { cells, phase, base, height }, truth, fraction: 0.5 };
  },
};

/** The integral from 0 to t of 1 − 2·(⌊t⌋ mod 2). */
const wave = (t: number) => 1 - Math.abs((t % 2) - 1);

const checkerboardOf: Integrand = (x: number[], p) => {
  let cell = 0;
  for (let i = 0; i < x.length; i++) cell += Math.floor(p.cells[i] * x[i] + p.phase[i]);
  return p.base + p.height * (1 - 2 * (cell % 2));
};

/** base + cos(phase + k·x) (Genz' oscillatory family). */
const planeWave: Kind = {
  name: 'wave',
  dims: upTo(6),
  symmetric: true,
  draw(draw, dims) {
    const k = draw.perAxis(dims, () => draw.size(0.5, draw.tame ? 6 : 200 / dims));
    const phase = draw.between(0, 2 * Math.PI);
    const base = draw.pick([0, 1, 0.01]);
    let [re, im] = [Math.cos(phase), Math.sin(phase)];
    for (const v of k) {
      // ∫ exp(ivx) over [0, 1] = c + is
      const [c, s] = [Math.sin(v) / v, (2 * Math.sin(v / 2) ** 2) / v];
      [re, im] = [re * c - im * s, re * s + im * c];
    }
    return { f: planeWaveOf, params: { k, phase, base }, truth: base + re };
  },
};

const planeWaveOf: Integrand = (x: number[], p) => {
  let s = p.phase;
  for (let i = 0; i < x.length; i++) s += p.k[i] * x[i];
  return p.base + Math.cos(s);
};

export const periodic: readonly Kind[] = [checkerboard, planeWave];
