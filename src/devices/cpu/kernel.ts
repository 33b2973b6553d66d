/**
 * The sampling kernel of the CPU device: WebAssembly that draws points and adds up what the integrand made of
 * them, a batch of at most BATCH samples at a time, all of it in the first-level cache.
 *
 *     draw(): takes the next samples of the chunk, whole pieces of cubes, and writes their points (draw-kernel.ts)
 *     weigh(n): multiplies the values by the Jacobian; returns whether one is not finite (add-kernel.ts)
 *     add(): adds sums and variances of the pieces, and the histogram when the map adapts; addCubes also those of each cube
 *
 * A cube is one stratum. A piece is a run of samples of one cube that fits into a batch; a cube with more samples
 * has several pieces, each with its own mean and variance, weighted by its share of the cube's samples.
 */
import { encodeModule, type FunctionWriter } from '../../wasm/assembler.ts';
import { addFunction, weighFunction } from './add-kernel.ts';
import { drawFunction, groupFunction, placeFunction } from './draw-kernel.ts';
import { latticeFunction } from './lattice-kernel.ts';
import type { KernelLayout } from './layout.ts';
import { addSeveral, weighSeveral } from './several-kernel.ts';

/** The module: imports `env.memory`, exports `drawFrozen`, `weigh`, `addFrozen`, `addCubes`, and but for lattices `draw` and `add`. */
export function kernelModule(k: KernelLayout): Uint8Array<ArrayBuffer> {
  const rest = k.dims % 4;
  const functions: FunctionWriter[] = [];
  const declare = (f: FunctionWriter) => functions.push(f) - 1;
  const place = declare(placeFunction(k));
  const several = k.results > 1;
  const adder = several ? addSeveral : addFunction;
  const exported: Record<string, number> = { weigh: declare(several ? weighSeveral(k) : weighFunction(k)) };
  const kinds = [
    ['', true],
    ['Frozen', false],
  ] as const;
  for (const [suffix, adapt] of k.lattice ? kinds.slice(1) : kinds) {
    const group = (axes: number) => (k.lattice ? latticeFunction(k, axes) : groupFunction(k, axes, adapt));
    const four = declare(group(4));
    const last = rest ? declare(group(rest)) : four;
    exported[`draw${suffix}`] = declare(drawFunction(k, place, four, last));
    exported[`add${suffix}`] = declare(adder(k, adapt, adapt));
  }
  exported.addCubes = declare(adder(k, false, true));
  return encodeModule(functions, exported);
}
