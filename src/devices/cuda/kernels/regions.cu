// A cubature rule applied to regions, a warp each; the counterpart of devices/cpu/evaluator.ts.
//
// Lanes take the points of the rule in turn. The first 1 + 4·DIMS of them, the centre and two orbits with two points an
// axis, also go to shared memory, where their fourth differences tell which axis to split. Sums are added in one order.

typedef unsigned int u32;
typedef unsigned long long u64;

#define NEAR (1 + 4 * DIMS)
#define RULES (1 + NULLS)

struct RegionTask {
  double low[DIMS], high[DIMS];
  double mantissa;  // of the box's volume
  double ratio;     // of the two orbits' generators, squared
  double coefficients[3];
  int exponent;
  int graded;       // whether null rules are combined with these coefficients
  u32 points, count;
  const double* generators;  // `points` numbers an axis
  const double* weights;     // RULES numbers a point
  const double* pairs;       // candidates: scale, norm; PAIRS lists of CANDIDATES, filled up with zeros
  const double* centres;     // `count` numbers an axis
  const unsigned char* levels;
  const double* params;
  double* values;
  double* errors;
  unsigned char* axes;
  u64* wrong;  // how many values were not finite, and the first of them: region · points + point
};

__device__ __forceinline__ double scaled(double x, double mantissa, int n) {
  double y = x * mantissa;
  for (; n > 1000; n -= 1000) y *= 1.0715086071862673e301;
  for (; n < -1000; n += 1000) y *= 9.332636185032189e-302;
  return y * __longlong_as_double((long long)(n + 1023) << 52);
}

extern "C" __global__ void __launch_bounds__(128) regions(RegionTask t) {
  __shared__ double near[4][NEAR];
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const u32 region = blockIdx.x * 4 + warp;
  if (region >= t.count) return;
  double centre[DIMS], half[DIMS];
  int exponent = t.exponent;
#pragma unroll
  for (int d = 0; d < DIMS; d++) {
    const int level = t.levels[(u64)d * t.count + region];
    centre[d] = t.centres[(u64)d * t.count + region];
    half[d] = __dmul_rn((t.high[d] - t.low[d]) / 2, __longlong_as_double((long long)(1023 - level) << 52));
    exponent -= level;
  }
  double sums[RULES];
#pragma unroll
  for (int r = 0; r < RULES; r++) sums[r] = 0;
  for (u32 p = lane; p < t.points; p += 32) {
    double x[DIMS];
#pragma unroll
    for (int d = 0; d < DIMS; d++) {
      const double at = __dadd_rn(centre[d], __dmul_rn(half[d], t.generators[(u64)d * t.points + p]));
      x[d] = fmax(fmin(at, t.high[d]), t.low[d]);
    }
    double value = integrand(x, t.params);
    if (!(fabs(value) <= 1.7976931348623157e308)) {
      atomicAdd(t.wrong, 1ull);
      atomicMin(t.wrong + 1, (u64)region * t.points + p);
      value = 0;
    }
    if (p < NEAR) near[warp][p] = value;
#pragma unroll
    for (int r = 0; r < RULES; r++) sums[r] += t.weights[p * RULES + r] * value;
  }
#pragma unroll
  for (int r = 0; r < RULES; r++)
    for (int step = 16; step > 0; step /= 2) sums[r] += __shfl_down_sync(0xffffffffu, sums[r], step);
  __syncwarp();
  if (lane != 0) return;
  double error = fabs(sums[1]);
  if (t.graded) {
    double most[3] = {0, 0, 0};
#pragma unroll
    for (int r = 0; r < PAIRS; r++)
      for (int j = 0; j < CANDIDATES; j++) {
        const double* pair = t.pairs + 2 * (r * CANDIDATES + j);
        most[r] = fmax(most[r], fabs(sums[r + 2] + pair[0] * sums[r + 1]) * pair[1]);
      }
    const double* c = t.coefficients;
    error = c[0] * most[0] <= most[1] && c[0] * most[1] <= most[2]
                ? c[1] * most[0]
                : c[2] * fmax(fmax(most[0], most[1]), most[2]);
  }
  t.values[region] = scaled(sums[0], t.mantissa, exponent);
  t.errors[region] = scaled(error, t.mantissa, exponent);
  const double f0 = near[warp][0], base = 2 * f0 * (1 - t.ratio);
  int axis = 0;
  double strongest = -1, widest = 0;
#pragma unroll
  for (int d = 0; d < DIMS; d++) {
    const double* f = near[warp] + 1 + 2 * d;
    const double inner = f[0] + f[1], outer = f[2 * DIMS] + f[2 * DIMS + 1];
    double bend = fabs(base + t.ratio * inner - outer);
    if (bend <= 1e-14 * (fabs(inner) + fabs(outer) + fabs(f0))) bend = 0;
    if (centre[d] + half[d] / 8 == centre[d]) continue;
    const double width = half[d] / (t.high[d] - t.low[d]);
    if (bend > strongest || (bend == strongest && width > widest)) {
      axis = d;
      strongest = bend;
      widest = width;
    }
  }
  t.axes[region] = axis;
}
