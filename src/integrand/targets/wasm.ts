/**
 * The vector target: turns a program into a WebAssembly module with SIMD (two float64 lanes) that evaluates whole
 * batches of points. Functions of the math library that the program calls become functions of the module.
 */

import { encodeModule, FunctionWriter } from '../../wasm/assembler.ts';
import { IntegrandError } from '../diagnostics.ts';
import { inlineCalls } from '../inline.ts';
import type { Program } from '../ir.ts';
import { walk } from '../ir.ts';
import { lowerLibrary } from '../lower/lower.ts';
import type { Bindings } from '../params.ts';
import type { Evaluate } from './javascript.ts';
import { Emitter } from './wasm/emitter.ts';
import { type DataSegment, Layout } from './wasm/layout.ts';

/** Points per batch: 8 coordinates of 256 points are 16 KB, half of a first-level cache of 32 KB. */
export const BATCH = 256;

export interface WasmModule {
  bytes: Uint8Array<ArrayBuffer>;
  layout: Layout;
}

/**
 * A module that imports `env.memory` and exports `evaluate(n)`: it reads n points at `layout.points` (one row of
 * `batch` numbers per coordinate) and writes n values of each result at `layout.values` (one row of `batch` numbers per result),
 * with n rounded up to even. `shared` places both; there must be room for all rows.
 */
export function toWasm(
  source: Program,
  batch = BATCH,
  base = 0,
  shared?: { points: number; values: number },
): WasmModule {
  const program = inlineCalls(source, lowerLibrary);
  const layout = new Layout(program, batch, base, shared);
  const called = libraryCalls(program);
  const functions = called.map(name => libraryFunction(name, layout, fn => called.indexOf(fn)));
  functions.push(batchFunction(program, layout, fn => called.indexOf(fn)));
  const bytes = encodeModule(functions, { evaluate: functions.length - 1 });
  if (functions.some(f => f.localCount > MAX_LOCALS) || bytes.length > MAX_BYTES) {
    throw new IntegrandError(
      'The integrand is too large for WebAssembly: an engine takes a function of 50,000 values and 7 MB of code at most.',
      w => `Write repetition as loops, or run the function as it is with ${w.setting('device', 'js')}.`,
    );
  }
  return { bytes, layout };
}

/** What engines take of one function, by the JavaScript interface of WebAssembly; params and a few more count as locals. */
const MAX_LOCALS = 49_900;
const MAX_BYTES = 7_654_321;

/** Every library function that the program calls, directly or through other library functions. */
function libraryCalls(program: Program): string[] {
  const names = new Set<string>();
  const visit = (p: Program) =>
    walk(p.body, s => {
      if (s.kind !== 'let' || s.op !== 'call' || names.has(s.fn)) return;
      names.add(s.fn);
      visit(lowerLibrary(s.fn));
    });
  visit(program);
  return [...names];
}

function libraryFunction(name: string, layout: Layout, callee: (fn: string) => number): FunctionWriter {
  const program = lowerLibrary(name);
  const writer = new FunctionWriter(Array(program.dims).fill('v128'), 'v128');
  const prefix = `${name}#`;
  layout.addConstants(program, prefix);
  const emitter = new Emitter(program, { writer, layout, prefix, callee, coordinate: i => writer.get(i) });
  emitter.invariants();
  emitter.body();
  emitter.result(program.results[0]);
  return writer;
}

function batchFunction(program: Program, layout: Layout, callee: (fn: string) => number): FunctionWriter {
  const writer = new FunctionWriter(['i32'], null);
  const [n, offset] = [0, writer.local('i32')];
  const emitter = new Emitter(program, {
    writer,
    layout,
    prefix: '',
    callee,
    offset,
    coordinate: i => writer.get(offset).memory('v128.load', layout.points + i * layout.batch * 8),
  });
  emitter.invariants();
  writer.get(n).i32(3).op('i32.shl').set(n); // from here on `n` is the end in bytes
  const top = writer.open('loop');
  writer.get(offset);
  emitter.body();
  program.results.forEach((result, r) => {
    if (r > 0) writer.get(offset);
    emitter.result(result);
    writer.memory('v128.store', layout.values + r * layout.batch * 8);
  });
  writer.get(offset).i32(16).op('i32.add').tee(offset).get(n).op('i32.lt_u').brIf(top);
  writer.close();
  return writer;
}

/** A compiled integrand with its memory: fill `rows`, call `run(n)`, read `values`, one row per result. */
export interface WasmInstance {
  batch: number;
  /** One row per coordinate. */
  rows: Float64Array[];
  values: Float64Array[];
  /** Evaluates the first n points. n is rounded up to even, so for odd n index n of each row must be a valid point. */
  run(n: number): void;
  /** Writes params into the memory. */
  bind(params: Bindings): void;
}

export function instantiate(program: Program, size = BATCH): WasmInstance {
  const { bytes, layout } = toWasm(program, size);
  const memory = new WebAssembly.Memory({ initial: Math.ceil(layout.end / 65536) });
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  const write = (segments: readonly DataSegment[]) => {
    for (const { address, data } of segments) new Float64Array(memory.buffer, address, data.length).set(data);
  };
  write(layout.initial());
  const { batch } = layout;
  const row = (address: number) => new Float64Array(memory.buffer, address, batch);
  return {
    batch,
    rows: Array.from({ length: program.dims }, (_, d) => row(layout.points + d * batch * 8)),
    values: program.results.map((_, r) => row(layout.values + r * batch * 8)),
    run: instance.exports.evaluate as (n: number) => void,
    bind: params => write(layout.params(params)),
  };
}

/** A compiled integrand whose params can be changed: with `bind` they are given, before the first evaluation too. */
export function bindableTarget(program: Program): { bind(params: Bindings): void; evaluate: Evaluate } {
  const { batch, rows, values, run, bind } = instantiate(program);
  const evaluate: Evaluate = (points, out) => {
    const total = out.length / values.length;
    for (let start = 0; start < total; start += batch) {
      const n = Math.min(batch, total - start);
      rows.forEach((row, d) => {
        row.set(points.subarray(d * total + start, d * total + start + n));
        if (n % 2) row[n] = row[n - 1]; // the second lane of the last vector repeats the last point
      });
      run(n);
      values.forEach((row, r) => {
        out.set(row.subarray(0, n), r * total + start);
      });
    }
  };
  return { bind, evaluate };
}

export function wasmTarget(program: Program, params: Bindings): Evaluate {
  const { bind, evaluate } = bindableTarget(program);
  bind(params);
  return evaluate;
}
