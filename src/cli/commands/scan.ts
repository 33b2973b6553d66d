/** `quadrille scan 'expression' x=0..1 --param a=0:10:0.5`: computes an integral for each combination of values; prints CSV or JSON lines. */
import { visible } from '../../options/visible.ts';
import { type Result, rowsOf } from '../../result.ts';
import { type ScanOptions, scan } from '../../scan.ts';
import type { Arguments } from '../arguments.ts';
import { CONVERGED, FAILED, NOT_CONVERGED } from '../exit-codes.ts';
import { interruptible } from '../interrupt.ts';
import { messageOf, withVariables } from '../messages.ts';
import { parseScan, product } from '../parameters.ts';
import { type Setup, setUp } from '../setup.ts';
import { jsonLine, valueObject } from '../show/json.ts';
import { time } from '../show/numbers.ts';
import { ProgressLine } from '../show/progress-line.ts';
import { hasEstimate } from '../show/report.ts';
import { isLive, styleOf, type Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

type Params = Record<string, number>;

/** A name as CSV has it. */
const quoted = (name: string): string => (/[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);

interface How {
  json: boolean;
  quiet: boolean;
  ranges: Setup['ranges'];
}

const COLUMNS = ['status', 'method', 'evaluations'];

export async function scanCommand(args: Arguments, terminal: Terminal): Promise<number> {
  const lists = parseScan((args.options.get('param') as string[]) ?? []);
  if (lists.size === 0)
    throw new UsageError(
      'No parameter is given.',
      'Write --param a=0:10:0.5 (from, to, step) or --param a=1,2,3.',
    );
  const sets = product(lists);
  const setup = await setUp(args, sets[0]);
  const { params: base, onProgress: _, signal, ...options } = setup.options;
  const rows = new Rows(terminal, sets, [...lists.keys()], {
    json: args.options.has('json'),
    quiet: args.options.has('quiet'),
    ranges: setup.ranges,
  });
  const interrupt = interruptible();
  try {
    await scan(setup.integrand, {
      ...options,
      signal: AbortSignal.any([interrupt.signal, signal].filter(s => s !== undefined)),
      params: sets.map(set => ({ ...base, ...set })),
      onResult: (result, index) => rows.add(result, index),
    } as ScanOptions);
  } catch (e) {
    throw withVariables(e, setup.ranges);
  } finally {
    rows.end();
    interrupt.done();
  }
  return rows.code;
}

/** Prints rows in the order of the params, each as soon as all rows before it are printed. */
class Rows {
  code = CONVERGED;
  readonly #terminal: Terminal;
  readonly #sets: readonly Params[];
  readonly #names: readonly string[];
  readonly #how: How;
  readonly #live: ProgressLine | undefined;
  readonly #waiting = new Map<number, Result>();
  readonly #started = performance.now();
  #headed = false;
  #next = 0;
  #done = 0;

  constructor(terminal: Terminal, sets: readonly Params[], names: readonly string[], how: How) {
    this.#terminal = terminal;
    this.#sets = sets;
    this.#names = names;
    this.#how = how;
    if (isLive(terminal) && !how.quiet) this.#live = new ProgressLine(terminal, () => this.#progress());
  }

  add(result: Result, index: number): void {
    if (index < this.#next) return this.#print(result, this.#sets[index]); // made again: its later row counts
    this.#waiting.set(index, result);
    this.#done++;
    for (;;) {
      const ready = this.#waiting.get(this.#next);
      if (!ready) break;
      this.#waiting.delete(this.#next);
      this.#print(ready, this.#sets[this.#next++]);
    }
    this.#live?.draw();
  }

  end(): void {
    this.#live?.stop();
  }

  #print(r: Result, params: Params): void {
    if (r.status === 'failed') this.code = FAILED;
    else if (!r.converged && this.code !== FAILED) this.code = NOT_CONVERGED;
    if (r.status === 'aborted' && !hasEstimate(r)) return; // Ctrl-C came before it began
    this.#live?.clear();
    const { out } = this.#terminal;
    if (this.#how.json) out.write(jsonLine(valueObject(r, params)));
    else {
      const rows = rowsOf(r);
      const columns = rows.flatMap(({ name }) => (name ? [name, `${name} error`] : ['value', 'error']));
      if (!this.#headed) out.write(`${[...this.#names, ...columns, ...COLUMNS].map(quoted).join(',')}\n`);
      this.#headed = true;
      const values = this.#names.map(n => params[n]);
      const found = rows.flatMap(({ value, error }): (number | string)[] =>
        hasEstimate(r) ? [value, error] : ['', ''],
      );
      out.write(`${[...values, ...found, r.status, r.method, r.evaluations].join(',')}\n`);
    }
    if (!this.#how.quiet) this.#remark(r, params);
  }

  /** Errors and warnings of a row go to stderr, so that stdout has the table only. */
  #remark(r: Result, params: Params): void {
    const { err, env } = this.#terminal;
    const style = styleOf(err, env);
    const which = Object.entries(params).map(([n, v]) => `${n}=${v}`);
    const kind = r.status === 'failed' ? style.red('error') : style.yellow('warning');
    const remarks = r.status === 'failed' ? [messageOf(r.failure, this.#how.ranges)] : r.warnings;
    for (const remark of remarks) err.write(`${kind}: ${which.join(' ')}: ${visible(remark)}\n`);
  }

  #progress(): string[] {
    const elapsed = performance.now() - this.#started;
    const left = this.#done > 0 ? (elapsed / this.#done) * (this.#sets.length - this.#done) : undefined;
    return [
      `${this.#done} of ${this.#sets.length} integrals`,
      left === undefined ? time(elapsed) : `about ${time(left)} left`,
    ];
  }
}
