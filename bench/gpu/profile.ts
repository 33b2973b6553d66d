/**
 * Which functions take the host's time in short runs on a GPU, by V8's sampling profiler:
 *
 *   node suite.mjs --profile METHOD:INTEGRAND:EVALUATIONS-or-TOLERANCE[:DEVICE][,…] [--profiles FOLDER]
 *
 * Runs are profiled for PROFILED_MS after 3 s, when JavaScript is compiled. Prints microseconds per run, and writes the profiles for Chromium's
 * developer tools into a folder.
 */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { integrate } from '../../src/index.ts';
import { askedFor } from './asked-for.ts';
import { entry } from './entries.ts';

const WARM_MS = 3000;
const PROFILED_MS = 3000;
const SHOWN = 45;

export async function profile(whats: string, folder?: string): Promise<void> {
  const inspector = new Session();
  inspector.connect();
  await inspector.post('Profiler.enable');
  await inspector.post('Profiler.setSamplingInterval', { interval: 50 });
  for (const what of whats.split(',')) {
    const [method, name, amount, device = 'cuda'] = what.split(':');
    const { f, domain, params } = entry(name);
    const options = {
      method: method as 'vegas+',
      device,
      domain,
      params: params ?? {},
      ...askedFor(Number(amount)),
    };
    /** Milliseconds of each run. */
    const runsFor = async (ms: number): Promise<number[]> => {
      const times: number[] = [];
      for (const end = performance.now() + ms; performance.now() < end; ) {
        const begin = performance.now();
        await integrate(f as never, options as never);
        times.push(performance.now() - begin);
      }
      return times;
    };
    await runsFor(WARM_MS);
    const warm = (await runsFor(1000)).sort((a, b) => a - b);
    await inspector.post('Profiler.start');
    const runs = (await runsFor(PROFILED_MS)).length;
    const { profile } = await inspector.post('Profiler.stop');
    if (folder) writeFileSync(`${folder}/${what.replaceAll(':', '-')}.cpuprofile`, JSON.stringify(profile));
    const functions = new Map(
      profile.nodes.map(({ id, callFrame: { functionName, lineNumber } }) => [
        id,
        `${functionName || 'anonymous'}:${lineNumber}`,
      ]),
    );
    const spent = new Map<string, number>();
    profile.samples!.forEach((id, i) => {
      const of = functions.get(id)!;
      spent.set(of, (spent.get(of) ?? 0) + profile.timeDeltas![i] / runs);
    });
    console.log(
      `\n${what}: ${warm[warm.length >> 1].toFixed(2)} ms, the median of ${warm.length}; ${runs} runs profiled`,
    );
    const ranked = [...spent].sort(([, a], [, b]) => b - a).slice(0, SHOWN);
    console.log(ranked.map(([of, us]) => `${us.toFixed(0)} ${of}`).join(', '));
  }
}
