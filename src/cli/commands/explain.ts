/** `quadrille explain 'expression'`: shows what an integrand is compiled to. */

import type { Program } from '../../integrand/ir.ts';
import { loading } from '../../integrand/on-demand.ts';
import { toCuda } from '../../integrand/targets/cuda.ts';
import { toJavaScript } from '../../integrand/targets/javascript.ts';
import { toWasm } from '../../integrand/targets/wasm.ts';
import { toWgsl } from '../../integrand/targets/wgsl.ts';
import { capturing, prepare } from '../../integrate.ts';
import { visible } from '../../options/visible.ts';
import { checkProblem } from '../../problem.ts';
import type { Arguments } from '../arguments.ts';
import { freeNames } from '../expression/integrand.ts';
import { isFile } from '../load.ts';
import { parseParams } from '../parameters.ts';
import { isRange } from '../ranges.ts';
import { setUp } from '../setup.ts';
import { irText } from '../show/ir.ts';
import { wasmText } from '../show/wasm.ts';
import { readTables } from '../table-file.ts';
import { styleOf, type Terminal } from '../terminal.ts';

export async function explainCommand(args: Arguments, { out, env }: Terminal): Promise<number> {
  const params = parseParams((args.options.get('param') as string[]) ?? []);
  const { integrand, options } = await setUp(withRanges(args, Object.keys(params)), params);
  const program = await programOf(integrand, options);
  const target = (args.options.get('target') as string | undefined) ?? 'ir';
  const style = styleOf(out, env);
  const head = (text: string) => style.dim(text);
  const sections: [string, string][] = [];
  if (target === 'ir') sections.push(['the integrand', String(integrand)], ['its program', irText(program)]);
  if (target === 'js') sections.push(['JavaScript, for point i of n', toJavaScript(program)]);
  if (target === 'cuda') sections.push(['CUDA C++', toCuda(program).source.trimEnd()]);
  if (target === 'wgsl') sections.push(['WGSL, in float32', toWgsl(program).source.trimEnd()]);
  if (target === 'wasm') {
    const { bytes } = toWasm(program);
    sections.push([`WebAssembly, ${bytes.length} bytes; two points at a time`, wasmText(bytes)]);
  }
  const comment = ['js', 'cuda', 'wgsl'].includes(target) ? '//' : ';;';
  out.write(
    `${sections.map(([name, text]) => `${head(`${comment} ${name}`)}\n${visible(text)}`).join('\n\n')}\n`,
  );
  return 0;
}

/** Without ranges, all names in an expression are variables, and the domain is the unit cube. */
function withRanges(args: Arguments, params: readonly string[]): Arguments {
  const expression = args.rest.find(text => !isRange(text));
  if (expression === undefined || isFile(expression) || args.rest.some(isRange)) return args;
  const names = freeNames(expression, params, readTables((args.options.get('table') as string[]) ?? []));
  return { ...args, rest: [...args.rest, ...(names.length > 0 ? names : ['x']).map(n => `${n}=0..1`)] };
}

/** The program that devices get; it includes the map of infinite ranges to finite ones. */
async function programOf(
  integrand: Parameters<typeof prepare>[0] | URL,
  options: Parameters<typeof checkProblem>[0],
): Promise<Program> {
  const { device: _, ...rest } = options;
  const problem = await loading(() => checkProblem(rest));
  const own = capturing(integrand, problem);
  const prepared = await loading(() => prepare(integrand as Parameters<typeof prepare>[0], null, own));
  if (prepared.kind === 'compiled') return prepared.program;
  throw new Error('a function that runs as it is has no program');
}
