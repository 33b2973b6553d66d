// Evaluates WGSL integrands on the first WebGPU adapter: node evaluate.mjs IN OUT, with the jobs and outcomes of evaluate.ts.
import { readFileSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { create, globals } from 'webgpu';

Object.assign(globalThis, globals);

/** Threads per workgroup. */
const SIZE = 64;
/** Points per dispatch: a binding of 128 MB has as many points of 8 dimensions, and no dispatch is long. */
const CHUNK = 2 ** 20;

const [, , from, to] = process.argv;
const gpu = create([]); // held to the end: the process aborts when it is collected before its device
const adapter = await gpu.requestAdapter();
const device = await adapter.requestDevice();
const outcomes = [];
for (const job of deserialize(readFileSync(from))) outcomes.push(await outcome(job));
writeFileSync(to, serialize(outcomes));
device.destroy();
process.exit(gpu ? 0 : 1); // Dawn keeps the process alive

async function outcome(job) {
  const { source, dims, results, params, points } = job;
  const several = results > 1;
  const call = several ? 'integrand(&x, &y);' : 'y[0] = integrand(&x);';
  const code = `@group(0) @binding(0) var<storage, read> params: array<f32>;
@group(0) @binding(1) var<storage, read> points: array<f32>;
@group(0) @binding(2) var<storage, read_write> values: array<f32>;
${source}
@compute @workgroup_size(${SIZE}) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x * ${dims}u >= arrayLength(&points)) { return; }
  var x: array<f32, ${dims}>;
  var y: array<f32, ${results}>;
  for (var k = 0u; k < ${dims}u; k++) { x[k] = points[id.x * ${dims}u + k]; }
  ${call}
  for (var k = 0u; k < ${results}u; k++) { values[id.x * ${results + 1}u + k] = y[k]; }
  values[id.x * ${results + 1}u + ${results}u] = f32(q_overruns);
}`;
  const began = performance.now();
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ code });
  let pipeline;
  try {
    pipeline = await device.createComputePipelineAsync({
      layout: 'auto',
      compute: { module, entryPoint: 'main' },
    });
  } catch (e) {
    await device.popErrorScope();
    const { messages } = await module.getCompilationInfo();
    return { error: [e.message, ...messages.map(m => `${m.lineNum}: ${m.message}`), code].join('\n') };
  }
  const error = await device.popErrorScope();
  if (error) return { error: `${error.message}\n${code}` };
  const compile = performance.now() - began;
  const n = points.length / dims;
  const values = new Float32Array(n * results);
  const overruns = new Float32Array(n);
  const start = performance.now();
  for (let first = 0; first < n; first += CHUNK) {
    const part = points.subarray(first * dims, Math.min(n, first + CHUNK) * dims);
    const got = await run(pipeline, params, part, dims, results);
    const count = part.length / dims;
    for (let i = 0; i < count; i++) {
      for (let r = 0; r < results; r++) values[(first + i) * results + r] = got[i * (results + 1) + r];
      overruns[first + i] = got[i * (results + 1) + results];
    }
  }
  return { values, overruns, compile, run: performance.now() - start };
}

/** The values of the points, each followed by its overruns. */
async function run(pipeline, params, points, dims, results) {
  const count = points.length / dims;
  const size = count * (results + 1) * 4;
  const input = data => {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST;
    const buffer = device.createBuffer({ size: data.byteLength, usage });
    device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  };
  const output = device.createBuffer({ size, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
  const copy = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const buffers = [input(params), input(points), output];
  const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
  pass.dispatchWorkgroups(Math.ceil(count / SIZE));
  pass.end();
  encoder.copyBufferToBuffer(output, 0, copy, 0, size);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(GPUMapMode.READ);
  const got = new Float32Array(copy.getMappedRange().slice(0));
  for (const buffer of [...buffers, copy]) buffer.destroy();
  return got;
}
