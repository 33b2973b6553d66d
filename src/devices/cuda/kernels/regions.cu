// A cubature rule applied to regions, two regions per warp; the counterpart of devices/cpu/evaluator.ts.
//
// The coordinates of all points of a rule take few values, 11 per axis in most rules. So their places in a region are
// computed once, into shared memory, and a point is stored as one byte per axis, the index of the value. Lanes take the
// points in turn; both regions of a warp use the same bytes. Points that share their weights follow each other, so most
// rows of 32 points have the weights of the row before: values are added over such a run, and multiplied by the weights at
// its end. Values are multiplied by SHRINK for that, and weights by 1/SHRINK, so that no sum overflows where the integral
// does not. The values at the first 1 + 4·DIMS points, the centre and two orbits with two points per axis, also go to
// shared memory, where their fourth differences tell which axis to split. Sums are added in one order.

#define NEAR (1 + 4 * DIMS)
#define RULES (1 + NULLS)
#define WORDS ((DIMS + 3) / 4)
#define SIDE 16  // lanes that compute the result of one of a warp's two regions
// blocks per multiprocessor: 8 are 32 warps, with 64 registers per thread; more dimensions need more registers
#define BLOCKS (DIMS <= 12 ? 8 : 6)

struct Desk {  // the shared memory of a warp; lists of both regions, the second after the first
  double centre[2 * DIMS], half[2 * DIMS];
  double places[2 * DIMS * VALUES];
  double near[2][NEAR];
  double sums[2][RULES];
  int level[2 * DIMS], exponent[2];  // halvings per axis; the exponent of the volume
};
__shared__ Desk desks[WARPS];

// The address of a warp's desk. The shuffle keeps the compiler from computing the address again at every point.
__device__ __forceinline__ Desk* seat(u32 warp) {
  const size_t at = __shfl_sync(0xffffffffu, __cvta_generic_to_shared(desks + warp), 0);
  return (Desk*)__cvta_shared_to_generic(at);
}

__device__ __forceinline__ double scaled(double x, double mantissa, int n) {
  double y = x * mantissa;
#pragma unroll 1
  for (; n > 1000; n -= 1000) y *= 1.0715086071862673e301;
#pragma unroll 1
  for (; n < -1000; n += 1000) y *= 9.332636185032189e-302;
  return y * __longlong_as_double((long long)(n + 1023) << 52);
}

// The largest number of a side, in all its lanes; none may be NaN.
__device__ __forceinline__ double largest(double x) {
  for (int step = SIDE / 2; step > 0; step /= 2) {
    const double other = __shfl_xor_sync(0xffffffffu, x, step);
    x = other > x ? other : x;
  }
  return x;
}

// Computes value, error and axis of one region from the sums over points. All lanes of a side share this: one lane alone
// would take longer than all points of a small rule.
__device__ __forceinline__ void conclude(const RegionTask& t, u64 slot, bool there, const Desk& desk,
                                         const double* sums, const double* near) {
  const u32 lane = threadIdx.x % SIDE, side = threadIdx.x / SIDE % 2;
  double error = fabs(sums[1]);
  if (t.graded) {
    double most[3] = {0, 0, 0};
#pragma unroll
    for (int r = 0; r < PAIRS; r++) {
      for (int j = lane; j < CANDIDATES; j += SIDE) {
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
  // the axis with the largest fourth difference; of equal ones the widest, of these the first
  double most = -1;
  int best = 1 << 16;  // its level and number
  for (int d = lane; d < DIMS; d += SIDE) {
    const double centre = desk.centre[side * DIMS + d], half = desk.half[side * DIMS + d];
    if (centre + half / 8 == centre) continue;
    const double* f = near + 1 + 2 * d;
    const double inner = f[0] + f[1], outer = f[2 * DIMS] + f[2 * DIMS + 1];
    double bend = fabs(2 * near[0] * (1 - t.ratio) + t.ratio * inner - outer);
    if (bend <= 1e-14 * (fabs(inner) + fabs(outer) + fabs(near[0]))) bend = 0;
    const int own = desk.level[side * DIMS + d] << 8 | d;
    if (!(bend > most || (bend == most && own < best))) continue;
    most = bend;
    best = own;
  }
  // all lanes have to reach each of these shuffles
  const double strongest = largest(most);
  if (most < strongest) best = 1 << 16;
  for (int step = SIDE / 2; step > 0; step /= 2) best = min(best, __shfl_xor_sync(0xffffffffu, best, step));
  if (lane != 0 || !there) return;
  t.values[slot] = scaled(sums[0], t.mantissa, desk.exponent[side]);
  t.errors[slot] = scaled(error, t.mantissa, desk.exponent[side]);
  t.axes[slot] = best & 255;
}

// Evaluates two regions, at slots `first` and `second` of lists in which the next axis is `across` numbers away and the next
// region `along`; `number` is the number of the first region. Without `both` there is only the first one: it is evaluated
// twice, and the second result is dropped. One warp does it or, when `shared`, all warps of a block.
__device__ __forceinline__ void evaluate(const RegionTask& t, u64 across, u64 along, u64 first, u64 second, u64 number,
                                         bool both, bool shared) {
  const u32 lane = threadIdx.x % 32, side = lane / SIDE;
  const u32 warp = threadIdx.x / 32;
  const u64 slot = side ? second : first;
  Desk& desk = *seat(warp);
  double(*near)[NEAR] = seat(shared ? 0 : warp)->near;
  int levels = 0;
  for (int d = lane % SIDE; d < DIMS; d += SIDE) {
    const int level = t.levels[d * across + slot * along];
    levels += level;
    desk.level[side * DIMS + d] = level;
    desk.centre[side * DIMS + d] = t.centres[d * across + slot * along];
    desk.half[side * DIMS + d] =
        __dmul_rn((t.high[d] - t.low[d]) / 2, __longlong_as_double((long long)(1023 - level) << 52));
  }
  for (int by = SIDE / 2; by > 0; by /= 2) levels += __shfl_xor_sync(0xffffffffu, levels, by);
  if (lane % SIDE == 0) desk.exponent[side] = t.exponent - levels;
  __syncwarp();
  for (int v = lane % SIDE; v < VALUES; v += SIDE) {
    const double place = t.places[v];
#pragma unroll
    for (int d = 0; d < DIMS; d++) {
      const int box = side * DIMS + d;
      const double x = __dadd_rn(desk.centre[box], __dmul_rn(desk.half[box], place));
      // rounding must not move a point to an end of the range, where the integrand may be infinite
      desk.places[box * VALUES + v] = fmax(fmin(x, t.innerHigh[d]), t.innerLow[d]);
    }
  }
  __syncwarp();
  u32 p = shared ? 32 * warp + lane : lane;
  const u32 step = shared ? 32 * WARPS : 32;
  u32 words[WORDS];
#pragma unroll
  for (int w = 0; w < WORDS; w++) words[w] = t.words[w * t.room + p];
  double sums[2][RULES];
#pragma unroll
  for (int r = 0; r < RULES; r++) sums[0][r] = sums[1][r] = 0;
  u32 turns = 1;  // 0: the integrand has just read the stop flag
  bool leaving = false;
  for (u32 run = 0; run < RUNS && !leaving; run++) {
    const u32 end = t.ends[run];
    double partial[2] = {0, 0};
    for (; p < end && !leaving; p += step) {
      u32 at[WORDS];
#pragma unroll
      for (int w = 0; w < WORDS; w++) {
        at[w] = words[w];
        words[w] = t.words[w * t.room + p + step];  // read ahead
      }
      double value[2];
#pragma unroll
      for (int c = 0; c < 2; c++) {
        double x[DIMS];
#pragma unroll
        for (int d = 0; d < DIMS; d++) x[d] = desk.places[(c * DIMS + d) * VALUES + (at[d / 4] >> 8 * (d % 4) & 255)];
        value[c] = integrand(x, t.params, turns);
      }
      // tests the exponent as an integer, since comparisons of float64 use the units that compute values
#define FINITE(x) ((__double2hiint(x) & 0x7ff00000) != 0x7ff00000)
      if (!(FINITE(value[0]) && FINITE(value[1]))) {
#pragma unroll
        for (int c = 0; c < 2; c++) {
          if (FINITE(value[c])) continue;
          value[c] = 0;
          if (c == 1 && !both) continue;
          atomicAdd(t.wrong, 1ull);
          atomicMin(t.wrong + 1, (number + c) * t.points + p);
        }
        leaving = turns == 0 && stopped(t.params);
      }
#pragma unroll
      for (int c = 0; c < 2; c++) {
        if (p < NEAR) near[c][p] = value[c];
        partial[c] = fma(value[c], SHRINK, partial[c]);
      }
    }
#pragma unroll
    for (int r = 0; r < RULES; r++) {
      const double weight = t.weights[(run * RULES + r) * 32 + lane];
      sums[0][r] = fma(weight, partial[0], sums[0][r]);
      sums[1][r] = fma(weight, partial[1], sums[1][r]);
    }
  }
  // the first half of the lanes goes on with the first region, the second half with the second
  double own[RULES];
#pragma unroll
  for (int r = 0; r < RULES; r++) {
    own[r] = side ? sums[1][r] : sums[0][r];
    own[r] += __shfl_xor_sync(0xffffffffu, side ? sums[0][r] : sums[1][r], SIDE);
    for (int by = SIDE / 2; by > 0; by /= 2) own[r] += __shfl_xor_sync(0xffffffffu, own[r], by);
  }
  if (shared) {
    if (lane % SIDE == 0) {
#pragma unroll
      for (int r = 0; r < RULES; r++) desk.sums[side][r] = own[r];
    }
    __syncthreads();
    if (warp > 0) return;
#pragma unroll
    for (int r = 0; r < RULES; r++)
      for (int w = 1; w < WARPS; w++) own[r] += desks[w].sums[side][r];
  }
  __syncwarp();
  conclude(t, slot, !side || both, desk, own, near[side]);
}

// Halves region k of the list: one half takes its place, the other goes to the end. A warp does it, one lane per axis.
__device__ __forceinline__ void halve(const Pool& p, u64 k) {
  const u64 own = p.list[k], other = p.count + k;
  const u32 lane = threadIdx.x % 32, axis = p.t.axes[own];
  double* centres = (double*)p.t.centres;
  unsigned char* levels = (unsigned char*)p.t.levels;
  const u32 before = levels[DIMS * own + axis];
  __syncwarp();
  for (u32 d = lane; d < DIMS; d += 32) {
    const u32 level = levels[DIMS * own + d] + (d == axis);
    const double centre = centres[DIMS * own + d];
    const double offset =
        d == axis ? __dmul_rn((p.t.high[d] - p.t.low[d]) / 2, __longlong_as_double((long long)(1023 - level) << 52)) : 0;
    levels[DIMS * own + d] = levels[DIMS * other + d] = level;
    centres[DIMS * own + d] = centre - offset;
    centres[DIMS * other + d] = centre + offset;
  }
  if (lane != 0) return;
  p.parentValues[k] = p.t.values[own];
  p.parentErrors[k] = p.t.errors[own];
  p.depths[own] = p.depths[other] = p.depths[own] + 1;
  p.flags[own] = p.flags[other] = 0;
  const u32 node = p.nodeOf[own], left = (u32)(p.nodes + 2 * k);
  p.tree[node] = innerNode(left, axis, before);
  p.tree[left] = own, p.tree[left + 1] = other;
  p.nodeOf[own] = left, p.nodeOf[other] = left + 1;
}

// The two-level error of both halves; see tasks/pool/errors.ts. Two lanes compute it, one per half.
__device__ __forceinline__ void twoLevel(const Pool& p, u64 k) {
  const u32 half = threadIdx.x % 32;
  if (half > 1) return;
  const u64 own = p.list[k], other = p.count + k, i = half ? other : own;
  const double difference = p.weight * fabs(p.t.values[own] + p.t.values[other] - p.parentValues[k]);
  const double sum = p.t.errors[own] + p.t.errors[other];
  const double factor = sum > 0 ? fmin(0x1.fffffffffffffp1023, 1 + 2 * difference / sum) : 1;
  const double value = p.t.values[i], error = p.t.errors[i] * factor + difference;
  __syncwarp(3);  // both lanes have read before one writes
  p.t.errors[i] = error;
  if (value > error) p.found->positive = 1;
  if (-value > error) p.found->negative = 1;
  if (canHalve(p.t, i, p.t.axes[i])) return;
  p.flags[i] |= STUCK;
  atomicAdd(&p.found->stuckCount, 1ull);
}

// HALVES: halves the regions of the pool's list and evaluates both halves of each. ALL: evaluates all regions of the pool.
// LIST: evaluates a list that belongs to no pool. There is one kernel for all three, since a first result waits for its
// compilation. Where a pool has at most FEW pairs, each pair has a block, whose warps would otherwise be idle. A LIST never
// does that: it may be a part of a longer list, spread over several cards, and sums must not depend on the cut.
extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS) evaluateRegions(Pool p, u32 kind) {
  const u64 pairs = kind == HALVES ? p.n : (p.count + 1) / 2;
  const bool shared = kind != LIST && pairs <= FEW, first = !shared || threadIdx.x < 32;
  const u64 k = shared ? blockIdx.x : (u64)blockIdx.x * WARPS + threadIdx.x / 32;
  if (k >= pairs) return;
  const bool both = kind == HALVES || 2 * k + 1 < p.count;
  if (kind == HALVES && first) halve(p, k);
  if (shared) __syncthreads();
  else __syncwarp();
  const u64 a = kind == HALVES ? p.list[k] : 2 * k, b = kind == HALVES ? p.count + k : 2 * k + both;
  const bool list = kind == LIST;
  evaluate(p.t, list ? p.count : 1, list ? 1 : DIMS, a, b, 2 * k, both, shared);
  __syncwarp();
  if (kind == HALVES && first) twoLevel(p, k);
}
