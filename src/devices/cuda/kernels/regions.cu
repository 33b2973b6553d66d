// A cubature rule applied to regions, a warp each or for two halves of one; the counterpart of devices/cpu/evaluator.ts.
//
// Lanes take the points of the rule in turn. Points and weights come from memory, which is what limits the rate: halves of
// a region have the same widths, so they share them. The first 1 + 4·DIMS points, the centre and two orbits with two
// points an axis, also go to shared memory, where their fourth differences tell which axis to split. Sums are added in
// one order.

#define NEAR (1 + 4 * DIMS)
#define RULES (1 + NULLS)
// of one warp; more dimensions need their registers for one region
#define TOGETHER (DIMS <= 12 ? 2 : 1)

__device__ __forceinline__ double scaled(double x, double mantissa, int n) {
  double y = x * mantissa;
  for (; n > 1000; n -= 1000) y *= 1.0715086071862673e301;
  for (; n < -1000; n += 1000) y *= 9.332636185032189e-302;
  return y * __longlong_as_double((long long)(n + 1023) << 52);
}

// The largest of a warp, in all lanes.
__device__ __forceinline__ double largest(double x) {
  for (int step = 16; step > 0; step /= 2) x = fmax(x, __shfl_xor_sync(0xffffffffu, x, step));
  return x;
}

// What the sums over points of one region come to. By all lanes: one alone would take longer than the points of a small rule.
__device__ __forceinline__ void conclude(const RegionTask& t, u64 slot, int exponent, const double* sums,
                                         const double* near, const double* centre, const double* half) {
  const u32 lane = threadIdx.x % 32;
  double error = fabs(sums[1]);
  if (t.graded) {
    double most[3] = {0, 0, 0};
#pragma unroll
    for (int r = 0; r < PAIRS; r++) {
      for (int j = lane; j < CANDIDATES; j += 32) {
        const double* pair = t.pairs + 2 * (r * CANDIDATES + j);
        most[r] = fmax(most[r], fabs(sums[r + 2] + pair[0] * sums[r + 1]) * pair[1]);
      }
      most[r] = largest(most[r]);
    }
    const double* c = t.coefficients;
    error = c[0] * most[0] <= most[1] && c[0] * most[1] <= most[2]
                ? c[1] * most[0]
                : c[2] * fmax(fmax(most[0], most[1]), most[2]);
  }
  // the axis with the strongest fourth difference; of equal ones the widest, of these the first
  double bend = -1, width = 0;
#pragma unroll
  for (int d = 0; d < DIMS; d++) {
    if (d % 32 != lane || centre[d] + half[d] / 8 == centre[d]) continue;
    const double* f = near + 1 + 2 * d;
    const double inner = f[0] + f[1], outer = f[2 * DIMS] + f[2 * DIMS + 1];
    bend = fabs(2 * near[0] * (1 - t.ratio) + t.ratio * inner - outer);
    if (bend <= 1e-14 * (fabs(inner) + fabs(outer) + fabs(near[0]))) bend = 0;
    width = half[d] / (t.high[d] - t.low[d]);
  }
  // all lanes have to get to each of these
  const double strongest = largest(bend);
  if (!(bend >= 0 && bend == strongest)) width = -1;
  const double widest = largest(width);
  const u32 first = __ffs(__ballot_sync(0xffffffffu, width >= 0 && width == widest));
  if (lane != 0) return;
  t.values[slot] = scaled(sums[0], t.mantissa, exponent);
  t.errors[slot] = scaled(error, t.mantissa, exponent);
  t.axes[slot] = first ? first - 1 : 0;
}

// Regions of equal widths by one warp: at `slots` of lists that have `stride` numbers an axis, counted from `number` on.
template <int COUNT>
__device__ __forceinline__ void evaluate(const RegionTask& t, u64 stride, const u64* slots, u64 number,
                                         double (*near)[NEAR]) {
  const u32 lane = threadIdx.x % 32;
  double centre[COUNT][DIMS], half[DIMS];
  int exponent = t.exponent;
  bool border = false;
#pragma unroll
  for (int d = 0; d < DIMS; d++) {
    const int level = t.levels[d * stride + slots[0]];
    half[d] = __dmul_rn((t.high[d] - t.low[d]) / 2, __longlong_as_double((long long)(1023 - level) << 52));
    exponent -= level;
#pragma unroll
    for (int c = 0; c < COUNT; c++) {
      centre[c][d] = t.centres[d * stride + slots[c]];
      border |= fmin(centre[c][d] - t.low[d], t.high[d] - centre[c][d]) < 1.5 * half[d];
    }
  }
  double sums[COUNT][RULES];
#pragma unroll
  for (int c = 0; c < COUNT; c++)
#pragma unroll
    for (int r = 0; r < RULES; r++) sums[c][r] = 0;
  u32 turns = 1;  // 0: the integrand has just asked whether it is to stop
  bool leaving = false;
  for (u32 p = lane; p < t.points && !leaving; p += 32) {
    double offset[DIMS];
#pragma unroll
    for (int d = 0; d < DIMS; d++) offset[d] = __dmul_rn(half[d], t.generators[(u64)d * t.points + p]);
#pragma unroll
    for (int c = 0; c < COUNT; c++) {
      double x[DIMS];
#pragma unroll
      for (int d = 0; d < DIMS; d++) x[d] = __dadd_rn(centre[c][d], offset[d]);
      // rounding must not lead out of the domain
      if (border) {
#pragma unroll
        for (int d = 0; d < DIMS; d++) x[d] = fmax(fmin(x[d], t.high[d]), t.low[d]);
      }
      double value = integrand(x, t.params, turns);
      if (!(fabs(value) <= 1.7976931348623157e308)) {
        atomicAdd(t.wrong, 1ull);
        atomicMin(t.wrong + 1, (number + c) * t.points + p);
        value = 0;
        leaving |= turns == 0 && stopped(t.params);
      }
      if (p < NEAR) near[c][p] = value;
#pragma unroll
      for (int r = 0; r < RULES; r++) sums[c][r] = fma(t.weights[(u64)r * t.points + p], value, sums[c][r]);
    }
  }
#pragma unroll
  for (int c = 0; c < COUNT; c++)
#pragma unroll
    for (int r = 0; r < RULES; r++)
      for (int step = 16; step > 0; step /= 2) sums[c][r] += __shfl_xor_sync(0xffffffffu, sums[c][r], step);
  __syncwarp();
#pragma unroll
  for (int c = 0; c < COUNT; c++) conclude(t, slots[c], exponent, sums[c], near[c], centre[c], half);
}

extern "C" __global__ void __launch_bounds__(128) regions(RegionTask t) {
  __shared__ double near[4][1][NEAR];
  const u32 warp = threadIdx.x / 32;
  const u64 region = (u64)blockIdx.x * 4 + warp;
  if (region < t.count) evaluate<1>(t, t.count, &region, region, near[warp]);
}

// Both halves of each region of the pool's list; see pool.cu.
extern "C" __global__ void __launch_bounds__(128, 4) evaluateHalves(Pool p) {
  __shared__ double near[4][TOGETHER][NEAR];
  const u32 warp = threadIdx.x / 32;
  const u64 i = ((u64)blockIdx.x * 4 + warp) * TOGETHER;
  if (i >= 2 * p.n) return;
  const u64 both[2] = {p.list[i / 2], p.count + i / 2};
  evaluate<TOGETHER>(p.t, p.stride, both + i % 2, i, near[warp]);
}

// All of them, at the start.
extern "C" __global__ void __launch_bounds__(128) evaluateAll(Pool p) {
  __shared__ double near[4][1][NEAR];
  const u32 warp = threadIdx.x / 32;
  const u64 i = (u64)blockIdx.x * 4 + warp;
  if (i < p.count) evaluate<1>(p.t, p.stride, &i, i, near[warp]);
}
