// The look of a few regions along all axes; see tasks/pool/all-axes.ts. The first p.n regions of the pool's list look: their halves
// along every axis are evaluated as a list of their own, two for each axis, left before right.

extern "C" __global__ void halvesAlong(Pool p, Images halves) {
  const u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= halves.count) return;
  const u64 own = p.list[k / (2 * DIMS)];
  const u32 axis = (u32)(k / 2 % DIMS);
#pragma unroll 2
  for (u32 d = 0; d < DIMS; d++) {
    const u32 level = p.t.levels[DIMS * own + d] + (d == axis);
    const double half = (p.t.high[d] - p.t.low[d]) / 2 * ldexp(1.0, -(int)level);
    halves.centres[d * halves.count + k] = p.t.centres[DIMS * own + d] + (d != axis ? 0 : k % 2 ? half : -half);
    halves.levels[d * halves.count + k] = level;
  }
}

// The error of a region becomes what left and right differ by from the whole, over all axes, if that is more and all halves are
// regions of their own. Then it is halved along the axis with the largest difference.
extern "C" __global__ void raiseAlong(Pool p, Images halves) {
  const u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= p.n) return;
  const u64 own = p.list[k];
  const double* values = halves.values + 2 * DIMS * k;
  double sum = 0, most = 0;
  u32 best = 0;
  bool whole = true;
#pragma unroll 2
  for (u32 d = 0; d < DIMS; d++) {
    const double off = fabs(values[2 * d] + values[2 * d + 1] - p.t.values[own]);
    sum += off;
    if (off > most) most = off, best = d;
    whole &= canHalve(p.t, own, d);
  }
  if (!(whole && sum > p.t.errors[own])) return;
  p.t.errors[own] = sum;
  p.t.axes[own] = (unsigned char)best;
}

