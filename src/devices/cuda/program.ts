/**
 * An integrand on a card: its params, its buffers and its kernels. Kernels are text (kernels/*.cu), compiled by NVRTC at run
 * time for the card that is there, with the integrand linked to them or in their text (tiers.ts).
 */
import type { CompiledProgram } from '../../integrand/bound.ts';
import type { Program } from '../../integrand/ir.ts';
import { lower } from '../../integrand/lower/lower.ts';
import { provideMath } from '../../integrand/math/now.ts';
import { read } from '../../integrand/read.ts';
import { stopChecksOf } from '../../integrand/stop-checks.ts';
import { linkedTexts, type Shape } from '../../integrand/targets/cuda/linked.ts';
import { cudaParams, toCuda } from '../../integrand/targets/cuda.ts';
import { GOLDEN, PER_ITERATION } from '../../tasks/counted.ts';
import { PIECE } from '../../tasks/pieces.ts';
import { nodeWidth } from '../../tasks/sample.ts';
import type { Buffer, Card } from './card.ts';
import type { Kernels } from './module.ts';
import type { Unit } from './nvrtc.ts';
import type { Struct } from './struct.ts';
import {
  ALLOCATE,
  FOLD,
  FOUND,
  HEAVY,
  HEAVY_RESULT,
  IMAGES,
  LATTICE,
  LATTICE_TASK,
  POOL,
  REFINE,
  REGION_TASK,
  SAMPLE_RESULT,
  SAMPLE_TASK,
  SEVERAL_LATTICE_TASK,
  SEVERAL_TASK,
  WITNESS,
} from './structs.ts';
import { type Tier, TieredKernels, tierAsked, type Units, unitsNeeded } from './tiers.ts';

export type KernelName =
  | 'sample'
  | 'regions'
  | 'allocate'
  | 'refine'
  | 'heavy'
  | 'pool'
  | 'borders'
  | 'witness'
  | 'conclude';

/** Constants that stand as #define in front of a kernel's text. */
type Constants = Record<string, number | boolean>;

/** Constants of sample.cu that are the same for all tasks. */
export const SAMPLE_CONSTANTS: Constants = { PIECE, GOLDEN, PER_ITERATION };

/** Constants of sample.cu that do not matter when single points are evaluated. */
const POINT_CONSTANTS: Constants = {
  SHARED_EDGES: true,
  SHARED_HISTOGRAM: true,
  ...SAMPLE_CONSTANTS,
};

/** Constants of sample.cu that depend on the number of results: threads per block, at most, and numbers that a leaf adds. */
export function sampleConstants(results: number): Constants & { THREADS: number; SUMS: number } {
  // A multiprocessor has 65,536 registers, and sums and products of pairs of results want some. Two results in 64 registers spill a
  // few, and still take 0.9 of the time that they take in 96 (_trial_)
  const THREADS = results <= 2 ? 1024 : results <= 4 ? 384 : 256;
  const SUMS = nodeWidth(results) + 1; // those of the task, and the increments of the histogram
  return { THREADS, SUMS, ...(results > 1 && { RESULTS: results }) };
}

/** Bytes of shared memory in which the lanes of a block have vectors of more than four results; see several-leaf.cu. */
export const vectorBytes = (results: number): number =>
  results > 4 ? 16 * (2 * Math.ceil(results / 4) + 1) * sampleConstants(results).THREADS : 0;

/** All that a module is compiled from. */
export interface Recipe {
  kernel: KernelName;
  /** Dimensions of the integrand, where they matter. */
  dims?: number;
  constants: Constants;
  /** The function that stands in the integrand's place; empty for the integrand itself. */
  own: string;
  text: () => string;
}

/** Kernels with a function of their own in the integrand's place. */
export function around(kernel: KernelName, f: (x: number[]) => number, constants: Constants = {}): Recipe {
  const text = () => {
    provideMath(); // texts are made at once
    return toCuda(lower(read(f as never), 1, {})).source;
  };
  return { kernel, constants, own: String(f), text };
}

/** Constants as text: most objects of them are there for good, and an integral of a millisecond asks for a dozen names. */
const constantTexts = new WeakMap<Constants, string>();

function nameOf({ kernel, dims, constants, own }: Recipe): string {
  const text = constantTexts.get(constants) ?? JSON.stringify(constants);
  constantTexts.set(constants, text);
  return `${kernel} ${dims} ${text}${own}`;
}

/** The text that NVRTC compiles, with this function in the integrand's place. */
export function textFor({ kernel, dims, constants, text }: Recipe, integrand = text()): string {
  const all = dims === undefined ? constants : { DIMS: dims, ...constants };
  const defines = Object.entries(all).map(([name, value]) => `#define ${name} ${Number(value)}\n`);
  const kind = { several: constants.RESULTS !== undefined, lattice: !!constants.LATTICE };
  return `${defines.join('')}${integrand}\n${typesOf(kernel, kind)}${kernelText(kernel, kind)}`;
}

/** The units of a kernel with the integrand. */
export function unitsOf(recipe: Recipe, shape: Shape): Units {
  const name = recipe.kernel;
  const text = recipe.text();
  const kernel = textFor(recipe, linkedTexts(shape).declaration);
  return {
    inlined: { text: textFor(recipe, text), name: `${name} with the integrand` },
    linked: [
      { text: kernel, name: `${name} without the integrand`, relocatable: true },
      integrandUnit(text, shape),
    ],
  };
}

/** Registers per multiprocessor. */
const REGISTERS = 2 ** 16;

/**
 * The integrand alone. It may use no more registers per thread than the launch bounds of any kernel leave that it is linked to:
 * sample.cu has most threads, and regions.cu leaves 64, as 1024 threads do.
 */
export function integrandUnit(text: string, shape: Shape): Unit {
  const { definition } = linkedTexts(shape);
  const registers = Math.min(255, Math.floor(REGISTERS / sampleConstants(shape.results).THREADS / 8) * 8);
  return { text: `${text}${definition}`, name: 'the integrand', relocatable: true, registers };
}

/** Structs that a kernel reads; those that others point to or contain come first. */
const POOL_STRUCTS = [REGION_TASK, FOUND, POOL];
const STRUCTS: Record<KernelName, readonly Struct<string>[]> = {
  sample: [SAMPLE_RESULT, SAMPLE_TASK],
  allocate: [ALLOCATE, FOLD],
  refine: [REFINE],
  heavy: [HEAVY_RESULT, HEAVY],
  regions: POOL_STRUCTS,
  pool: POOL_STRUCTS,
  borders: [...POOL_STRUCTS, IMAGES],
  witness: [REGION_TASK, WITNESS],
  conclude: [REGION_TASK, WITNESS],
};

/** Which variant of sample.cu is meant. */
interface SampleKind {
  several: boolean;
  lattice: boolean;
}

/** The struct that sample.cu reads. */
export function sampleStruct({ several, lattice }: SampleKind): Struct<string> {
  if (lattice) return several ? SEVERAL_LATTICE_TASK : LATTICE_TASK;
  return several ? SEVERAL_TASK : SAMPLE_TASK;
}

function typesOf(kernel: KernelName, kind: SampleKind): string {
  const names = ['typedef unsigned int u32;\n', 'typedef unsigned long long u64;\n'];
  if ((kind.several || kind.lattice) && kernel === 'sample') {
    const own = sampleStruct(kind);
    const parts = [SAMPLE_RESULT, ...(kind.lattice ? [LATTICE] : []), own];
    return [...names, ...parts.map(s => s.text), `typedef ${own.name} SampleTask;\n`].join('');
  }
  return [...names, ...STRUCTS[kernel].map(s => s.text)].join('');
}

/** Texts that stand in front of kernels. */
const BEFORE: Partial<Record<KernelName, string[]>> = {
  regions: ['types'],
  pool: ['types', 'scan', 'add'],
  witness: ['philox', 'witness-counts'],
  conclude: ['philox', 'add', 'witness-counts'],
  borders: ['types', 'along'],
  sample: ['philox', 'pieces', 'sample-pieces', 'random-points', 'sample-leaf'],
  heavy: ['philox'],
  allocate: ['scan', 'pieces'],
  refine: ['scan'],
};

export class CudaProgram {
  readonly card: Card;
  readonly dims: number;
  /** How many results it has. */
  readonly results: number;
  readonly params: Buffer;
  /** Whether it has loops that may run long. */
  readonly mayTakeLong: boolean;
  readonly #text: string;
  readonly #digest: string;
  readonly #buffers = new Map<string, Buffer>();
  readonly #modules = new Map<string, Kernels>();
  /** What the card calls them. */
  readonly #inUse: string[] = [];
  /** The same by recipes that are kept: names take a good part of the time of a launch. */
  #known = new WeakMap<Recipe, Kernels>();
  /** The params that are on the card. */
  #bound: Float64Array = new Float64Array(0);

  constructor(card: Card, integrand: CompiledProgram) {
    this.card = card;
    this.dims = integrand.program.dims;
    this.results = integrand.program.results.length;
    this.#text = textOf(integrand.program);
    this.#digest = digestOf(integrand.program);
    this.params = this.buffer('params');
    this.mayTakeLong = stopChecksOf(integrand.program).checked.size > 0;
  }

  /** Writes the params to the card; has to be called before any kernel runs. */
  bind({ program, params }: CompiledProgram): void {
    const numbers = cudaParams(program, params, this.card.stopFlag);
    const isSame =
      numbers.length === this.#bound.length && numbers.every((n, i) => Object.is(n, this.#bound[i]));
    if (isSame) return; // writing takes 10 µs
    this.params.write(numbers);
    this.#bound = numbers;
  }

  /** Bytes of its buffers. */
  get bytes(): number {
    let bytes = 0;
    for (const buffer of this.#buffers.values()) bytes += buffer.size;
    return bytes;
  }

  /** Lets the card unload its kernels: they are looked for anew from now on. */
  releaseKernels(): void {
    this.#modules.clear();
    this.#known = new WeakMap();
    for (const name of this.#inUse.splice(0)) this.card.cache.release(name);
  }

  /** The buffer of this name, which is kept from task to task. */
  buffer(name: string): Buffer {
    const buffer = this.#buffers.get(name) ?? this.card.cache.take(name) ?? this.card.buffer();
    this.#buffers.set(name, buffer);
    return buffer;
  }

  buffers<N extends string>(...names: readonly N[]): Record<N, Buffer> {
    return Object.fromEntries(names.map(name => [name, this.buffer(name)])) as Record<N, Buffer>;
  }

  /** Kernels with the integrand. */
  withIntegrand(kernel: KernelName, constants: Constants): Recipe {
    return { kernel, dims: this.dims, constants, own: '', text: () => this.#text };
  }

  /** Kernels without the integrand: they are compiled once, whatever is integrated. */
  without(kernel: KernelName, constants: Constants): Recipe {
    return { kernel, dims: this.dims, constants, own: 'alone', text: () => '' };
  }

  module(recipe: Recipe): Kernels {
    const kernels = this.#known.get(recipe) ?? this.#named(recipe);
    this.#known.set(recipe, kernels);
    return kernels;
  }

  #named(recipe: Recipe): Kernels {
    const short = nameOf(recipe);
    const known = this.#modules.get(short);
    if (known) return known;
    const tier = tierAsked();
    const name = this.#longName(recipe, tier);
    const module = this.card.cache.module(name, () =>
      recipe.own
        ? this.card.module(alone(recipe))
        : new TieredKernels(this.card, unitsOf(recipe, this), tier),
    );
    this.#modules.set(short, module);
    this.#inUse.push(name);
    return module;
  }

  /** Compiles what is not loaded yet, in parallel. */
  async compileAhead(recipes: readonly Recipe[]): Promise<void> {
    const tier = tierAsked();
    const missing = recipes.filter(r => !this.card.cache.has(this.#longName(r, tier)));
    const units = missing.flatMap(r => (r.own ? alone(r) : unitsNeeded(this.card, unitsOf(r, this), tier)));
    await Promise.all(units.map(unit => this.card.compileAhead(unit)));
  }

  #longName(recipe: Recipe, tier: Tier): string {
    return `${nameOf(recipe)} ${recipe.own ? '' : `${tier} ${this.#digest}`}`;
  }

  /** The integrand's value at one point, computed by the card; of several results one that is not finite, if there is any. */
  async valueAt(point: number[]): Promise<number> {
    const points = this.buffer('points').write(Float64Array.from(point));
    const values = this.buffer('one value').reserve(8);
    const module = this.module(
      this.withIntegrand('sample', { ...POINT_CONSTANTS, ...sampleConstants(this.results) }),
    );
    const words = [points.address, values.address, 1, this.params.address];
    module.launch('evaluate', 1, 32, 0, ...words.map(w => BigUint64Array.of(BigInt(w))));
    await this.card.finished(undefined, 'evaluating a point');
    return values.read(new Float64Array(1))[0];
  }

  close(): void {
    for (const [name, buffer] of this.#buffers) this.card.cache.give(name, buffer);
    this.#buffers.clear();
    this.releaseKernels();
  }
}

const alone = (recipe: Recipe): Unit => ({ text: textFor(recipe), name: recipe.kernel });

const sources = new WeakMap<Program, string>();

/** The integrand as CUDA C++. */
export function textOf(program: Program): string {
  const text = sources.get(program) ?? toCuda(program).source;
  sources.set(program, text);
  return text;
}

const digests = new WeakMap<Program, string>();

/** A short name for that text. */
function digestOf(program: Program): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  const digest = digests.get(program) ?? createHash('sha256').update(textOf(program)).digest('base64');
  digests.set(program, digest);
  return digest;
}

const texts = new Map<string, string>();

function kernelText(kernel: KernelName, { several, lattice }: SampleKind): string {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const load = (name: string) => readFileSync(new URL(`./kernels/${name}.cu`, import.meta.url), 'utf8');
  const instead: Record<string, string> = {
    ...(several && { 'sample-leaf': 'several-leaf' }),
    ...(lattice && { 'random-points': 'lattice-points' }),
  };
  const behind = kernel === 'sample' && !lattice ? ['sample-adapting'] : [];
  const names = [...(BEFORE[kernel] ?? []), kernel, ...behind].map(name => instead[name] ?? name);
  const text = texts.get(names.join()) ?? names.map(load).join('');
  texts.set(names.join(), text);
  return text;
}
