
// A leaf of an iteration with several results, and the sum of all leaves, for sample.cu: as sample-leaf.cu, with sums of products of
// all pairs of RESULTS results. Each result is divided by a unit of its own. Histogram and variances of cubes are those of
// Σ w² over the results that lead (`leads` is 1 for these and 0 for others).
//
// Up to FEW results, a lane has the products of its piece in registers. More of them would be in local memory: 16 results took 54
// times as long as one. But a covariance is Σ over pieces of c (Σ w v − Σ w Σ v / n), and c is known when a piece begins. So a
// leaf is one long sum of products of vectors: √c·w for every sample, and √(c/n)·Σ w, which is subtracted, for every piece. The lanes of a
// warp write their vectors to shared memory, and each lane adds a tile of 4 × 2 products of all of them. Only variances, which
// say which pieces carry the error, are added piece by piece.

#define FEW 4
#define PAIRS (RESULTS * (RESULTS + 1) / 2)
#define PAIR(r, s) ((r) * ((r) + 1) / 2 + (s))  // r >= s

// The SUMS numbers of a leaf: those of a node (tasks/sample.ts), and the increments of the histogram.
enum { INTEGRAL, COVARIANCE = RESULTS, CONCENTRATION = RESULTS + PAIRS, INCREMENTS = 2 * RESULTS + PAIRS };

#if RESULTS > FEW
#define FOURS ((RESULTS + 3) / 4)         // groups of four results
#define TILES (FOURS * (FOURS + 1))       // tiles on and below the diagonal
#define TURNS (32 / TILES)                // lanes per tile: each takes one of TURNS vectors
#define PRODUCTS RESULTS                  // what a lane adds for a piece: squares
__shared__ Two vectors[THREADS / 32][32][2 * FOURS + 1];  // one more: lanes write to different banks
#else
#define PRODUCTS PAIRS
#endif

// What a lane has of a leaf: of each result the integral, the variance and Σ of squared variances, of all the increments.
struct Own {
  double integral[RESULTS], concentration[RESULTS], increments;
#if RESULTS > FEW
  double variance[RESULTS], tile[8];
#else
  double covariance[PAIRS];
#endif
};

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

__device__ __forceinline__ double sumOfLanes(double a) {
  for (int step = 16; step > 0; step /= 2) a += __shfl_down_sync(ALL, a, step);
  return a;
}

#if RESULTS > FEW
// The tile of a lane: four rows and two columns from these on. Before the tiles of group g there are g (g + 1) others.
__device__ __forceinline__ u32 rowsOf(u32 tile) {
  u32 g = 0;
  while ((g + 1) * (g + 2) <= tile) g++;
  return 4 * g;
}
__device__ __forceinline__ u32 columnsOf(u32 tile, u32 rows) { return 2 * (tile - rows / 4 * (rows / 4 + 1)); }

__device__ __forceinline__ void addTile(double tile[8], const Two* vector, u32 rows, u32 columns, double sign) {
  const Two a = vector[rows / 2], b = vector[rows / 2 + 1], c = vector[columns / 2];
  const double x = sign * c.first, y = sign * c.second;
  tile[0] = fma(a.first, x, tile[0]), tile[1] = fma(a.first, y, tile[1]);
  tile[2] = fma(a.second, x, tile[2]), tile[3] = fma(a.second, y, tile[3]);
  tile[4] = fma(b.first, x, tile[4]), tile[5] = fma(b.first, y, tile[5]);
  tile[6] = fma(b.second, x, tile[6]), tile[7] = fma(b.second, y, tile[7]);
}
#endif

// Writes the sums of a leaf, over the lanes of its warp in the order of a tree.
__device__ __forceinline__ void putLeaf(double* to, Own& own) {
  const u32 lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < RESULTS; r++) {
    own.integral[r] = sumOfLanes(own.integral[r]), own.concentration[r] = sumOfLanes(own.concentration[r]);
    if (lane == 0) to[INTEGRAL + r] = own.integral[r], to[CONCENTRATION + r] = own.concentration[r];
#if RESULTS > FEW
    own.variance[r] = sumOfLanes(own.variance[r]);
    if (lane == 0) to[COVARIANCE + PAIR(r, r)] = own.variance[r];
#endif
  }
  own.increments = sumOfLanes(own.increments);
  if (lane == 0) to[INCREMENTS] = own.increments;
#if RESULTS > FEW
  const u32 rows = rowsOf(lane % TILES), columns = columnsOf(lane % TILES, rows);
#pragma unroll
  for (int k = 0; k < 8; k++) {
    double sum = own.tile[k];
    for (int turn = 1; turn < TURNS; turn++) sum += __shfl_sync(ALL, own.tile[k], (lane + turn * TILES) % 32);
    const u32 r = rows + k / 2, s = columns + k % 2;
    if (lane < TILES && r < RESULTS && s < r) to[COVARIANCE + PAIR(r, s)] = sum;
  }
#else
#pragma unroll
  for (int k = 0; k < PAIRS; k++) {
    own.covariance[k] = sumOfLanes(own.covariance[k]);
    if (lane == 0) to[COVARIANCE + k] = own.covariance[k];
  }
#endif
}

template <bool ADAPT>
__device__ __forceinline__ bool sampleLeaf(const SampleTask& t, const double* edges, u32* low, u32* high, u32 next, u32 end,
                                           u32 from, Own& own) {
  const u32 lane = threadIdx.x % 32, rank = lane & (t.team - 1), leader = lane - rank;
  const double factor = __dmul_rn(t.scale, __ddiv_rn((double)(t.totals ? t.totals[1] : t.samples), (double)t.cubes));
  u32 turns = 1;  // 0: the integrand has just read the stop flag
  Piece p;
  u32 i = 0, left = 0;  // the lane's sample of the piece; steps of the team that are left
  double weight = 0, base[RESULTS], sum[RESULTS], products[PRODUCTS];
  bool counted = true;
  for (int r = 0; r < RESULTS; r++) base[r] = sum[r] = 0;
  for (int k = 0; k < PRODUCTS; k++) products[k] = 0;
#if RESULTS > FEW
  const Two(*theirs)[2 * FOURS + 1] = vectors[threadIdx.x / 32];
  double* mine = (double*)theirs[lane];
  for (int r = RESULTS; r < 4 * FOURS; r++) mine[r] = 0;
  const u32 rows = rowsOf(lane % TILES), columns = columnsOf(lane % TILES, rows);
  double root = 0;  // √c
#endif
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
        for (int r = 0; r < RESULTS; r++) base[r] = sum[r] = 0;
        for (int k = 0; k < PRODUCTS; k++) products[k] = 0;
#if RESULTS > FEW
        const double share = p.samples == p.ofCube ? 1 : (double)p.samples * reciprocal(p.ofCube);
        root = share * sqrt(reciprocals[p.samples - 1] * reciprocals[p.samples]);
#endif
      }
      if (!__any_sync(ALL, left > 0)) return true;
    }
    bool leaving = false;
    const bool active = left > 0 && i < p.samples;
    double w[RESULTS];
    for (int r = 0; r < RESULTS; r++) w[r] = 0;
    if (active) {
      const u64 sample = p.start + i;
      double x[DIMS];
      u32 bin[DIMS];
      const double jacobian = drawPoint(t, p, i, edges, x, bin);
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
        if (ADAPT) square = __dadd_rn(square, __dmul_rn(__dmul_rn(w[r], w[r]), t.leads[r]));
      }
      if (ADAPT) {
        const double scaled = rint(__dmul_rn(square, weight));
        own.increments += scaled;  // this float64 sum shows when the 64-bit counters overflow
        if (counted) countIn(t, low, high, bin, __double2ull_rn(scaled));
      }
    }
    // sums are taken about the first values of the piece, which its leader has
    const bool begins = active && i == rank;
    if (__any_sync(ALL, begins))
#pragma unroll
      for (int r = 0; r < RESULTS; r++) {
        const double first = t.team > 1 ? __shfl_sync(ALL, w[r], leader) : w[r];
        if (begins) base[r] = first;
      }
#pragma unroll
    for (int r = 0; r < RESULTS; r++) {
      w[r] = active ? __dsub_rn(w[r], base[r]) : 0;
      sum[r] += w[r];
#if RESULTS > FEW
      products[r] += w[r] * w[r];
      mine[r] = root * w[r];
#else
#pragma unroll
      for (int s = 0; s <= r; s++) products[PAIR(r, s)] += w[r] * w[s];
#endif
    }
    if (active) i += t.team;
#if RESULTS > FEW
    __syncwarp();
    if (lane < TILES * TURNS)
#pragma unroll 4
      for (u32 v = lane / TILES; v < 32; v += TURNS) addTile(own.tile, theirs[v], rows, columns, 1);
    __syncwarp();
#endif
    const bool ends = left == 1;
    left -= left > 0;
    if (!__any_sync(ALL, ends || leaving)) continue;
    if (__any_sync(ALL, leaving)) return false;
    if (t.team > 1) {
      const auto ofTeam = [&](double a) {
        double all = ends ? a : 0;
        for (int step = t.team / 2; step > 0; step /= 2) all += __shfl_xor_sync(ALL, all, step);
        return ends ? all : a;
      };
      for (int r = 0; r < RESULTS; r++) sum[r] = ofTeam(sum[r]);
      for (int k = 0; k < PRODUCTS; k++) products[k] = ofTeam(products[k]);
    }
    const bool leads = ends && rank == 0;
    if (leads) {
      const double part = reciprocals[p.samples];
      const double share = p.samples == p.ofCube ? 1 : (double)p.samples * reciprocal(p.ofCube);
      const double scale = reciprocals[p.samples - 1] * share;
      double norm = 0, variance = 0;
#pragma unroll
      for (int r = 0; r < RESULTS; r++) {
        const double shift = sum[r] * part, mean = base[r] + shift;
        own.integral[r] += share * mean;
#if RESULTS > FEW
        const double spread = fmax(0.0, products[r] - sum[r] * shift) * scale, error = spread * share * part;
        own.variance[r] += error;
        mine[r] = root * sqrt(part) * sum[r];
#else
#pragma unroll
        for (int s = 0; s < r; s++)
          own.covariance[PAIR(r, s)] += (products[PAIR(r, s)] - sum[s] * shift) * scale * share * part;
        const double spread = fmax(0.0, products[PAIR(r, r)] - sum[r] * shift) * scale, error = spread * share * part;
        own.covariance[PAIR(r, r)] += error;
#endif
        own.concentration[r] += error * error;
        variance += t.leads[r] * spread;
        norm += t.leads[r] * mean * mean;
      }
      if (t.means) t.means[p.item] = share * sqrt(norm);
      if (t.variances) t.variances[p.item] = variance;
    }
#if RESULTS > FEW
    u32 leaders = __ballot_sync(ALL, leads);
    if (lane < TILES)
      for (; leaders; leaders &= leaders - 1) addTile(own.tile, theirs[__ffs(leaders) - 1], rows, columns, -1);
    __syncwarp();
#endif
  }
}

// One block adds the sums of all leaves as a binary tree, 32 neighbours at a time: a lane has one of the numbers of 32 leaves. The
// sums of all are behind those of all subtrees, where the host reads them.
__device__ __forceinline__ void addLeaves(const SampleTask& t) {
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const double* from = t.sums;
  double* to = t.sums + SUMS * (u64)t.leaves;
  for (u32 n = t.leaves;; n = (n + 31) / 32, from = to, to += SUMS * (u64)n) {
    for (u32 c = warp; 32 * c < n; c += warps)
      for (int j = lane; j < SUMS; j += 32) {
        double trees[6];  // sums of 2^level leaves
#pragma unroll
        for (int k = 0; k < 32; k++) {
          double own = 32 * c + k < n ? __ldcg(from + SUMS * (u64)(32 * c + k) + j) : 0;
          int level = 0;
#pragma unroll
          for (; level < 5 && (k >> level & 1); level++) own = trees[level] + own;
          trees[level] = own;
        }
        to[SUMS * (u64)c + j] = trees[5];
      }
    __threadfence();
    __syncthreads();
    if (n <= 32) break;
  }
  // the sums of all results lie behind the result
  if (t.report)
    for (u32 j = threadIdx.x; j < SUMS; j += blockDim.x)
      ((double*)t.report)[sizeof(SampleResult) / 8 + j] = __ldcg(to + j);
  if (threadIdx.x != 0) return;
  report(t, to, INTEGRAL, COVARIANCE, INCREMENTS, CONCENTRATION);
}
