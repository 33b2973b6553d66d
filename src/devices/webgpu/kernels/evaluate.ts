/** The kernel that evaluates an integrand at given points, one per thread. */

export const EVALUATE_THREADS = 64;
/** The number of points, all first coordinates, all second ones; and values likewise, by result. */
export function evaluateKernel(integrand: string, dims: number, results: number): string {
  return /* wgsl */ `
@group(0) @binding(0) var<storage, read> params: array<f32>;
@group(0) @binding(1) var<uniform> size: vec4<u32>;
@group(0) @binding(2) var<storage, read> points: array<f32>;
@group(0) @binding(3) var<storage, read_write> found: array<f32>;

${integrand}

@compute @workgroup_size(${EVALUATE_THREADS})
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
  let n = size.x;
  let i = thread.x;
  if (i >= n) { return; }
  var x: array<f32, ${dims}>;
  for (var d = 0u; d < ${dims}u; d++) { x[d] = points[d * n + i]; }
  ${
    results > 1
      ? `var values: array<f32, ${results}>;
  integrand(&x, &values);
  for (var r = 0u; r < ${results}u; r++) { found[r * n + i] = values[r]; }`
      : 'found[i] = integrand(&x);'
  }
}
`;
}
