/**
 * A simulation of many workers behind a network with delays, from the measured cost of a result at the coordinator, and what
 * 10,000 workers would need.
 */
import { digestOf, fromBytes, toBytes } from '../src/devices/cluster/packing.ts';
import { cut } from '../src/devices/cluster/sizes.ts';
import { mergeParts, type PartSums, type SampleTask } from '../src/tasks/sample.ts';

/** Milliseconds that the coordinator takes for a result with a histogram of so many bins. */
function resultCost(bins: number, dims: number): number {
  const task = { strata: Array(dims).fill(4), counts: 1000, bins } as unknown as SampleTask;
  const sums: PartSums = {
    part: { first: 0, count: 1 },
    evaluations: 65_536,
    nodes: new Float64Array(3),
    histogram: Float64Array.from({ length: bins * dims }, (_, i) => i * i),
    squares: 1,
    cubes: null,
    nonFinite: null,
  };
  const bytes = toBytes(sums);
  const repeats = 200;
  const start = performance.now();
  for (let i = 0; i < repeats; i++) {
    digestOf(bytes);
    const read = fromBytes(bytes) as PartSums;
    mergeParts(task, { first: 0, count: 2 }, [read, { ...read, part: { first: 1, count: 1 } }]);
  }
  return (performance.now() - start) / repeats;
}

/**
 * Workers that take parts from a queue: a job costs a round trip, the coordinator takes results one by one, and an iteration
 * ends when the last result is there. The efficiency is work/(workers · time).
 */
function simulated(workers: number, seconds: number, delay: number, cost: number): number {
  const rate = 1e4; // evaluations per millisecond
  const each = 65_536;
  const groups = Math.ceil((seconds * 1000 * rate * workers) / each);
  const free = new Float64Array(workers); // when each worker is free
  let [coordinator, end, busy] = [0, 0, 0];
  const results: number[] = [];
  for (const { count } of cut({ first: 0, count: groups }, each, workers, rate)) {
    let next = 0;
    for (let w = 1; w < workers; w++) if (free[w] < free[next]) next = w;
    const ms = (count * each) / rate;
    busy += ms;
    free[next] += 2 * delay + ms;
    results.push(free[next] + delay);
  }
  for (const arrives of results.sort((a, b) => a - b)) {
    coordinator = Math.max(coordinator, arrives) + cost;
    end = coordinator;
  }
  return busy / (workers * (end + delay));
}

export function simulate(): void {
  const cost = resultCost(1000, 8);
  console.log(
    `\na result with a histogram of 8,000 bins takes the coordinator ${cost.toFixed(2)} ms (decoding, digest, merging)`,
  );
  console.log('simulated efficiency of an iteration, by its time on all workers together\n');
  console.log('workers   delay     1 s    10 s    60 s');
  for (const workers of [200, 1000, 10_000])
    for (const delay of [1, 10, 50]) {
      const row = [1, 10, 60].map(s => simulated(workers, s, delay, cost).toFixed(2).padStart(6));
      console.log(`${`${workers}`.padStart(7)}  ${`${delay} ms`.padStart(6)}  ${row.join('  ')}`);
    }
  const perSecond = 10_000 / 2;
  console.log(
    `\n10,000 workers with parts of 2 s send ${perSecond} results per second: ${((perSecond * cost) / 1000).toFixed(1)} threads of a coordinator, and ${((perSecond * 64) / 1000).toFixed(0)} MB/s at the server.`,
  );
}
