/**
 * Faults of the machine around the command line, injected one after another: outputs that are full or closed, folders that
 * are missing, signals. Each run ends in the right result or in an error with a name, and never in a stack trace. A row
 * says what was done to which resource and how it ended; tests/cli/faults.test.ts demands that every row is as promised.
 */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Built, buildCli, type Ended, ended } from '../../tests/cli/built.ts';

export interface FaultRow {
  resource: string;
  fault: string;
  /** How the run ended, in a few words. */
  outcome: string;
  /** Whether that is what is promised. */
  kept: boolean;
}

interface Fault {
  resource: string;
  fault: string;
  /** A line for bash. */
  command: string;
  env?: Record<string, string>;
  code: number;
  out?: RegExp;
  err?: RegExp;
}

const VALUE = /^0\.(5|49999)\S* {2}converged /;
const NOTHING = /^$/;
const UNWRITTEN = /^error: The output could not be written: ENOSPC: no space left on device, write\.\n$/;
const UNDRAWN = /^error: The drawing could not be written: E[A-Z]+: /;
const x = "quadrille x 'x=0..1'";
const rows = "quadrille scan 'x*a' 'x=0..1' -p a=1:200:1";

const FAULTS: readonly Fault[] = [
  { resource: 'stdout', fault: 'full', command: `${x} >/dev/full`, code: 1, err: UNWRITTEN },
  { resource: 'stdout', fault: 'full, JSON', command: `${x} --json >/dev/full`, code: 1, err: UNWRITTEN },
  { resource: 'stdout', fault: 'full in a scan', command: `${rows} >/dev/full`, code: 1, err: UNWRITTEN },
  {
    resource: 'stdout',
    fault: 'full, --help',
    command: 'quadrille --help >/dev/full',
    code: 1,
    err: UNWRITTEN,
  },
  { resource: 'stdout', fault: 'closed before the start', command: `${x} >&-`, code: 0, err: NOTHING },
  {
    resource: 'stdout',
    fault: 'a reader that takes one line of a scan',
    command: `${rows} | head -n 1; exit \${PIPESTATUS[0]}`,
    code: 0,
    out: /^a,value,.*\n$/,
    err: NOTHING,
  },
  {
    resource: 'stdout',
    fault: 'a reader that takes nothing',
    command: `${x} | true; exit \${PIPESTATUS[0]}`,
    code: 0,
    err: NOTHING,
  },
  { resource: 'stderr', fault: 'full, and an error', command: 'quadrille y x=0..1 2>/dev/full', code: 1 },
  { resource: 'stderr', fault: 'closed, and an error', command: 'quadrille y x=0..1 2>&-', code: 1 },
  {
    resource: 'stderr',
    fault: 'a reader that is gone, and an error',
    command: 'quadrille y x=0..1 2> >(true)',
    code: 1,
  },
  {
    resource: 'stderr',
    fault: 'full, and a result with a warning',
    command:
      "quadrille '1/(x-0.5)' x=0..1 --on-non-finite zero --method cuhre --max-evaluations 5000 2>/dev/full",
    code: 2,
    out: /^-?\d.* cuhre on cpu, /,
  },
  { resource: 'both', fault: 'full', command: `${x} >/dev/full 2>/dev/full`, code: 1 },
  {
    resource: '--svg',
    fault: 'no such folder',
    command: `${x} --svg none/a.svg`,
    code: 1,
    out: VALUE,
    err: UNDRAWN,
  },
  { resource: '--svg', fault: 'a folder', command: `${x} --svg .`, code: 1, out: VALUE, err: UNDRAWN },
  {
    resource: '--svg',
    fault: 'a full disk',
    command: `${x} --svg /dev/full`,
    code: 1,
    out: VALUE,
    err: UNDRAWN,
  },
  {
    resource: '--svg',
    fault: 'a full disk, with JSON',
    command: `${x} --json --svg /dev/full`,
    code: 1,
    out: /^\{"integrand":"x",.*\}\n$/,
    err: UNDRAWN,
  },
  ...['/nonexistent', '/dev/null', '/proc', ''].map(folder => ({
    resource: 'temporary files',
    fault: `TMPDIR=${folder || "''"}, a TypeScript file`,
    command: 'quadrille run f.ts --dims 1',
    env: { TMPDIR: folder },
    code: 0,
    out: VALUE,
    err: NOTHING,
  })),
  ...[
    { HOME: '' },
    { HOME: 'home' },
    { HOME: '/nonexistent' },
    { HOME: '', XDG_CACHE_HOME: '.' },
    { HOME: '/dev/null', XDG_CACHE_HOME: '/dev/full' },
    { HOME: '', CUDA_HOME: '.', CONDA_PREFIX: '', VIRTUAL_ENV: 'home' },
  ].map(env => ({
    resource: 'home and cache',
    fault: Object.entries(env)
      .map(([name, value]) => `${name}=${value || "''"}`)
      .join(' '),
    command: `quadrille devices >/dev/null && ${x}`,
    env,
    code: 0,
    out: VALUE,
    err: NOTHING,
  })),
  {
    resource: 'home and cache',
    fault: 'no HOME',
    command: `unset HOME XDG_CACHE_HOME; quadrille devices >/dev/null && ${x}`,
    code: 0,
    out: VALUE,
    err: NOTHING,
  },
  {
    resource: 'files',
    fault: 'a file that awaits what never comes',
    command: 'quadrille run stuck.mjs',
    code: 1,
    err: /^error: The file waits for a promise that nothing settles\.\n$/,
  },
  {
    resource: 'files',
    fault: 'an integrand that awaits what never comes, until Ctrl-C',
    command: 'timeout --preserve-status -s INT 6 quadrille run never.mjs',
    code: 2,
    out: /^no estimate yet {2}aborted /,
  },
];

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const;

/** Injects every fault, one after another; takes some 20 s. */
export async function cliFaults(): Promise<FaultRow[]> {
  const built = await buildCli();
  try {
    await built.put('f.ts', 'export default ([x]: number[]): number => x;');
    await built.put('stuck.mjs', 'await new Promise(() => {}); export default x => x[0];');
    await built.put(
      'never.mjs',
      "export default { integrand: () => new Promise(() => {}), dims: 1, device: 'js' };",
    );
    const before = readdirSync(built.folder).sort().join();
    const found: FaultRow[] = [];
    for (const fault of FAULTS) found.push(judged(fault, await built.shell(fault.command, fault.env)));
    const after = readdirSync(built.folder).sort().join();
    found.push({
      resource: 'working folder',
      fault: 'all of the above',
      outcome: after === before ? 'nothing was written there' : `has ${after}`,
      kept: after === before,
    });
    for (const signal of SIGNALS) found.push(await signalled(built, signal));
    return found;
  } finally {
    await built.remove();
  }
}

function judged({ resource, fault, code, out, err }: Fault, end: Ended): FaultRow {
  const trace = /^ +at /m.test(end.err);
  const kept = end.code === code && (out?.test(end.out) ?? true) && (err?.test(end.err) ?? true) && !trace;
  const said = end.err.trim().split('\n')[0] || end.out.trim().split('\n')[0] || 'silent';
  return { resource, fault, outcome: `exit ${end.code}: ${said}`, kept };
}

/** A signal while a TypeScript file is being loaded: its bundle leaves nothing behind. */
async function signalled(built: Built, signal: NodeJS.Signals): Promise<FaultRow> {
  const temporary = join(built.folder, `tmp-${signal}`);
  await mkdir(temporary);
  await writeFile(
    join(built.folder, 'slow.ts'),
    `import { writeFileSync } from 'node:fs';
     writeFileSync('loading-${signal}', '');
     await new Promise(done => setTimeout(done, 60_000));
     export default ([x]: number[]): number => x;`,
  );
  const child = built.start(['run', 'slow.ts', '--dims', '1'], { TMPDIR: temporary });
  const end = ended(child);
  const mark = join(built.folder, `loading-${signal}`);
  while (!existsSync(mark) && child.exitCode === null) await new Promise(done => setTimeout(done, 20));
  child.kill(signal);
  const { err } = await end;
  const left = readdirSync(temporary);
  return {
    resource: 'temporary files',
    fault: `${signal} while a TypeScript file is loaded`,
    outcome: `ended by ${child.signalCode ?? child.exitCode}; ${left.length} files left`,
    kept: child.signalCode === signal && err === '' && left.length === 0,
  };
}
