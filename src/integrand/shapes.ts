/**
 * Domains that are no boxes: the simplex, the ball and its surface, as images of the unit cube.
 *
 * The maps are polynomials, sines and cosines, and so are their Jacobians: a smooth integrand stays smooth, which rules of
 * cubature need, and each Jacobian is a product of functions of one variable, which the map of VEGAS learns exactly. The maps
 * with a constant Jacobian (radius u^(1/n), order statistics for the simplex) have infinite derivatives at a face of the cube.
 *
 * Each is written in the integrand language: the compiler makes instructions of it, and it runs as it is. It gives the
 * coordinates of the point, and the Jacobian behind them.
 */
import { OptionError } from '../options/option-error.ts';

/** A simplex, a ball or a sphere, as `simplex`, `ball` and `sphere` make it. */
export interface DomainShape {
  /** @internal what it is */
  readonly shape: 'simplex' | 'ball' | 'sphere';
  /** The number of coordinates of a point. */
  readonly dims: number;
  /** The radius; of a simplex, the length of its edges along the axes. */
  readonly size: number;
  /** The centre; of a simplex, its corner. */
  readonly centre: readonly number[];
}

/** Where a ball or a sphere is. */
export interface ShapeOptions {
  /** The centre. Default: the origin. */
  centre?: readonly number[];
}

/**
 * The map of a shape: coordinates of the unit cube, size and centre become a point and the Jacobian. The point is at most the part
 * `most` of the way to the surface.
 */
export type ShapeMap = (
  u: readonly number[],
  size: number,
  centre: readonly number[],
  most: number,
) => number[];

const MAX_DIMS = 100;

/** The points with x₁, x₂, … ≥ 0 and x₁ + x₂ + … ≤ `size`, in `dims` dimensions. */
export function simplex(dims: number, size = 1): DomainShape {
  return shapeOf('simplex', 1, dims, size, undefined);
}

/** The ball of this radius in `dims` dimensions. */
export function ball(dims: number, radius = 1, { centre }: ShapeOptions = {}): DomainShape {
  return shapeOf('ball', 1, dims, radius, centre);
}

/** The surface of a ball in `dims` dimensions: the integrand gets `dims` coordinates, of which `dims` − 1 are sampled. */
export function sphere(dims: number, radius = 1, { centre }: ShapeOptions = {}): DomainShape {
  return shapeOf('sphere', 2, dims, radius, centre);
}

function shapeOf(
  shape: DomainShape['shape'],
  least: number,
  dims: number,
  size: number,
  centre: readonly number[] | undefined,
): DomainShape {
  if (!(Number.isInteger(dims) && dims >= least && dims <= MAX_DIMS))
    throw new OptionError('dims', dims, `pass a whole number from ${least} to ${MAX_DIMS}`, undefined, shape);
  if (!(size > 0 && size < Infinity))
    throw new OptionError(
      shape === 'simplex' ? 'size' : 'radius',
      size,
      'pass a number above 0',
      undefined,
      shape,
    );
  const at = centre === undefined ? Array<number>(dims).fill(0) : Array.from(centre);
  if (at.length !== dims || !at.every(Number.isFinite))
    throw new OptionError('centre', centre, `pass ${dims} numbers`, undefined, shape);
  return Object.freeze({ shape, dims, size, centre: Object.freeze(at) });
}

export const isShape = (part: unknown): part is DomainShape =>
  typeof part === 'object' &&
  part !== null &&
  'shape' in part &&
  Object.hasOwn(SHAPE_MAPS, String(part.shape));

/** Coordinates that are sampled. */
export const sampledBy = ({ shape, dims }: DomainShape): number => (shape === 'sphere' ? dims - 1 : dims);

/**
 * The part of the way to the surface that points leave out, so that √(r² − |x|²) and √(1 − x − y) are numbers: coordinates are
 * rounded as sums with the centre are.
 */
export function surfaceGap({ dims, size, centre }: DomainShape): number {
  return 2 ** -50 * (2 * dims + 4 * Math.max(...centre.map(c => Math.abs(c / size))));
}

/** Duffy's map: each coordinate is a part of what those before it have left. */
const simplexMap: ShapeMap = (u, size, centre, most) => {
  const n = centre.length;
  const x = Array(n + 1).fill(0);
  let left = size;
  let jacobian = 1;
  for (let d = 0; d < n; d++) {
    x[d] = left * u[d] * most;
    jacobian *= left;
    left *= 1 - u[d];
  }
  x[n] = jacobian;
  return x;
};

/** Spherical coordinates: n − 2 angles from 0 to π, one from 0 to 2π, and for the ball the radius, which comes first. */
const ballMap: ShapeMap = (u, size, centre, most) => {
  const n = centre.length;
  const x = Array(n + 1).fill(0);
  const solid = u.length === n ? 1 : 0;
  let rho = size;
  let jacobian = 1;
  if (solid === 1) {
    rho = size * Math.min(u[0], most);
    jacobian = size;
  }
  for (let k = 0; k < n - 1; k++) jacobian *= rho;
  for (let k = 0; k < n - 2; k++) {
    const angle = Math.PI * u[solid + k];
    const sine = Math.sin(angle);
    x[k] = centre[k] + rho * Math.cos(angle);
    rho *= sine;
    jacobian *= Math.PI;
    for (let j = k; j < n - 2; j++) jacobian *= sine;
  }
  const turn = 2 * Math.PI * u[solid + n - 2];
  x[n - 2] = centre[n - 2] + rho * Math.cos(turn);
  x[n - 1] = centre[n - 1] + rho * Math.sin(turn);
  x[n] = 2 * Math.PI * jacobian;
  return x;
};

export const SHAPE_MAPS: Readonly<Record<DomainShape['shape'], ShapeMap>> = {
  simplex: simplexMap,
  ball: ballMap,
  sphere: ballMap,
};
