/** The page: runs a problem when the test asks, and watches its own pulse and its workers meanwhile. */
import { inTurn, mistakes, outcome, outcomes, problems, scans, series } from './problems.ts';

export interface Observed {
  outcome: object;
  /** The longest time between two ticks of the page's clock, in milliseconds. */
  longestGap: number;
  /** Messages that came from each worker ever started. */
  answers: number[];
}

const answers: number[] = [];

globalThis.Worker = class extends Worker {
  constructor(url: string | URL, options?: WorkerOptions) {
    super(url, options);
    const index = answers.push(0) - 1;
    this.addEventListener('message', () => answers[index]++);
  }
};

export async function run(name: string, device: string): Promise<Observed> {
  let longestGap = 0;
  let last = performance.now();
  const tick = () => {
    longestGap = Math.max(longestGap, performance.now() - last);
    last = performance.now();
  };
  const clock = setInterval(tick, 10);
  const result = scans[name]
    ? await outcomes(scans[name], device)
    : series[name]
      ? await inTurn(series[name], device)
      : await outcome({ ...problems, ...mistakes }[name], device);
  tick();
  clearInterval(clock);
  return { outcome: result, longestGap, answers: [...answers] };
}

Object.assign(globalThis, { run });
