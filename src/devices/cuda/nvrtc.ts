/**
 * NVRTC, CUDA's run-time compiler, through koffi. The library is searched for in the path that an environment variable
 * names, on the system, in CUDA's folders, and in pip's and conda's NVIDIA packages. Compiled kernels are kept on disk
 * (kernel-cache.ts), under the hash of everything that they depend on.
 *
 * Compiling a kernel takes about a second. So kernels are compiled ahead, at the same time on threads of their own, and
 * NVRTC uses several threads for each.
 */
import { bindAll, CudaError, openLibrary } from './driver.ts';
import { homeFolder, readKernel, writeKernel } from './kernel-cache.ts';
import { phase, phaseBegins } from './phases.ts';

// bundlers for the browser do not follow getBuiltinModule
const { createHash } = process.getBuiltinModule('node:crypto');
const { readdirSync } = process.getBuiltinModule('node:fs');
const { isAbsolute, join } = process.getBuiltinModule('node:path');

const SIGNATURES = {
  nvrtcVersion: 'int nvrtcVersion(_Out_ int *major, _Out_ int *minor)',
  nvrtcCreateProgram:
    'int nvrtcCreateProgram(_Out_ uint64_t *program, const char *source, const char *name, int headers, const void *texts, const void *names)',
  nvrtcCompileProgram: 'int nvrtcCompileProgram(uint64_t program, int count, const char **options)',
  nvrtcGetCUBINSize: 'int nvrtcGetCUBINSize(uint64_t program, _Out_ uint64_t *bytes)',
  nvrtcGetCUBIN: 'int nvrtcGetCUBIN(uint64_t program, void *image)',
  nvrtcGetProgramLogSize: 'int nvrtcGetProgramLogSize(uint64_t program, _Out_ uint64_t *bytes)',
  nvrtcGetProgramLog: 'int nvrtcGetProgramLog(uint64_t program, void *text)',
  nvrtcDestroyProgram: 'int nvrtcDestroyProgram(uint64_t *program)',
} as const;

type Nvrtc = Record<
  keyof typeof SIGNATURES,
  ((...args: unknown[]) => number) & { async(...args: unknown[]): void }
>;

/** An environment variable with the path of the library, which is tried before all other places. */
const VARIABLE = 'QUADRILLE_NVRTC';
/** File names of the library in the folders of the toolkit and of pip's and conda's packages. */
const NAME = /^(libnvrtc\.so(\.\d+)*|nvrtc64_\d+_\d+\.dll)$/;

let loaded: Nvrtc | null = null;

export function loadNvrtc(): Nvrtc {
  if (loaded) return loaded;
  const library = phase('loading NVRTC', () => openLibrary(VARIABLE, candidates()));
  if (!library)
    throw new CudaError(
      `NVRTC, CUDA's run-time compiler, was not found; install the CUDA toolkit, or pip install nvidia-cuda-nvrtc, or set ${VARIABLE} to the path of libnvrtc.so.`,
    );
  loaded = bindAll(library, SIGNATURES) as Nvrtc;
  return loaded;
}

function candidates(): string[] {
  const { CUDA_HOME, CUDA_PATH, CONDA_PREFIX, VIRTUAL_ENV } = process.env;
  const system = ['libnvrtc.so', 'libnvrtc.so.13', 'libnvrtc.so.12', 'libnvrtc.so.11.2'];
  const folders = [CUDA_HOME, CUDA_PATH, '/usr/local/cuda', CONDA_PREFIX]
    .filter((f): f is string => !!f && isAbsolute(f)) // never in the working folder, where a stranger may have put one
    .flatMap(f => [join(f, 'lib64'), join(f, 'lib'), join(f, 'bin'), join(f, 'targets/x86_64-linux/lib')]);
  const home = homeFolder();
  for (const root of [VIRTUAL_ENV, CONDA_PREFIX, '/usr', '/usr/local', home && join(home, '.local')]) {
    if (!root || !isAbsolute(root)) continue;
    for (const lib of ['lib', 'lib64']) {
      for (const python of list(join(root, lib)).filter(f => f.startsWith('python3'))) {
        for (const kind of ['site-packages', 'dist-packages'])
          for (const part of ['cuda_nvrtc', 'cu13', 'cu12'])
            folders.push(join(root, lib, python, kind, 'nvidia', part, 'lib'));
      }
    }
  }
  const found = folders.flatMap(f =>
    list(f)
      .filter(n => NAME.test(n))
      .map(n => join(f, n)),
  );
  return [...system, ...found];
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A text to compile. */
export interface Unit {
  text: string;
  /** For messages about phases. */
  name?: string;
  /** Whether other units are linked to it, or it to them. */
  relocatable?: boolean;
  /** Registers that its functions may use, at most: those that are linked to a kernel must not use more than it may. */
  registers?: number;
}

/** What to compile, and for which architecture, such as 'sm_90'. The version of the driver is part of the cache key. */
export interface Source extends Unit {
  architecture: string;
  driver: number;
}

/** Relocatable units that are kept in memory, at most: each integrand needs the same kernels, each kernel the integrand. */
const MAX_PARTS = 64;

/** Kernels that are compiled ahead and were not used yet, and relocatable units, by cache key. */
const ahead = new Map<string, Promise<Uint8Array | null>>();
const ready = new Map<string, Uint8Array>();
const parts = new Map<string, Uint8Array>();

/** Compiles a text to machine code, or takes it from the cache. */
export function compileCuda(source: Source): Uint8Array {
  const key = keyOf(source);
  const known = parts.get(key) ?? ready.get(key) ?? readKernel(key);
  ready.delete(key);
  if (known) return known;
  const image = phase(`compiling ${source.name}`, () => {
    const job = new Job(source);
    return job.end(loadNvrtc().nvrtcCompileProgram(job.program, job.options.length, job.options));
  });
  writeKernel(key, image);
  keep(source, key, image);
  return image;
}

/** Whether compileCuda will find this compiled. */
export function isCompiled(source: Source): boolean {
  const key = keyOf(source);
  if (parts.has(key) || ready.has(key)) return true;
  const kept = phase(`reading ${source.name}`, () => readKernel(key));
  if (kept) keep(source, key, kept);
  return kept !== null;
}

function keep({ relocatable }: Source, key: string, image: Uint8Array): void {
  if (!relocatable) {
    ready.set(key, image);
    return;
  }
  parts.set(key, image);
  if (parts.size > MAX_PARTS) parts.delete(parts.keys().next().value!);
}

/** Compiles on another thread what compileCuda will need. Errors are left to compileCuda, which reports them. */
export async function compileAhead(source: Source): Promise<void> {
  const key = keyOf(source);
  if (isCompiled(source)) return;
  const known = ahead.get(key);
  const started = known ?? onThread(source).catch(() => null);
  ahead.set(key, started);
  const image = await started;
  if (known) return;
  ahead.delete(key);
  if (!image) return;
  writeKernel(key, image);
  keep(source, key, image);
}

async function onThread(source: Source): Promise<Uint8Array> {
  const job = new Job(source);
  const ends = phaseBegins(`compiling ${source.name}`);
  return new Promise((resolve, reject) => {
    const done = (error: unknown, status: number) => {
      ends();
      try {
        resolve(job.end(error ? -1 : status));
      } catch (e) {
        reject(e);
      }
    };
    loadNvrtc().nvrtcCompileProgram.async(job.program, job.options.length, job.options, done);
  });
}

const optionsFor = ({ architecture, relocatable, registers }: Source) => [
  `--gpu-architecture=${architecture}`,
  '--std=c++17',
  '--fmad=false',
  ...(relocatable ? ['--relocatable-device-code=true'] : []),
  ...(registers ? [`--maxrregcount=${registers}`] : []),
];

function keyOf(source: Source): string {
  const hash = createHash('sha256');
  for (const part of ['2', source.text, ...optionsFor(source), String(source.driver)])
    hash.update(`${part.length} ${part}`);
  return hash.digest('hex');
}

/** One compilation. */
class Job {
  readonly program: number | bigint;
  readonly options: string[];

  constructor(source: Source) {
    const nvrtc = loadNvrtc();
    const program = [null] as (bigint | number | null)[];
    if (nvrtc.nvrtcCreateProgram(program, source.text, 'integrand.cu', 0, null, null) !== 0)
      throw new CudaError('NVRTC could not start');
    this.program = program[0]!;
    const major = [0];
    nvrtc.nvrtcVersion(major, [0]);
    // NVRTC 13 can compile the functions of a text in parallel, and leave out what texts do not use, which saves 10 ms of its start
    // (_trial_); older versions do not know the options
    const more = major[0] >= 13 ? ['--split-compile=0', '--minimal'] : [];
    this.options = [...optionsFor(source), ...more];
  }

  /** Ends the compilation and returns its machine code; may be called once. */
  end(status: number): Uint8Array {
    const nvrtc = loadNvrtc();
    const size = [0] as number[];
    try {
      if (status !== 0) {
        nvrtc.nvrtcGetProgramLogSize(this.program, size);
        const log = Buffer.alloc(Number(size[0]));
        nvrtc.nvrtcGetProgramLog(this.program, log);
        const text = log.toString('utf8').replace(/\0.*$/s, '').trim();
        const old = /invalid value for .*gpu-architecture/.test(text)
          ? '; this NVRTC does not know the card: install a newer one'
          : '';
        throw new CudaError(`NVRTC could not compile the kernel${old}:\n${text}`, status);
      }
      nvrtc.nvrtcGetCUBINSize(this.program, size);
      const image = new Uint8Array(Number(size[0]));
      nvrtc.nvrtcGetCUBIN(this.program, image);
      return image;
    } finally {
      nvrtc.nvrtcDestroyProgram(BigUint64Array.of(BigInt(this.program)));
    }
  }
}
