/** Balls and thin curved shells, with their centre inside the domain, on a face, an edge or a corner of it. */
import type { Integrand } from '../../../src/index.ts';
import { background, heightOn, integralOf } from '../background.ts';
import type { Draw } from '../draw.ts';
import { type Drawn, type Kind, upTo } from '../kind.ts';

/** base·exp(Σ slope·x), and `height` more where r1 < |x − at| < r2. */
const raisedShell: Integrand = (x: number[], p) => {
  let s = 0;
  let r = 0;
  for (let i = 0; i < x.length; i++) {
    s += p.slope[i] * x[i];
    r += (x[i] - p.at[i]) ** 2;
  }
  return p.base * Math.exp(s) + (p.r1 * p.r1 <= r && r < p.r2 * p.r2 ? p.height : 0);
};

/** The volume of the unit ball: V₀ = 1, V₁ = 2, V_d = 2π/d·V_(d−2). */
const unitBall = (dims: number): number =>
  dims < 2 ? dims + 1 : ((2 * Math.PI) / dims) * unitBall(dims - 2);

/** A shell that fills `fraction` of the domain, less if there is no room, and whose inner radius is `hollow` times the outer one. */
function shellOf(draw: Draw, dims: number, fraction: number, hollow: number): Drawn {
  const faces = draw.perAxis(dims, () => Number(draw.chance(0.3))); // 1: the centre lies on a face across this axis
  const cut = 2 ** faces.reduce((s, v) => s + v); // the number of equal parts of which one is inside
  const whole = unitBall(dims) * (1 - hollow ** dims);
  const most = faces.every(v => v === 1) ? 1 : 0.5;
  const r2 = Math.min(most, ((fraction * cut) / whole) ** (1 / dims));
  const r1 = hollow * r2;
  const at = draw.perAxis(dims, axis =>
    faces[axis] ? Number(draw.chance(0.5)) : Math.min(1 - r2, Math.max(r2, touching(draw, r2))),
  );
  const filled = (unitBall(dims) * (r2 ** dims - r1 ** dims)) / cut;
  const under = background(draw, dims);
  const height = heightOn(under, filled, draw);
  const params = { ...under, at, r1, r2, height };
  return { f: raisedShell, params, truth: integralOf(under) + height * filled, fraction: filled };
}

/** A centre on an edge, or such that the sphere touches an edge. */
const touching = (draw: Draw, r: number) => draw.edge() + draw.pick([0, r, -r]);

const ball: Kind = {
  name: 'ball',
  dims: upTo(8, 2),
  symmetric: true,
  draw: (draw, dims) => shellOf(draw, dims, draw.fraction(), 0),
};

const shell: Kind = {
  name: 'shell',
  dims: upTo(8, 2),
  symmetric: true,
  draw: (draw, dims) => shellOf(draw, dims, draw.fraction(), 1 - draw.size(0.01, 0.5)),
};

export const round: readonly Kind[] = [ball, shell];
