/** Compiles a function at once: it is parsed, lowered to a program and made runnable by a target. Whatever else than `Math` it uses has to be loaded. */
import { withCaptures } from './captures.ts';
import { checkParams } from './check-params.ts';
import type { Compiled, CompileOptions, IntegrandOf, NoParams } from './compile.ts';
import { lower } from './lower/lower.ts';
import { provideMath } from './math/now.ts';
import { bind, type Params } from './params.ts';
import { read } from './read.ts';
import type { ResultShape } from './shape.ts';
import { type Evaluate, javascriptTarget } from './targets/javascript.ts';
import { wasmTarget } from './targets/wasm.ts';

const targets = { wasm: wasmTarget, javascript: javascriptTarget };
const OPTIONS = ['dims', 'params', 'target'];

export function compileNow<P extends Params = NoParams>(
  f: IntegrandOf<NoInfer<P>, ResultShape>,
  options: CompileOptions<P>,
): Compiled {
  const { dims, params: given = {}, target = 'wasm' } = checkOptions(options);
  const params = withCaptures([f], given);
  provideMath(); // what returns its result at once cannot load them
  const program = lower(read(f), dims, params);
  const bound = bind(program.params, params);
  let run: Evaluate;
  try {
    run = targets[target](program, bound);
  } catch (e) {
    if (options.target !== undefined || !lacksWebAssembly(e)) throw e;
    run = javascriptTarget(program, bound); // slower, with the same bits
  }
  const count = program.results.length;
  return {
    program,
    shape: program.shape ?? 'number',
    evaluate(points, out) {
      if (!(points instanceof Float64Array)) {
        throw new TypeError(
          `evaluate: the points are ${points === null ? 'null' : `a ${typeof points}`}; pass a Float64Array of dims × points coordinates.`,
        );
      }
      out ??= new Float64Array(Math.floor(points.length / dims) * count);
      if (points.length * count !== out.length * dims) {
        throw new RangeError(
          `evaluate: ${points.length} coordinates do not make ${out.length / count} points of ${dims}; pass dims × points of them.`,
        );
      }
      run(points, out);
      return out;
    },
  };
}

/** Whether the cause of an error is that modules or memories cannot be had: `--jitless`, a page's policy, a limit. */
function lacksWebAssembly(error: unknown): boolean {
  if (typeof WebAssembly !== 'object' || error instanceof WebAssembly.CompileError) return true;
  return error instanceof RangeError && error.message.startsWith('WebAssembly.');
}

function checkOptions(options: CompileOptions): CompileOptions<Params> {
  const unknown = Object.keys(options ?? {}).find(k => !OPTIONS.includes(k));
  if (unknown)
    throw new TypeError(`compile: unknown option \`${unknown}\`; the options are ${OPTIONS.join(', ')}.`);
  const { dims, params = {}, target = 'wasm' } = options ?? {};
  if (!Number.isInteger(dims) || dims < 1)
    throw new RangeError(
      `compile: \`dims\` is ${dims}; pass the number of coordinates, a whole number from 1.`,
    );
  if (!Object.hasOwn(targets, target))
    throw new TypeError(
      `compile: unknown target '${target}'; the targets are ${Object.keys(targets).join(', ')}.`,
    );
  checkParams(params);
  return { dims, params, target };
}
