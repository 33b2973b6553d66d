/** The one call: checks the problem, compiles the integrand, opens the device, and returns what the method finds. */
import { CpuDevice } from './devices/cpu/cpu.ts';
import type { Device, DeviceIntegrand } from './devices/device.ts';
import { inNode } from './devices/registry.ts';
import type { Integrand } from './integrand/compile.ts';
import { IntegrandError } from './integrand/diagnostics.ts';
import { lowered } from './integrand/lowered.ts';
import { bind } from './integrand/params.ts';
import { exportName, plainIntegrand } from './integrand/plain.ts';
import { read } from './integrand/read.ts';
import { OptionError } from './options/option-error.ts';
import { checkProblem, type IntegrateOptions, type Problem } from './problem.ts';
import type { Result } from './result.ts';
import { nothing, solve } from './solve.ts';

/** The integral of `f` over a domain, with its error. Throws when the problem makes no sense; a run that stops short is a result. */
export async function integrate(f: Integrand | URL, options: IntegrateOptions): Promise<Result> {
  const start = performance.now();
  const problem = checkProblem(options);
  const integrand = prepare(...(await resolve(f)), problem);
  if (problem.domain.empty) return nothing(problem, start);
  const [device, ours] = await deviceFor(problem);
  const session = await device.open(integrand);
  try {
    return await solve(problem, session, start);
  } finally {
    session.close();
    if (ours) await device.close();
  }
}

/** An integrand as devices take it. */
export function prepare(
  f: Integrand,
  module: URL | null,
  { dims, params, domain, device }: Problem,
): DeviceIntegrand {
  if (typeof device === 'string' && device.startsWith('js')) {
    if (typeof f !== 'function') read(f); // says what is wrong with it
    return plainIntegrand(f, module, domain, params);
  }
  try {
    const program = lowered(f, dims, params, domain.axes);
    return { kind: 'program', program, params: bind(program.params, params) };
  } catch (e) {
    if (e instanceof IntegrandError && typeof f === 'function' && e.runsAsItIs) {
      e.add(w => `Or run the function as it is, more slowly, with ${w.setting('device', 'js')}.`);
    }
    throw e;
  }
}

/** The function, and the module it comes from when it was named by a URL. */
export async function resolve(f: Integrand | URL): Promise<[Integrand, URL | null]> {
  if (!(f instanceof URL)) return [f, null];
  const exports = (await import(/* @vite-ignore */ f.href.split('#')[0])) as Record<string, Integrand>;
  const found = exports[exportName(f)];
  if (typeof found === 'function') return [found, f];
  throw new TypeError(
    `integrate: ${f.href} has no exported function '${exportName(f)}'; name one behind a #.`,
  );
}

let shared: CpuDevice | null = null;
/** Evaluations that take a CPU minutes: beyond, `auto` looks for a card, whose kernels take the better part of a second to compile. */
const LONG = 1e10;

/** The device, and whether it is ours to close. The default one is kept: its idle workers do not keep a process alive. */
export async function deviceFor({ device: given, maxEvaluations }: Problem): Promise<[Device, boolean]> {
  const device: Problem['device'] = Array.isArray(given) && given.length === 1 ? given[0] : given;
  if (device === 'auto' && maxEvaluations >= LONG && inNode()) {
    const { cardIfAny } = await import('./devices/cuda/open.ts');
    const card = cardIfAny();
    if (card) return [card, false];
  }
  if (Array.isArray(device) && !device.every(d => d.startsWith('cuda')))
    throw new OptionError('device', device, 'only CUDA devices can work together so far');
  if (typeof device === 'string' ? device.startsWith('cuda') : Array.isArray(device)) {
    const { openCuda } = await import('./devices/cuda/open.ts');
    return [openCuda(device as string | readonly string[]), false];
  }
  if (typeof device !== 'string') return [device as Device, false];
  const [, number] = device.split(':');
  if (number) return [new CpuDevice(Number(number)), true];
  shared ??= new CpuDevice();
  return [shared, false];
}
