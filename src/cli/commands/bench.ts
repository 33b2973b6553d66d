/** `quadrille bench`: runs integrands of the papers on this machine, and shows their times and their true errors. */
import { devices } from '../../devices/list.ts';
import { integrate } from '../../integrate.ts';
import type { IntegrateOptions } from '../../problem.ts';
import { type Result, withError } from '../../result.ts';
import type { Arguments } from '../arguments.ts';
import { CONVERGED, NOT_CONVERGED } from '../exit-codes.ts';
import { interruptible } from '../interrupt.ts';
import { libraryOptions } from '../setup.ts';
import { jsonLine, valueObject } from '../show/json.ts';
import { columns, rounded, time } from '../show/numbers.ts';
import { ProgressLine } from '../show/progress-line.ts';
import { isLive, type Style, styleOf, type Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { BENCHMARKS, type Benchmark } from './benchmarks.ts';

interface Run {
  benchmark: Benchmark;
  result: Result;
}

const BAR = 32;

export async function benchCommand({ rest, options }: Arguments, terminal: Terminal): Promise<number> {
  if (rest.length > 0)
    throw new UsageError(`quadrille bench takes no '${rest[0]}'.`, 'Write quadrille bench.');
  const json = options.has('json');
  const runs: Run[] = [];
  const interrupt = interruptible();
  let now = '';
  const live = isLive(terminal) ? new ProgressLine(terminal, () => [now]) : undefined;
  try {
    for (const benchmark of BENCHMARKS) {
      now = `${runs.length + 1} of ${BENCHMARKS.length}  ${benchmark.name}`;
      const result = await integrate(benchmark.f, {
        ...benchmark.options,
        ...libraryOptions(options),
        maxTime: 10_000, // on a slow machine a benchmark ends with status `time` instead of going on for minutes
        signal: interrupt.signal,
        onProgress: () => live?.draw(),
      } as IntegrateOptions);
      if (interrupt.signal.aborted) break;
      runs.push({ benchmark, result });
      if (json) terminal.out.write(jsonLine(runObject(runs.at(-1)!)));
    }
  } finally {
    live?.stop();
    interrupt.done();
  }
  if (!json && runs.length > 0) await report(runs, terminal);
  return runs.length === BENCHMARKS.length && runs.every(r => r.result.converged) ? CONVERGED : NOT_CONVERGED;
}

function runObject({ benchmark, result }: Run): object {
  const { name, paper, truth, options } = benchmark;
  return { name, paper, truth, ...valueObject(result, options.params ?? {}) };
}

async function report(runs: readonly Run[], { out, env }: Terminal): Promise<void> {
  const style = styleOf(out, env);
  const where = (await devices()).find(d => d.name === runs[0].result.device.split(':')[0]);
  const head = `Node ${process.versions.node}, ${runs[0].result.device}${where ? `: ${where.description}` : ''}`;
  const [title, ...lines] = columns([HEADER, ...runs.map(row)], [2, 3, 4, 5]);
  const print = (text: string) => out.write(`${text}\n`);
  print(style.dim(head));
  print('');
  print(style.dim(title));
  lines.forEach((l, i) =>
    print(runs[i].result.converged ? l : `${l}  ${style.yellow(runs[i].result.status)}`),
  );
  print('');
  for (const l of bars(runs, style)) print(l);
}

const HEADER = ['integrand', 'value', 'true error', 'evaluations', 'time', 'a second', 'method'];

/** The true error is shown relative to the true value, and as a multiple of the estimated error. */
function row({ benchmark: { name, truth }, result: r }: Run): string[] {
  const off = Math.abs(r.value - truth);
  return [
    name,
    withError(r.value, r.error),
    `${rounded(off / Math.abs(truth))} (${(off / r.error).toFixed(1)} errors)`,
    rounded(r.evaluations),
    time(r.elapsed),
    rounded(speed(r)),
    r.method,
  ];
}

const speed = (r: Result): number => (1000 * r.evaluations) / r.elapsed;

/** A bar per integrand: its evaluations per second. */
function bars(runs: readonly Run[], style: Style): string[] {
  const most = Math.max(...runs.map(r => speed(r.result)));
  const wide = Math.max(...runs.map(r => r.benchmark.name.length));
  return [
    style.dim('evaluations a second'),
    ...runs.map(({ benchmark, result }) => {
      const length = Math.max(1, Math.round((BAR * speed(result)) / most));
      const bar = (style.unicode ? '█' : '#').repeat(length);
      return `${benchmark.name.padEnd(wide)}  ${style.cyan(bar)} ${rounded(speed(result))}`;
    }),
  ];
}
