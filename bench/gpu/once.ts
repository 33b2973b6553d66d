/** A few runs, of which the first one compiles, for a profiler to look at. */
import type { Entry } from '../../tests/integrands/entry.ts';
import { askedFor } from './asked-for.ts';
import { entry, onCard } from './common.ts';
import { CONTESTANTS } from './several.ts';

/** An integrand of several.ts, by its number of results there. */
const severalOf = (name: string): Entry | undefined => {
  const found = CONTESTANTS.find(([own]) => own === name);
  return found && ({ f: found[1], domain: Array(8).fill([0, 1]) } as unknown as Entry);
};

/** Twenty iterations of `vegas+` or `mcubes` with so many evaluations in all, or another method to a tolerance. */
export async function once(what: string) {
  const [method, name, how, runs = '2', device = 'cuda'] = what.split(':');
  const options = askedFor(Number(how));
  for (let i = 0; i < Number(runs); i++) {
    const r = await onCard(severalOf(name) ?? entry(name), {
      method: method as 'vegas+',
      device,
      ...options,
    });
    console.log(`${r.elapsed.toFixed(2)} ms, ${r}`);
    const last = r.iterations.slice(-12).map(k => `${k.evaluations.toExponential(1)} ${k.error}`);
    console.log(`${r.iterations.length} iterations; the last: ${last.join(', ')}`);
  }
}
