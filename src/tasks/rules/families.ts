/** Rules for any number of dimensions: of degrees 9 and 7, with null rules (DCUHRE's), and of Genz and Malik. */
import { arrangements, type Row, without } from './rows.ts';

/**
 * A rule for any number of axes. With D f = f(a) − 2f(0) + f(−a) along an axis, a row of `terms` is the weight of the
 * product of the D of its generator, summed over every choice of axes; the row `corners` is the weight of the mean over
 * the points (±a, …, ±a); the centre gets the weight that makes the rule exact for a constant. A monomial in some axes is
 * changed only by terms on just these axes, so these numbers are the same for all n, while the weights of the points are
 * polynomials in n.
 */
interface Family {
  terms: readonly Row[];
  corners: Row;
}

const [A, B, C, D] = [0.955907315804539, 0.4060571747382397, 0.8952547092523563, 0.6860757975617563];

// biome-ignore format: one term per line
const DEGREE9: Family = {
  terms: [
    [[A], [0.0365073053079745, -0.019483177347712863, 0.03417227984385635, 1.0076188699807138, 0.14588947962227122]],
    [[B], [0.1690725459491701, 0.027589520522165588, 0.09178644150354216, 0.7983445922135471, -0.1690725459491701]],
    [[C], [0.057693384490973484, 0.034999626602143584, -0.057693384490973484, -1.3868627719278281, -0.057693384490973484]],
    [[0.25], [0, 0, -0.23866687325750088, 0, 0]],
    [[A, A], [0.008448904373250517, -0.0007643951493106505, 0.0007643951493106505, 0.10076610424769274, -0.008448904373250517]],
    [[A, B], [0.02254314464717892, 0.013675773263272822, -0.013675773263272822, -0.32544759695960124, -0.02254314464717892]],
    [[A, A, A], [0.0017708782258391339, 0.0010743012775049343, -0.0010743012775049343, 0.0017708782258391339, -0.0017708782258391339]],
  ],
  corners: [[D], [0.25150011495314795, -0.06287502873828699, 0.06287502873828699, 0.25150011495314795, -0.25150011495314795]],
};

// biome-ignore format: one term per line
const DEGREE7: Family = {
  terms: [
    [[B], [0.12359398032043234, 0.07497814870203369, -0.12359398032043234, 0.5548914705142356, -0.12359398032043234]],
    [[A], [0.06862337484794438, 0.009338531547755324, -0.019268751871720658, -0.05439111994763671, -0.06862337484794438]],
    [[0.75], [0, 0, 0.03038172903822101, 0, 0]],
    [[A, A], [0.009708933337374194, 0.005889913453879031, -0.005889913453879031, -0.004854466668687097, -0.009708933337374194]],
  ],
  corners: [[D], [0.3551433123253402, -0.08878582808133505, 0.08878582808133505, -0.1775716561626701, -0.3551433123253402]],
};

const [G, H] = [Math.sqrt(9 / 70), Math.sqrt(9 / 10)];

/** The null rule is the rule of degree 7 minus the one of degree 5, which has no corners. */
// biome-ignore format: one term per line
const GENZ_MALIK: Family = {
  terms: [
    [[G], [980 / 6561, 980 / 6561 - 245 / 486]],
    [[H], [1420 / 19683, 1420 / 19683 - 55 / 486]],
    [[H, H], [200 / 19683, 200 / 19683 - 25 / 729]],
  ],
  corners: [[Math.sqrt(9 / 19)], [6859 / 19683, 6859 / 19683]],
};

/** The orbits of a family in n dimensions, with its products of differences multiplied out. */
function weightsOf({ terms, corners: [[corner], share] }: Family, dims: number): Row[] {
  const all: Row[] = [[[], share.map((s, r) => (r === 0 ? 1 : 0) - s)], ...terms];
  const rows = all.map(([generator]): Row => {
    const weights = share.map(() => 0);
    for (const [whole, counts] of all) {
      // points of this orbit come from terms that contain its coordinates; the remaining factors of such a term
      // contribute −2 f(0) each, on any choice of the other axes
      const rest = without(whole, generator);
      if (!rest) continue;
      const times = (-2) ** rest.length * arrangements(rest, dims - generator.length);
      counts.forEach((c, r) => {
        weights[r] += times * c;
      });
    }
    return [generator, weights];
  });
  return [...rows, [new Array<number>(dims).fill(corner), share.map(s => s / 2 ** dims)]];
}

export const degree9 = (dims: number): Row[] => weightsOf(DEGREE9, dims);
export const degree7 = (dims: number): Row[] => weightsOf(DEGREE7, dims);
export const genzMalik = (dims: number): Row[] => weightsOf(GENZ_MALIK, dims);
