/**
 * The ways to evaluate an integrand that the benchmark compares, in one shape: so many batches, how long they
 * took, and the sum of the values of a batch, so that none can skip the work or get it wrong.
 */
import { compile } from '../src/integrand/compile.ts';
import { kit } from '../src/integrand/math/index.ts';
import { bind } from '../src/integrand/params.ts';
import { instantiate } from '../src/integrand/targets/wasm.ts';
import type { Entry } from '../tests/integrands/entry.ts';
import type { CProgram } from './c.ts';

export interface Contestant {
  name: string;
  run(repeats: number): Promise<{ seconds: number; sum: number }>;
}

function timed(name: string, out: Float64Array, evaluate: () => void): Contestant {
  return {
    name,
    async run(repeats) {
      const start = performance.now();
      for (let r = 0; r < repeats; r++) evaluate();
      const seconds = (performance.now() - start) / 1000;
      return { seconds, sum: out.reduce((s, y) => s + y, 0) };
    },
  };
}

/**
 * The function as it is, on one array that is filled again for every point. The loop is made anew for each integrand:
 * a shared one would see many functions, and V8 would inline none of them.
 */
function plain({ name, f, dims, params }: Entry, points: Float64Array, out: Float64Array): Contestant {
  const make = new Function(
    'f, points, out, x, params, kit',
    `return function ${name}() {
      const n = out.length;
      for (let i = 0; i < n; i++) {
        for (let axis = 0; axis < ${dims}; axis++) x[axis] = points[axis * n + i];
        out[i] = f(x, params, kit);
      }
    }`,
  );
  const x = Array.from({ length: dims }, () => 0.5); // made of floats: V8 keeps them unboxed
  return timed('js', out, make(f, points, out, x, params, kit));
}

function javascript(e: Entry, points: Float64Array, out: Float64Array): Contestant {
  const { evaluate } = compile(e.f, {
    dims: e.dims,
    target: 'javascript',
    ...(e.params && { params: e.params }),
  });
  return timed('javascript', out, () => evaluate(points, out));
}

/** The vector code on points that lie in its own memory, as a device has them there. */
function wasm({ f, dims, params = {} }: Entry, points: Float64Array): Contestant {
  const { program } = compile(f, { dims, params });
  const instance = instantiate(program, points.length / dims);
  const {
    rows,
    values: [values],
    run,
    batch,
  } = instance;
  instance.bind(bind(program.params, params));
  rows.forEach((row, d) => row.set(points.subarray(d * batch, (d + 1) * batch)));
  return timed('wasm', values, () => run(batch));
}

/** All that can evaluate this entry on these points, plain JavaScript first. */
export async function contestants(
  e: Entry,
  points: Float64Array,
  c: CProgram | undefined,
): Promise<Contestant[]> {
  const n = points.length / e.dims;
  const list = [
    plain(e, points, new Float64Array(n)),
    wasm(e, points),
    javascript(e, points, new Float64Array(n)),
  ];
  if (c && (await c.load(e.name, points))) list.push({ name: 'c', run: repeats => c.run(repeats) });
  return list;
}
