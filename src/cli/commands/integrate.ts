/** `quadrille 'expression' x=0..1` and `quadrille run FILE`: computes one integral. */
import { writeFile } from 'node:fs/promises';
import { integrate } from '../../integrate.ts';
import { visible } from '../../options/visible.ts';
import type { IntegrateOptions, Progress } from '../../problem.ts';
import type { Result } from '../../result.ts';
import type { Arguments } from '../arguments.ts';
import { CONVERGED, NOT_CONVERGED } from '../exit-codes.ts';
import { interruptible } from '../interrupt.ts';
import { withVariables } from '../messages.ts';
import { parseParams } from '../parameters.ts';
import { type Setup, setUp } from '../setup.ts';
import { Forecast } from '../show/forecast.ts';
import { jsonLine, resultObject } from '../show/json.ts';
import { ProgressLine, progressParts } from '../show/progress-line.ts';
import { block, line } from '../show/report.ts';
import { svg } from '../show/svg.ts';
import { isLive, styleOf, type Terminal, widthOf } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

export async function integrateCommand(args: Arguments, terminal: Terminal): Promise<number> {
  const setup = await setUp(args, parseParams((args.options.get('param') as string[]) ?? []));
  const quiet = args.options.has('quiet');
  const result = await solve(setup, terminal, quiet);
  // first the result, which may have taken hours: that its drawing cannot be written is no reason to lose it
  show(result, setup, terminal, { quiet, json: args.options.has('json') });
  const file = args.options.get('svg') as string | undefined;
  if (file !== undefined) await draw(file, result, setup.title);
  return result.converged ? CONVERGED : NOT_CONVERGED;
}

async function solve(setup: Setup, terminal: Terminal, quiet: boolean): Promise<Result> {
  const { integrand, options, ranges } = setup;
  const forecast = new Forecast(options);
  const start = performance.now();
  const live =
    isLive(terminal) && !quiet
      ? new ProgressLine(terminal, () => progressParts(forecast, performance.now() - start))
      : undefined;
  const interrupt = interruptible();
  const signals = [interrupt.signal, options.signal].filter(s => s !== undefined);
  try {
    return await integrate(integrand, {
      ...options,
      signal: AbortSignal.any(signals),
      onProgress(progress: Progress) {
        forecast.add(progress, performance.now() - start);
        live?.draw();
        options.onProgress?.(progress);
      },
    } as IntegrateOptions);
  } catch (e) {
    throw withVariables(e, ranges);
  } finally {
    live?.stop();
    interrupt.done();
  }
}

async function draw(file: string, result: Result, title: string): Promise<void> {
  try {
    await writeFile(file, svg(result, title));
  } catch (e) {
    throw new UsageError(`The drawing could not be written: ${(e as Error).message}.`);
  }
}

function show(
  result: Result,
  setup: Setup,
  terminal: Terminal,
  { quiet, json }: { quiet: boolean; json: boolean },
): void {
  const { out, err, env } = terminal;
  if (json) {
    out.write(jsonLine(resultObject(result, setup)));
    return;
  }
  if (out.isTTY && !quiet) {
    const lines = block(result, setup, styleOf(out, env), widthOf(out));
    out.write(`\n${lines.join('\n')}\n\n`);
    return;
  }
  out.write(`${line(result)}\n`);
  const style = styleOf(err, env);
  if (!quiet) for (const w of result.warnings) err.write(`${style.yellow('warning')}: ${visible(w)}\n`);
}
