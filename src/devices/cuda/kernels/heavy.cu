// Of cubes with two samples each, those with a large value where a map is wide; see tasks/heavy.ts, whose numbers these are to the bit,
// but for the sum of all means, which is added as a tree. One thread per cube, any number of dimensions.
//
// Cubes that matter are listed in the order in which they are found; the host sorts the few that there are.

__device__ __forceinline__ double widthAt(const double* edges, u32 bins, double x) {
  u32 low = 0, high = bins;
  while (high - low > 1) {
    const u32 middle = (low + high) / 2;
    if (edges[middle] <= x) low = middle;
    else high = middle;
  }
  return __dsub_rn(edges[high], edges[low]);
}

// The Jacobian of the map at a sample of a cube.
__device__ double jacobianAt(const Heavy& t, u32 cube, u32 sample) {
  double jacobian = 1;
  u32 rest = cube, c[4];
  for (u32 d = 0; d < t.dims; d++) {
    if (d % 4 == 0) {
      c[0] = sample, c[1] = d / 4, c[2] = t.iteration, c[3] = t.stream;
      philox(c, t.keys);
    }
    const u32 strata = (u32)t.axes[3 * d], k = rest % strata;
    rest /= strata;
    const u32 word = d % 4 == 0 ? c[0] : d % 4 == 1 ? c[1] : d % 4 == 2 ? c[2] : c[3];
    const double u = __dmul_rn(__dadd_rn((double)word, 0.5), 0x1p-32);
    const double part = __ddiv_rn(__dadd_rn((double)k, u), t.axes[3 * d]);
    const double x = __dadd_rn(t.axes[3 * d + 1], __dmul_rn(part, t.axes[3 * d + 2]));
    jacobian = __dmul_rn(jacobian, __dmul_rn((double)t.bins, widthAt(t.edges + d * (t.bins + 1), t.bins, x)));
  }
  return jacobian;
}

extern "C" __global__ void __launch_bounds__(WIDTH) heavy(Heavy t) {
  __shared__ double sums[WIDTH / 32];
  __shared__ bool last;
  const u32 lane = threadIdx.x % 32;
  double sum = 0;
  for (u32 cube = blockIdx.x * WIDTH + threadIdx.x; cube < t.cubes; cube += gridDim.x * WIDTH) {
    const double mean = fabs(t.means[cube]);
    sum += mean;
    const double weight = __dmul_rn(t.unit, __dadd_rn(mean, __dsqrt_rn(t.variances[cube] / 2)));
    if (!(weight > t.least)) continue;
    const double enough = __ddiv_rn(t.far, weight);
    double smaller = jacobianAt(t, cube, 2 * cube);
    if (smaller > enough) smaller = fmin(smaller, jacobianAt(t, cube, 2 * cube + 1));
    if (!(smaller > enough)) continue;
    const u32 at = atomicAdd(&t.result->count, 1u);
    t.list[at] = cube;
    t.weights[at] = weight;
    t.jacobians[at] = smaller;
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (lane == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (u32 w = 1; w < WIDTH / 32; w++) sum += sums[w];
    t.sums[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(&t.result->blocks, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x > 0) return;
  __threadfence();
  double all = 0;
  for (u32 b = 0; b < gridDim.x; b++) all += __ldcg(t.sums + b);
  t.result->sum = all;
}
