/** An integrand on a GPU: its text, its params there, and how fast it is. What it needs of the GPU is freed with `close`. */
import type { CompiledProgram } from '../../integrand/bound.ts';
import type { Program } from '../../integrand/ir.ts';
import { toWgsl, wgslParams } from '../../integrand/targets/wgsl.ts';
import type { Gpu } from './gpu.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import { Pace } from './pace.ts';

/** Texts of integrands, which are opened again and again by short runs: writing one takes a tenth of a millisecond and more. */
const texts = new WeakMap<Program, string>();

function textOf(program: Program): string {
  const text = texts.get(program) ?? toWgsl(program).source;
  texts.set(program, text);
  return text;
}

/** Loops in WGSL. */
const LOOPS = /\b(loop|while|for)\b/;

export class WebGpuProgram {
  readonly gpu: Gpu;
  readonly dims: number;
  readonly results: number;
  /** WGSL that defines `integrand`. */
  readonly text: string;
  /** Whether it has loops: then a point may take long. */
  readonly loops: boolean;
  /** How fast it is. With loops that may depend on params, and what the last run found does not count. */
  readonly pace: Pace;
  readonly #buffers: GrowingBuffer[] = [];
  readonly #params: GrowingBuffer;
  #bound: CompiledProgram;
  /** Whether the present params are on the GPU. */
  #written = false;

  constructor(gpu: Gpu, integrand: CompiledProgram) {
    this.gpu = gpu;
    this.dims = integrand.dims;
    this.results = integrand.program.results.length;
    this.text = textOf(integrand.program);
    this.loops = LOOPS.test(this.text.slice(this.text.indexOf('fn integrand(')));
    this.pace = this.loops ? new Pace() : gpu.pace(this.text);
    this.#bound = integrand;
    this.#params = this.buffer('storage');
  }

  bind(integrand: CompiledProgram): void {
    this.#bound = integrand;
    this.#written = false;
  }

  /** The buffer of params, with the present ones. */
  params(): GPUBuffer {
    const numbers = this.#written ? null : wgslParams(this.#bound.program, this.#bound.params);
    this.#written = true;
    return numbers ? this.#params.write(numbers) : this.#params.of(4);
  }

  /** A buffer that is destroyed with the program. */
  buffer(usage: 'storage' | 'uniform'): GrowingBuffer {
    const buffer = new GrowingBuffer(this.gpu, usage, this.#buffers.length);
    this.#buffers.push(buffer);
    return buffer;
  }

  close(): void {
    for (const buffer of this.#buffers) buffer.giveBack();
  }
}
