// One iteration of stratified sampling through a map; the counterpart of devices/cpu/kernel.ts, with the same points.
//
// The work is a list of pieces (tasks/pieces.ts): a piece is a run of at most PIECE samples of one cube, with its own mean
// and variance, weighted by its share of the cube's samples. A team of lanes of a warp shares a piece, and then takes the
// next one of its warp's leaf; so lanes rarely wait for each other, however different the cubes are. Each group of the task
// has 2^leafBits leaves; a leaf has an equal part of the group's pieces, rounded up so that every team has the same number
// of them. A warp that is done with a leaf takes another. There are as many blocks as the card runs at a time; each of them
// copies the map to shared memory once, and adds its histogram to that in the card's memory once.
//
// Sums are added in an order that depends on the task alone: over the lanes of a team, the pieces of a team, the teams of
// a leaf; and over leaves as a binary tree (tasks/tree-sum.ts), by the block that ends last. Groups of the task are whole
// subtrees of it.
//
// The histogram adds integers, w² scaled and rounded. Its counters are 64 bits wide, kept in shared memory as two words:
// additions of 32 bits are native there, and the carry is rare.
//
// Products and sums that decide a bin are not fused: each is rounded.
//
// A task may be a part of an iteration, the leaves from `firstLeaf` on. The sums of a leaf do not depend on which card runs
// it; the host then reads the sums of leaves and goes on with the tree.
//
// Warps read the stop flag now and then. After a stop the sums are not used.

#define PHILOX_CALLS ((DIMS + 3) / 4)
#define ALL 0xffffffffu
#define LATE 20000000    // nanoseconds between looks at the stop flag, which is in the host's memory

enum { INTEGRAL, VARIANCE, INCREMENTS, CONCENTRATION };  // the SUMS numbers of a leaf

__device__ __forceinline__ void count64(u32* low, u32* high, u64 increment) {
  const u32 part = (u32)increment, old = atomicAdd(low, part);
  const u32 carry = (u32)(increment >> 32) + (old + part < old);
  if (carry) atomicAdd(high, carry);
}

// Adds over the lanes of a warp, in the order of a tree; the first lane gets the sums.
__device__ __forceinline__ void addLanes(double own[SUMS]) {
#pragma unroll
  for (int j = 0; j < SUMS; j++)
    for (int step = 16; step > 0; step /= 2) own[j] += __shfl_down_sync(ALL, own[j], step);
}

// k + u, where u is the middle of one of 2^32 parts of the unit interval.
__device__ __forceinline__ double place(u32 k, u32 word) {
#if !MANY_STRATA
  // as bits, 2^20 + k + word/2^32: conversions of integers take four times as long
  return __hiloint2double(0x41300000 | k, word) - 0x1.fffffffffffffp19;
#else
  return (double)k + ((double)word + 0.5) * 0x1p-32;
#endif
}

// The piece of a team.
struct Piece {
  u32 item;         // its number
  u32 samples;      // samples of the piece, and of its cube
  u32 ofCube;
  u64 start;        // its first sample
  u32 k[DIMS];      // the strata of its cube
};

__device__ __forceinline__ void toPiece(Piece& p, const SampleTask& t, u32 item, u32 cube, u32 index) {
  p.item = item;
  p.ofCube = t.count ? t.count : t.counts[cube];
  u32 first = 0;
  p.samples = p.ofCube;
  if (p.ofCube > PIECE) {
    first = startOf(p.ofCube, index);
    p.samples = startOf(p.ofCube, index + 1) - first;
  }
  p.start = (t.count ? (u64)cube * t.count : (u64)t.firstSample[cube]) + first;
  u32 rest = cube;
#pragma unroll
  for (int d = 0; d < DIMS; d++) {
    u32 quotient = __umulhi(rest, t.inverses[d]);  // the quotient, or one less
    u32 k = rest - quotient * t.strata[d];
    if (k >= t.strata[d]) k -= t.strata[d], quotient++;
    p.k[d] = k;
    rest = quotient;
  }
}

// The first piece of a group, where every cube has the same count.
__device__ __forceinline__ u32 firstOfGroup(const SampleTask& t, u32 group) {
  const u64 sample = (u64)group << t.groupBits, cube = sample >> 32 ? sample / t.count : (u64)((u32)sample / t.count);
  if (cube >= t.cubes) return t.cubes * t.pieces;
  const u32 off = (u32)(sample - cube * t.count);
  return (u32)cube * t.pieces + (t.pieces == 1 ? (off > 0) : pieceFrom(t.count, off));
}

// The last cube from `first` to `end` − 1 whose first piece is at most `item`.
__device__ __forceinline__ u32 cubeOf(const SampleTask& t, u32 item, u32 first, u32 end) {
  while (end - first > 1) {
    const u32 middle = first + (end - first) / 2;
    if (t.firstPiece[middle] <= item) first = middle;
    else end = middle;
  }
  return first;
}

// The cube of a piece, for a few successive pieces, one per team; all lanes search together. `from` is the cube of the piece
// before them.
__device__ __forceinline__ u32 cubeNear(const SampleTask& t, u32 item, u32 from) {
  const u32 at = from + 1 + threadIdx.x % 32;
  const u32 begin = at < t.cubes ? t.firstPiece[at] : ALL;
  u32 n = 0;  // how many of the next 32 cubes begin at or before the piece
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    if (__shfl_sync(ALL, begin, n + step - 1) <= item) n += step;
  return from + n + (__shfl_sync(ALL, begin, n) <= item);
}

// A table of 1/n, since a division takes 25 instructions.
__shared__ double reciprocals[PIECE + 1];

__device__ __forceinline__ double reciprocal(u32 n) {
  return n <= PIECE ? reciprocals[n] : __ddiv_rn(1.0, (double)n);
}

// One warp runs one leaf, the pieces from `next` to `end` − 1; returns whether it got to the end. `from` is the cube of the
// first piece or of the one before it.
template <bool ADAPT>
__device__ __forceinline__ bool sampleLeaf(const SampleTask& t, const double* edges, u32* low, u32* high, u32 next, u32 end,
                                           u32 from, double own[SUMS]) {
  const u32 lane = threadIdx.x % 32, rank = lane % t.team, leader = lane - rank;
  const u32 edgesOf = t.bins + 1;
  const double factor = __dmul_rn(t.scale, __ddiv_rn((double)(t.totals ? t.totals[1] : t.samples), (double)t.cubes));
  u32 turns = 1;  // 0: the integrand has just read the stop flag
  Piece p;
  u32 i = 0, left = 0;  // the lane's sample of the piece; steps of the team that are left
  double weight = 0, base = 0, sum = 0, squares = 0;
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
        base = sum = squares = 0;
      }
      if (!__any_sync(ALL, left > 0)) return true;
    }
    bool leaving = false;
    if (left > 0 && i < p.samples) {
      const u64 sample = p.start + i;
      double x[DIMS];
      u32 bin[DIMS];
      double jacobian = t.volume;
#pragma unroll
      for (int g = 0; g < PHILOX_CALLS; g++) {
        u32 c[4] = {(u32)sample, (u32)g + ((u32)(sample >> 32) << 8), t.iteration, t.stream};
        philox(c, t.keys);
#pragma unroll
        for (int j = 0; j < 4; j++) {
          const int d = 4 * g + j;
          if (d >= DIMS) break;
          // k + u is exact, and the product rounds once: every device finds the same bin
          const double s = __dmul_rn(place(p.k[d], c[j]), t.scales[d]);
          const double shifted = __dadd_rd(s, 0x1p52);  // rounded down, so the bin is in the low bits
          bin[d] = (u32)__double2loint(shifted);
          const double* e = edges + d * edgesOf + bin[d];
          const double width = __dsub_rn(e[1], e[0]);
          x[d] = __dadd_rn(e[0], __dmul_rn(__dsub_rn(s, shifted - 0x1p52), width));
          jacobian = __dmul_rn(jacobian, width);
        }
      }
      const double value = integrand(x, t.params, turns);
      double w = __dmul_rn(value, jacobian);
      // true where the value is infinite or NaN
      if ((__double2hiint(w) & 0x7ff00000) == 0x7ff00000) {
        atomicAdd(&t.result->wrong, 1ull);
        atomicMax(&t.result->first, ~sample);
        w = 0;
        leaving = turns == 0 && stopped(t.params);  // an integrand that has seen the stop flag returns NaN
      }
      if (i == rank) base = w;
      const double off = __dsub_rn(w, base);
      sum += off;
      squares += off * off;
      if (ADAPT) {
        const double scaled = rint(__dmul_rn(__dmul_rn(w, w), weight));
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

__device__ __forceinline__ u64 nanoseconds() {
  u64 now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
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
  t.result->integral = __ldcg(to + INTEGRAL);
  t.result->variance = __ldcg(to + VARIANCE);
  t.result->increments = __ldcg(to + INCREMENTS);
  t.result->concentration = __ldcg(to + CONCENTRATION);
  t.result->evaluations = t.totals ? t.totals[1] : t.samples;
  // the result is copied and cleared for the next launch
  volatile u64* words = (volatile u64*)t.result;
  if (t.report)
    for (u32 i = 0; i < sizeof(SampleResult) / 8; i++) ((u64*)t.report)[i] = words[i], words[i] = 0;
}

template <bool ADAPT>
__device__ __forceinline__ void sampleLeaves(const SampleTask& t) {
  extern __shared__ double shared[];
  __shared__ bool last;
  const u32 edgesOf = t.bins + 1;
  const double* edges = t.edges;
  for (u32 i = threadIdx.x; i <= PIECE; i += blockDim.x) reciprocals[i] = __ddiv_rn(1.0, (double)i);
#if SHARED_EDGES
  for (u32 i = threadIdx.x; i < DIMS * edgesOf; i += blockDim.x) shared[i] = t.edges[i];
  edges = shared;
  u32* low = (u32*)(shared + DIMS * edgesOf);
#else
  u32* low = (u32*)shared;
#endif
  u32* high = low + DIMS * t.bins;
#if SHARED_HISTOGRAM
  if (ADAPT)
    for (u32 i = threadIdx.x; i < 2 * DIMS * t.bins; i += blockDim.x) low[i] = 0;
#endif
  __syncthreads();

  const u32 warps = blockDim.x / 32, lane = threadIdx.x % 32;
  u64 looked = nanoseconds();
  for (u32 leaf = blockIdx.x * warps + threadIdx.x / 32; leaf < t.leaves;) {
    double own[SUMS] = {0, 0, 0, 0};
    const u32 number = t.firstLeaf + leaf, group = number >> t.leafBits, teams = 32 / t.team;
    const u32* starts = t.groupStarts + 2 * (u64)group;  // piece and cube of this group and of the next one
    const u32 first = t.count ? firstOfGroup(t, group) : starts[0];
    const u32 last = t.count ? firstOfGroup(t, group + 1) : starts[2];
    // An equal part of the group's pieces, rounded up to the same number for every team. Leaves start at multiples of the
    // number of teams, but for the first of a group: the cubes of a round then mostly have about the same number of samples
    // (else the linear integrand in 10 dimensions takes 4 % more steps).
    const u32 origin = first - first % teams, mask = (1u << t.leafBits) - 1;
    const u32 part = ((last - origin) >> t.leafBits) + (((last - origin) & mask) != 0);
    const u32 size = (part + teams - 1) / teams * teams;
    const u32 start = origin + (number & mask) * size, begin = max(first, start), end = min(last, start + size);
    bool whole = true;
    if (begin < end) {
      const u32 from = t.count ? 0 : cubeOf(t, begin, starts[1], min(t.cubes, starts[3] + 1));
      whole = sampleLeaf<ADAPT>(t, edges, low, high, begin, end, from, own);
    }
    addLanes(own);
    u32 next = ALL;
    if (lane == 0) {
      for (int j = 0; j < SUMS; j++) t.sums[SUMS * (u64)leaf + j] = own[j];
      __threadfence();
      const u64 now = nanoseconds();
      const bool late = now - looked > LATE;
      if (late) looked = now;
      if (whole && !(late && stopped(t.params))) next = gridDim.x * warps + (u32)atomicAdd(&t.result->taken, 1ull);
    }
    leaf = __shfl_sync(ALL, next, 0);
  }

  __syncthreads();
#if SHARED_HISTOGRAM
  if (ADAPT)
    for (u32 i = threadIdx.x; i < DIMS * t.bins; i += blockDim.x) {
      const u64 own64 = ((u64)high[i] << 32) + low[i];
      if (own64) atomicAdd(t.histogram + i, own64);
    }
#endif
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(&t.result->blocks, 1ull) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  addLeaves(t);
}

extern "C" __global__ void __launch_bounds__(THREADS) sampleFrozen(SampleTask t) { sampleLeaves<false>(t); }
extern "C" __global__ void __launch_bounds__(THREADS) sampleAdapting(SampleTask t) { sampleLeaves<true>(t); }

extern "C" __global__ void evaluate(const double* points, double* values, u64 n, const double* params) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x[DIMS];
#pragma unroll
  for (int d = 0; d < DIMS; d++) x[d] = points[d * n + i];
  values[i] = integrand(x, params);
}
