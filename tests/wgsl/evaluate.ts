/** Values of programs in WGSL, on SwiftShader. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deserialize, serialize } from 'node:v8';
import type { Program } from '../../src/integrand/ir.ts';
import type { Bindings } from '../../src/integrand/params.ts';
import { toWgsl, wgslParams } from '../../src/integrand/targets/wgsl.ts';
import { runOnSwiftShader } from '../webgpu/swiftshader.ts';

export interface Job {
  source: string;
  dims: number;
  results: number;
  params: Float32Array;
  /** Points one after the other. */
  points: Float32Array;
}

export interface Outcome {
  /** Of the text that WGSL does not accept, with the text. */
  error?: string;
  /** Results of the first point, then of the second, and so on. */
  values: Float32Array;
  /** For each point 1 if it took too many turns. */
  overruns: Float32Array;
  /** Milliseconds. */
  compile: number;
  run: number;
}

export function jobOf(program: Program, bindings: Bindings, points: Float32Array): Job {
  const { source } = toWgsl(program);
  const params = wgslParams(program, bindings);
  return { source, dims: program.dims, results: program.results.length, params, points };
}

export async function evaluate(jobs: readonly Job[]): Promise<Outcome[]> {
  const folder = mkdtempSync(join(tmpdir(), 'quadrille-wgsl-'));
  try {
    const [from, to] = [join(folder, 'jobs'), join(folder, 'outcomes')];
    writeFileSync(from, serialize(jobs));
    await runOnSwiftShader(fileURLToPath(new URL('evaluate.mjs', import.meta.url)), [from, to]);
    return deserialize(readFileSync(to)) as Outcome[];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
