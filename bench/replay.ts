/**
 * JavaScript's part of runs on a card, measured without a card: a run on the emulator of tests/cuda is recorded, all that the driver answered, and
 * is played back many times. Launches take no time then, and the card is always done.
 *
 *   npm run bench:replay -- METHOD:INTEGRAND:EVALUATIONS-or-TOLERANCE … [--profile FILE]
 *
 * Prints microseconds per run: the lower quartile of the last half of the runs, the CPU time of these, and the eleventh run. The
 * profile, of the last half of the runs, is one for Chromium's developer tools.
 */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { parseArgs } from 'node:util';
import { absent } from '../tests/cuda/emulated.ts';

if (absent) throw new Error(absent);

const { hostMemory, loadDriver } = await import('../src/devices/cuda/driver.ts');
const { integrate } = await import('../src/index.ts');
const { askedFor } = await import('./gpu/asked-for.ts');
const { entry } = await import('./gpu/entries.ts');

const NOT_READY = 600;
const RUNS = 2000;

/** What a call of the driver answered: its status, what it wrote into arrays, and the memory that it or kernels filled. */
interface Answer {
  name: string;
  status: number;
  written: unknown[][];
  memory: Uint8Array | null;
}

let answers: Answer[] = [];
let recorded: Answer[][] = [];
let mode: 'through' | 'record' | 'play' = 'through';
let next = 0;
let mapped: Uint8Array | null = null;
let memory: Answer | null = null;

const driver = loadDriver() as unknown as Record<string, (...args: unknown[]) => number>;
for (const [name, own] of Object.entries(driver)) {
  /** The bytes that a call fills: what kernels left in the host's memory, or what is read from the card's. */
  const filled = (args: unknown[]): Uint8Array | null => {
    if (name === 'cuStreamQuery') return mapped;
    if (name !== 'cuMemcpyDtoH') return null;
    const to = args[0] as ArrayBufferView;
    return new Uint8Array(to.buffer, to.byteOffset, to.byteLength);
  };
  driver[name] = (...args) => {
    if (mode === 'play') {
      // how much memory is free is asked by the clock
      const answer = name === 'cuMemGetInfo' ? memory : answers[next++];
      if (answer?.name !== name) throw new Error(`${name} was called where ${answer?.name} was recorded`);
      if (answer.memory) filled(args)!.set(answer.memory);
      if (answer.written.length > 0) {
        const arrays = args.filter(a => Array.isArray(a));
        answer.written.forEach((values, i) => void arrays[i].splice(0, values.length, ...values));
      }
      return answer.status;
    }
    let status = own(...args);
    while (name === 'cuStreamQuery' && status === NOT_READY) status = own(...args);
    if (name === 'cuMemHostAlloc')
      mapped = new Uint8Array(hostMemory(Number((args[0] as number[])[0]), args[1] as number));
    if (name === 'cuMemGetInfo') {
      memory = { name, status, written: args.map(a => [...(a as number[])]), memory: null };
    } else if (mode === 'record') {
      const written = name.startsWith('cuLaunch') ? [] : args.filter(a => Array.isArray(a)).map(a => [...a]);
      answers.push({ name, status, written, memory: filled(args)?.slice() ?? null });
    }
    return status;
  };
}

const { values, positionals } = parseArgs({
  options: { profile: { type: 'string' } },
  allowPositionals: true,
});
const inspector = new Session();
inspector.connect();
if (values.profile) {
  await inspector.post('Profiler.enable');
  await inspector.post('Profiler.setSamplingInterval', { interval: 100 });
}

for (const what of positionals) {
  const [method, name, amount] = what.split(':');
  const e = entry(name);
  // with a deadline the clock would decide how many samples an iteration has
  const options = { method, device: 'cuda', ...askedFor(Number(amount)), maxTime: Infinity };
  const run = () =>
    integrate(e.f as never, { domain: e.domain, params: e.params ?? {}, ...options } as never);
  for (let i = 0; i < 3; i++) await run();
  // two runs, since buffers of one may be at other places in the next
  mode = 'record';
  for (recorded = []; recorded.length < 2; recorded.push(answers)) {
    answers = [];
    await run();
  }
  mode = 'play';
  const times: number[] = [];
  let used = process.cpuUsage();
  for (let i = 0; i < RUNS; i++) {
    if (i === RUNS / 2) {
      used = process.cpuUsage();
      if (values.profile) await inspector.post('Profiler.start');
    }
    [answers, next] = [recorded[i % 2], 0];
    const begin = performance.now();
    await run();
    times.push(1000 * (performance.now() - begin));
  }
  mode = 'through';
  used = process.cpuUsage(used);
  if (values.profile)
    writeFileSync(values.profile, JSON.stringify((await inspector.post('Profiler.stop')).profile));
  const warm = times.slice(RUNS / 2).sort((a, b) => a - b);
  console.log(
    what.padEnd(32),
    `${warm[warm.length >> 2].toFixed(0)} µs, ${((used.user + used.system) / (RUNS / 2)).toFixed(0)} of CPU time, the eleventh ${times[10].toFixed(0)}; ${answers.length} calls of the driver`,
  );
}
process.exit(0);
