
// A leaf of an iteration with several results, and the sum of all leaves, for sample.cu: as sample-leaf.cu, with sums of products of
// all pairs of RESULTS results. Each result is divided by a unit of its own. Histogram and variances of cubes are those of
// Σ w² over the results that lead (`leads` is 1 for these and 0 for others).
//
// A lane has RESULTS sums and PAIRS products, which for more than a few results are in local memory; blocks have fewer
// threads then.

#define PAIRS (RESULTS * (RESULTS + 1) / 2)
#define PAIR(r, s) ((r) * ((r) + 1) / 2 + (s))  // r >= s

// The SUMS numbers of a leaf: those of a node (tasks/sample.ts), and the increments of the histogram.
enum { INTEGRAL, COVARIANCE = RESULTS, CONCENTRATION = RESULTS + PAIRS, INCREMENTS = 2 * RESULTS + PAIRS };

// True where a number is infinite or NaN.
__device__ __forceinline__ bool isWrong(double w) { return (__double2hiint(w) & 0x7ff00000) == 0x7ff00000; }

// The first result that is not finite, or the first one of all.
__device__ double integrand(const double* x, const double* params) {
  double out[RESULTS];
  integrand(x, params, out);
  for (int r = 0; r < RESULTS; r++)
    if (isWrong(out[r])) return out[r];
  return out[0];
}

template <bool ADAPT>
__device__ __forceinline__ bool sampleLeaf(const SampleTask& t, const double* edges, u32* low, u32* high, u32 next, u32 end,
                                           u32 from, double own[SUMS]) {
  const u32 lane = threadIdx.x % 32, rank = lane % t.team, leader = lane - rank;
  const double factor = __dmul_rn(t.scale, __ddiv_rn((double)(t.totals ? t.totals[1] : t.samples), (double)t.cubes));
  u32 turns = 1;  // 0: the integrand has just read the stop flag
  Piece p;
  u32 i = 0, left = 0;  // the lane's sample of the piece; steps of the team that are left
  double weight = 0, base[RESULTS], sum[RESULTS], products[PAIRS];
  for (int r = 0; r < RESULTS; r++) base[r] = sum[r] = 0;
  for (int k = 0; k < PAIRS; k++) products[k] = 0;
  for (;;) {
    const u32 asking = __ballot_sync(ALL, left == 0 && rank == 0);
    if (asking) {
      const u32 item = next + __popc(asking & ((1u << leader) - 1));
      u32 cube, index;
      if (t.count) {
        cube = t.pieces == 1 ? item : item / t.pieces;
        index = item - cube * t.pieces;
      } else {
        cube = cubeNear(t, item, from);
        from = __shfl_sync(ALL, cube, 31 - __clz(asking));
        index = cube < t.cubes ? item - t.firstPiece[cube] : 0;
      }
      next += __popc(asking);
      if (left == 0 && item < end) {
        toPiece(p, t, item, cube, index);
        left = (p.samples + t.team - 1) / t.team;
        i = rank;
        if (ADAPT) weight = __dmul_rn(reciprocal(p.ofCube), factor);
        for (int r = 0; r < RESULTS; r++) base[r] = sum[r] = 0;
        for (int k = 0; k < PAIRS; k++) products[k] = 0;
      }
      if (!__any_sync(ALL, left > 0)) return true;
    }
    bool leaving = false;
    if (left > 0 && i < p.samples) {
      const u64 sample = p.start + i;
      double x[DIMS];
      u32 bin[DIMS];
      const double jacobian = drawPoint(t, p, i, edges, x, bin);
      double w[RESULTS];
      integrand(x, t.params, turns, w);
      double square = 0;
#pragma unroll
      for (int r = 0; r < RESULTS; r++) {
        w[r] = __dmul_rn(__dmul_rn(w[r], t.inverseUnits[r]), jacobian);
        if (isWrong(w[r])) {
          atomicAdd(&t.result->wrong, 1ull);
          atomicMax(&t.result->first, ~sample);
          w[r] = 0;
          leaving = leaving || (turns == 0 && stopped(t.params));  // an integrand that has seen the stop flag returns NaN
        }
        if (i == rank) base[r] = w[r];
        if (ADAPT) square = __dadd_rn(square, __dmul_rn(__dmul_rn(w[r], w[r]), t.leads[r]));
        w[r] = __dsub_rn(w[r], base[r]);
        sum[r] += w[r];
#pragma unroll
        for (int s = 0; s <= r; s++) products[PAIR(r, s)] += w[r] * w[s];
      }
      if (ADAPT) {
        const double scaled = rint(__dmul_rn(square, weight));
        const u64 increment = __double2ull_rn(scaled);
        own[INCREMENTS] += scaled;  // this float64 sum shows when the 64-bit counters overflow
        if (increment) {
#pragma unroll
          for (int d = 0; d < DIMS; d++) {
#if SHARED_HISTOGRAM
            count64(low + d * t.bins + bin[d], high + d * t.bins + bin[d], increment);
#else
            atomicAdd(t.histogram + d * t.bins + bin[d], increment);
#endif
          }
        }
      }
      i += t.team;
    }
    const bool ends = left == 1;
    left -= left > 0;
    if (!__any_sync(ALL, ends || leaving)) continue;
    if (__any_sync(ALL, leaving)) return false;
    double mean[RESULTS];
    for (int r = 0; r < RESULTS; r++) mean[r] = base[r];
    if (t.team > 1) {
      // sums are taken about the first values of the team
      const double n = ends && rank < p.samples ? (p.samples - rank - 1) / t.team + 1 : 0;
      double delta[RESULTS];
      for (int r = 0; r < RESULTS; r++) {
        mean[r] = __shfl_sync(ALL, base[r], leader);
        delta[r] = base[r] - mean[r];
      }
      for (int r = 0; r < RESULTS; r++)
        for (int s = 0; s <= r; s++) {
          double q = n > 0 ? products[PAIR(r, s)] + delta[r] * sum[s] + delta[s] * sum[r] + n * delta[r] * delta[s] : 0;
          for (int step = t.team / 2; step > 0; step /= 2) q += __shfl_xor_sync(ALL, q, step);
          if (ends) products[PAIR(r, s)] = q;
        }
      for (int r = 0; r < RESULTS; r++) {
        double s = n > 0 ? sum[r] + n * delta[r] : 0;
        for (int step = t.team / 2; step > 0; step /= 2) s += __shfl_xor_sync(ALL, s, step);
        if (ends) sum[r] = s;
      }
    }
    if (ends && rank == 0) {
      const double part = reciprocals[p.samples];
      const double share = p.samples == p.ofCube ? 1 : (double)p.samples * reciprocal(p.ofCube);
      const double scale = reciprocals[p.samples - 1] * share;
      double norm = 0, variance = 0;
      for (int r = 0; r < RESULTS; r++) {
        const double shift = sum[r] * part;
        mean[r] += shift;
        own[INTEGRAL + r] += share * mean[r];
        for (int s = 0; s <= r; s++) {
          double spread = products[PAIR(r, s)] - sum[s] * shift;
          if (s == r) spread = fmax(0.0, spread);
          spread *= scale;
          const double error = spread * share * part;
          own[COVARIANCE + PAIR(r, s)] += error;
          if (s < r) continue;
          own[CONCENTRATION + r] += error * error;
          variance += t.leads[r] * spread;
          norm += t.leads[r] * mean[r] * mean[r];
        }
      }
      if (t.means) t.means[p.item] = share * sqrt(norm);
      if (t.variances) t.variances[p.item] = variance;
    }
  }
}

// One block adds the sums of all leaves as a binary tree, 32 neighbours at a time: a lane has a leaf. The sums of all are behind
// those of all subtrees, where the host reads them.
__device__ __forceinline__ void addLeaves(const SampleTask& t) {
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const double* from = t.sums;
  double* to = t.sums + SUMS * (u64)t.leaves;
  for (u32 n = t.leaves;; n = (n + 31) / 32, from = to, to += SUMS * (u64)n) {
    for (u32 c = warp; 32 * c < n; c += warps)
      for (int j = 0; j < SUMS; j++) {
        const u32 leaf = 32 * c + lane;
        double own = leaf < n ? __ldcg(from + SUMS * (u64)leaf + j) : 0;
        for (int step = 1; step < 32; step *= 2) own += __shfl_xor_sync(ALL, own, step);
        if (lane == 0) to[SUMS * (u64)c + j] = own;
      }
    __threadfence();
    __syncthreads();
    if (n <= 32) break;
  }
  if (threadIdx.x != 0) return;
  t.result->integral = __ldcg(to + INTEGRAL);
  t.result->variance = __ldcg(to + COVARIANCE);
  t.result->increments = __ldcg(to + INCREMENTS);
  t.result->concentration = __ldcg(to + CONCENTRATION);
  t.result->evaluations = t.totals ? t.totals[1] : t.samples;
  // the result is copied and cleared for the next launch
  volatile u64* words = (volatile u64*)t.result;
  if (t.report)
    for (u32 i = 0; i < sizeof(SampleResult) / 8; i++) ((u64*)t.report)[i] = words[i], words[i] = 0;
}
