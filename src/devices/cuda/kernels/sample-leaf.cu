
// A leaf of an iteration with one result, and the sum of all leaves, for sample.cu. several-leaf.cu is its counterpart.

enum { INTEGRAL, VARIANCE, INCREMENTS, CONCENTRATION };  // the SUMS numbers of a leaf
typedef double Own[SUMS];                               // what a lane has of them

// Writes the sums of a leaf, over the lanes of its warp in the order of a tree.
__device__ __forceinline__ void putLeaf(double* to, Own& own) {
#pragma unroll
  for (int j = 0; j < SUMS; j++) {
    for (int step = 16; step > 0; step /= 2) own[j] += __shfl_down_sync(ALL, own[j], step);
    if (threadIdx.x % 32 == 0) to[j] = own[j];
  }
}

// One warp runs one leaf, the pieces from `next` to `end` − 1; returns whether it got to the end. `from` is the cube of the
// first piece or of the one before it.
template <bool ADAPT>
__device__ __forceinline__ bool sampleLeaf(const SampleTask& t, const double* edges, u32* low, u32* high, u32 next, u32 end,
                                           u32 from, Own& own) {
  const u32 lane = threadIdx.x % 32, rank = lane & (t.team - 1), leader = lane - rank;
  const double factor = __dmul_rn(t.scale, __ddiv_rn((double)(t.totals ? t.totals[1] : t.samples), (double)t.cubes));
  u32 turns = 1;  // 0: the integrand has just read the stop flag
  Piece p;
  u32 i = 0, left = 0;  // the lane's sample of the piece; steps of the team that are left
  double weight = 0, base = 0, sum = 0, squares = 0;
  bool counted = true;
  for (;;) {
    const u32 asking = __ballot_sync(ALL, left == 0 && rank == 0);
    if (asking) {
      u32 cube, index;
      const u32 item = nextPiece(t, asking, leader, next, from, cube, index);
      if (left == 0 && item < end) {
        toPiece(p, t, item, cube, index);
        left = stepsOf(p, t);
        i = rank;
        if (ADAPT) weight = __dmul_rn(reciprocal(p.ofCube), factor), counted = isCounted(t, p);
        base = sum = squares = 0;
      }
      if (!__any_sync(ALL, left > 0)) return true;
    }
    bool leaving = false, ends = false;
    u32 turn = 1;
#if LATTICE
    // pieces of lattices are alike: no lane ends its piece before the others do, and need not be asked
    const u32 common = __shfl_sync(ALL, left, 0);
    if (__all_sync(ALL, left == common)) turn = common;
#endif
    for (; turn > 0; turn--) {
      if (left > 0 && i < p.samples) {
        const u64 sample = p.start + i;
        double x[DIMS];
        u32 bin[DIMS];
        const double jacobian = drawPoint(t, p, i, edges, x, bin);
        const double value = integrand(x, t.params, turns);
        double w = __dmul_rn(value, jacobian);
        // true where the value is infinite or NaN
        if ((__double2hiint(w) & 0x7ff00000) == 0x7ff00000) {
          atomicAdd(&t.result->wrong, 1ull);
          atomicMax(&t.result->first, ~sample);
          w = 0;
          leaving |= turns == 0 && stopped(t.params);  // an integrand that has seen the stop flag returns NaN
        }
        if (i == rank) base = w;
        const double off = __dsub_rn(w, base);
        sum += off;
        squares += off * off;
        if (ADAPT) {
          const double scaled = rint(__dmul_rn(__dmul_rn(w, w), weight));
          own[INCREMENTS] += scaled;  // this float64 sum shows when the 64-bit counters overflow
          if (counted) countIn(t, low, high, bin, __double2ull_rn(scaled));
        }
        i += t.team;
      }
      ends = left == 1;
      left -= left > 0;
    }
    if (!__any_sync(ALL, ends || leaving)) continue;
    if (__any_sync(ALL, leaving)) return false;
    double mean = base;
    if (t.team > 1) {
      // sums are taken about the first value of the team
      mean = __shfl_sync(ALL, base, leader);
      const double delta = base - mean, n = ends && rank < p.samples ? (p.samples - rank - 1) / t.team + 1 : 0;
      double s = n > 0 ? sum + n * delta : 0, q = n > 0 ? squares + delta * (2 * sum + n * delta) : 0;
      for (int step = t.team / 2; step > 0; step /= 2)
        s += __shfl_xor_sync(ALL, s, step), q += __shfl_xor_sync(ALL, q, step);
      if (ends) sum = s, squares = q;
    }
    if (ends && rank == 0) {
      const double part = reciprocals[p.samples], shift = sum * part;
      const double share = p.samples == p.ofCube ? 1 : (double)p.samples * reciprocal(p.ofCube);
      mean += shift;
      const double spread = fmax(0.0, squares - sum * shift) * reciprocals[p.samples - 1] * share;
      const double error = spread * share * part;
      own[INTEGRAL] += share * mean;
      own[VARIANCE] += error;
      own[CONCENTRATION] += error * error;
      if (t.means) t.means[p.item] = share * mean;
      if (t.variances) t.variances[p.item] = spread;
    }
  }
}

// One block adds the sums of all leaves as a binary tree, 32 neighbours at a time. A warp reads them in the order of memory,
// SUMS numbers per leaf: number k of its rows is sum k % SUMS of leaf k / SUMS.
#define ROWS SUMS
#define PER_ROW (32 / SUMS)  // leaves per row

__device__ __forceinline__ void addLeaves(const SampleTask& t) {
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const double* from = t.sums;
  double* to = t.sums + SUMS * (u64)t.leaves;
  for (u32 n = t.leaves;; n = (n + 31) / 32, from = to, to += SUMS * (u64)n) {
#pragma unroll 2
    for (u32 c = warp; 32 * c < n; c += warps) {
      double own[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        const u32 leaf = 32 * c + r * PER_ROW + lane / SUMS;
        own[r] = leaf < n ? __ldcg(from + SUMS * (u64)(32 * c + r * PER_ROW) + lane) : 0;
      }
#pragma unroll
      for (int r = 0; r < ROWS; r++)
        for (int step = SUMS; step < 32; step *= 2) own[r] += __shfl_xor_sync(ALL, own[r], step);
#pragma unroll
      for (int step = 1; step < ROWS; step *= 2)
#pragma unroll
        for (int r = 0; r < ROWS; r += 2 * step) own[r] += own[r + step];
      if (lane < SUMS) to[SUMS * (u64)c + lane] = own[0];
    }
    __threadfence();
    __syncthreads();
    if (n <= 32) break;
  }
  if (threadIdx.x != 0) return;
  report(t, to, INTEGRAL, VARIANCE, INCREMENTS, CONCENTRATION);
}
