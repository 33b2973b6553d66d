/**
 * Where the time of a short run on a card goes: the calls of the driver, waiting for the card, and the JavaScript between them.
 *
 *   node suite.mjs --timeline METHOD:INTEGRAND:EVALUATIONS-or-TOLERANCE[,…]
 *
 * A run is timed after 1000 others or 2 s, when JavaScript is compiled; of 41 runs the one with the median time is shown, in microseconds. The
 * clock is read twice per call of the driver, which costs about 0.1 µs.
 */
import { loadDriver } from '../../src/devices/cuda/driver.ts';
import { askedFor } from './asked-for.ts';
import { entry, onCard } from './common.ts';

interface Call {
  name: string;
  begin: number;
  end: number;
}

const WARM_RUNS = 1000;
const WARM_MS = 2000;
const RUNS = 41;

/** Notes all calls of the driver from now on. */
function listen(): Call[][] {
  const runs: Call[][] = [];
  const driver = loadDriver() as unknown as Record<string, (...args: unknown[]) => number>;
  for (const [name, own] of Object.entries(driver)) {
    driver[name] = (...args) => {
      const begin = performance.now();
      const status = own(...args);
      runs.at(-1)?.push({
        name: name === 'cuStreamQuery' && status !== 0 ? 'waiting' : name,
        begin,
        end: performance.now(),
      });
      return status;
    };
  }
  return runs;
}

export async function timeline(whats: string): Promise<void> {
  const calls = listen();
  for (const what of whats.split(',')) {
    const [method, name, amount] = what.split(':');
    const options = { method: method as 'vegas+', ...askedFor(Number(amount)) };
    const spent: { ms: number; begin: number; calls: Call[] }[] = [];
    const warm = performance.now() + WARM_MS;
    for (let i = 0; i < WARM_RUNS && performance.now() < warm; i++) await onCard(entry(name), options);
    for (let i = 0; i < RUNS; i++) {
      calls.push([]);
      const begin = performance.now();
      await onCard(entry(name), options);
      spent.push({ ms: performance.now() - begin, begin, calls: calls.pop()! });
    }
    spent.sort((a, b) => a.ms - b.ms);
    const run = spent[RUNS >> 1];
    console.log(
      `\n${what}: ${(1000 * run.ms).toFixed(0)} µs, from ${(1000 * spent[0].ms).toFixed(0)} to ${(1000 * spent.at(-1)!.ms).toFixed(0)}`,
    );
    tell(run);
  }
}

function tell({ ms, begin, calls }: { ms: number; begin: number; calls: Call[] }): void {
  const sums = new Map<string, { count: number; us: number }>();
  const line: string[] = [];
  let last = begin;
  let waiting: number | null = null;
  const add = (name: string, us: number) => {
    const sum = sums.get(name) ?? { count: 0, us: 0 };
    sums.set(name, { count: sum.count + 1, us: sum.us + us });
    line.push(`${name} ${us.toFixed(0)}`);
  };
  for (const [i, call] of calls.entries()) {
    // a wait lasts from the first answer that work goes on to the end of the last one, turns of the event loop included
    if (call.name === 'waiting') {
      if (waiting === null) {
        add('JavaScript', 1000 * (call.begin - last));
        waiting = call.begin;
      }
      if (calls[i + 1]?.name !== 'waiting') {
        const end = calls[i + 1]?.name === 'cuStreamQuery' ? calls[i + 1].end : call.end;
        add('waiting', 1000 * (end - waiting));
        [last, waiting] = [end, null];
      }
      continue;
    }
    if (call.begin < last) continue; // the query that ended a wait
    add('JavaScript', 1000 * (call.begin - last));
    add(call.name, 1000 * (call.end - call.begin));
    last = call.end;
  }
  add('JavaScript', 1000 * (begin + ms - last));
  const ranked = [...sums].sort(([, a], [, b]) => b.us - a.us);
  console.log(ranked.map(([name, { count, us }]) => `${name} ${us.toFixed(0)} in ${count}`).join(', '));
  console.log(
    line
      .join(', ')
      .replaceAll('JavaScript', 'js')
      .replaceAll('cuLaunchKernel', 'launch')
      .replaceAll('cuStreamQuery', 'query'),
  );
}
