// One iteration of stratified sampling through a map; the counterpart of devices/cpu/kernel.ts, with the same points.
//
// The work is a list of pieces: a piece is a run of at most 256 samples of one cube, and a cube with more has several,
// each with its own mean and variance, weighted by its share of the cube's samples. A thread takes a run of pieces. Sums
// are added in an order that depends on the task alone: over the pieces of a thread, over the threads of a block, and by
// the block that ends last over all blocks.
//
// The histogram adds integers, w² scaled and rounded. Its counters are 64 bits wide, kept in shared memory as two words:
// additions of 32 bits are native there, and the carry is rare.
//
// Nothing that decides a bin is fused: products and sums here are rounded one by one.
//
// Several cards share an iteration by its blocks: one may be given those from `firstBlock` on. What a block adds up does not
// depend on who runs it; the sum over a part of the blocks means nothing then, and the host adds up blocks in the same order.
//
// Threads look now and then whether they are to stop. What they leave behind is of no use.

typedef unsigned int u32;
typedef unsigned long long u64;

#define GROUPS ((DIMS + 3) / 4)
#define BATCH 256
#define PERIOD 4096      // of looking at the stop flag, in turns of an integrand's loops; see integrand/pace.ts
#define SAMPLE_TURNS 1   // that a sample counts beside them
#define LATE 20000000    // nanoseconds after which blocks look before they begin: that takes a microsecond, one after another

enum { INTEGRAL, VARIANCE, INCREMENTS, CONCENTRATION, SUMS };  // what a block adds up

struct SampleResult {  // all 0 before
  double integral, variance;
  double increments;  // of the histogram, along one axis
  double concentration;
  u64 wrong;          // how many values were not finite
  u64 first;          // the first sample that had one, all bits turned
  u64 evaluations;
  u64 blocks;         // that have ended
  u64 started;        // when, in nanoseconds
};

struct SampleTask {
  double scales[DIMS];  // bins/strata
  u32 strata[DIMS];
  u32 key[2];
  u32 iteration, stream;
  u32 bins, cubes;
  u32 count;    // samples of every cube; 0: see counts
  u32 chunk;    // where a large cube is cut first
  u32 pieces;   // pieces of every cube, if all have the same count
  u32 run;      // pieces of a thread
  u32 firstBlock;
  u64 items;    // pieces in all, and samples; where `totals` is given they are there
  u64 samples;
  const u64* totals;  // pieces, samples, chunk
  double volume;  // the Jacobian's constant part
  double scale;   // of w² in the histogram
  const double* edges;
  const double* params;
  const u32* counts;        // samples of each cube
  const u32* firstPiece;    // of each cube, cubes + 1
  const double* firstSample;
  double* sums;             // SUMS a block
  double* means;            // of each piece, times its share; null when not asked for
  double* variances;
  SampleResult* result;
  u64* histogram;
};

__device__ __forceinline__ void philox(u32 c[4], u32 k0, u32 k1) {
#pragma unroll
  for (int round = 0; round < 10; round++) {
    u32 h0 = __umulhi(0xd2511f53u, c[0]), l0 = 0xd2511f53u * c[0];
    u32 h1 = __umulhi(0xcd9e8d57u, c[2]), l1 = 0xcd9e8d57u * c[2];
    c[0] = h1 ^ c[1] ^ k0;
    c[1] = l1;
    c[2] = h0 ^ c[3] ^ k1;
    c[3] = l0;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
}

// Where piece `index` of a cube of n samples starts, and how many it has; no piece is left with a single sample.
__device__ __forceinline__ u32 pieceOf(u32 n, u32 chunk, u32 index, u32& first) {
  u32 whole = n > chunk + 1 ? (n - 2) / chunk : 0;  // chunks before the last
  u32 batches = (chunk + BATCH - 1) / BATCH;
  u32 c = min(index / batches, whole);
  u32 b = index - c * batches;
  u32 size = c < whole ? chunk : n - whole * chunk;
  u32 last = (size + BATCH - 1) / BATCH - 1;
  u32 lent = size % BATCH == 1 && size > BATCH ? 2 : 0;  // the last but one lends the last
  first = c * chunk + b * BATCH - (b == last ? lent : 0);
  if (b == last) return size - b * BATCH + lent;
  return BATCH - (b + 1 == last ? lent : 0);
}

__device__ __forceinline__ void count64(u32* low, u32* high, u64 increment) {
  u32 part = (u32)increment, carry = (u32)(increment >> 32);
  if (part) {
    u32 old = atomicAdd(low, part);
    if (old + part < old) carry++;
  }
  if (carry) atomicAdd(high, carry);
}

// Sums over the threads of a block, in the order of a tree; the first thread has them.
__device__ __forceinline__ void addUp(double own[SUMS]) {
  __shared__ double tree[SUMS][32];
#pragma unroll
  for (int j = 0; j < SUMS; j++) {
    for (int step = 16; step > 0; step /= 2) own[j] += __shfl_down_sync(0xffffffffu, own[j], step);
    if (threadIdx.x % 32 == 0) tree[j][threadIdx.x / 32] = own[j];
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
#pragma unroll
  for (int j = 0; j < SUMS; j++) {
    own[j] = 0;
    for (u32 i = 0; i < (blockDim.x + 31) / 32; i++) own[j] += tree[j][i];
  }
}

// Whether this block need not begin.
__device__ __forceinline__ bool isStopped(const SampleTask& t) {
  u64 now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  const u64 started = atomicCAS(&t.result->started, 0ull, now);
  return started != 0 && now - started > LATE && stopped(t.params);
}

template <bool ADAPT>
__device__ __forceinline__ void sampleRuns(const SampleTask& t) {
  extern __shared__ double shared[];
  __shared__ bool stopsHere;
  if (threadIdx.x == 0) stopsHere = isStopped(t);
  const u32 edgesOf = t.bins + 1;
  const double* edges = t.edges;
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

  double own[SUMS] = {0, 0, 0, 0};
  const bool late = stopsHere;
  const u64 items = t.totals ? t.totals[0] : t.items, samples = t.totals ? t.totals[1] : t.samples;
  const u32 chunk = t.totals ? (u32)t.totals[2] : t.chunk;
  const double factor = __dmul_rn(t.scale, __ddiv_rn((double)samples, (double)t.cubes));
  const u64 begin = ((u64)(t.firstBlock + blockIdx.x) * blockDim.x + threadIdx.x) * t.run;
  const u64 end = begin + t.run < items ? begin + t.run : items;
  if (begin < items && !late) {
    u32 turns = 1;  // 0: the integrand has just asked
    bool leaving = false;
    u32 cube, index;
    if (t.count) {
      cube = (u32)(begin / t.pieces);
      index = (u32)(begin - (u64)cube * t.pieces);
    } else {
      u32 a = 0, b = t.cubes;  // the last cube whose first piece is not behind this one
      while (b - a > 1) {
        u32 m = a + (b - a) / 2;
        if (t.firstPiece[m] <= begin) a = m;
        else b = m;
      }
      cube = a;
      index = (u32)(begin - t.firstPiece[cube]);
    }
    u32 k[DIMS];
    u32 rest = cube;
#pragma unroll
    for (int d = 0; d < DIMS; d++) {
      k[d] = rest % t.strata[d];
      rest /= t.strata[d];
    }
    for (u64 item = begin; item < end; item++) {
      const u32 n = t.count ? t.count : t.counts[cube];
      u32 first, m;
      if (n <= BATCH) first = 0, m = n;
      else m = pieceOf(n, chunk, index, first);
      const u64 start = (t.count ? (u64)cube * n : (u64)t.firstSample[cube]) + first;
      const double part = __ddiv_rn(1.0, (double)n);
      const double weight = __dmul_rn(part, factor);
      double base = 0, sum = 0, squares = 0;
      for (u32 i = 0; i < m; i++) {
        const u64 sample = start + i;
        double x[DIMS];
        u32 bin[DIMS];
        double jacobian = t.volume;
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
          u32 c[4] = {(u32)sample, (u32)g + ((u32)(sample >> 32) << 8), t.iteration, t.stream};
          philox(c, t.key[0], t.key[1]);
#pragma unroll
          for (int j = 0; j < 4; j++) {
            const int d = 4 * g + j;
            if (d >= DIMS) break;
            // k + u is exact, and the product rounds once: every device finds the same bin
            const double u = ((double)c[j] + 0.5) * 2.3283064365386962890625e-10;
            const double s = __dmul_rn((double)k[d] + u, t.scales[d]);
            const double whole = floor(s);
            bin[d] = (u32)whole;
            const double* e = edges + d * edgesOf + bin[d];
            const double width = __dsub_rn(e[1], e[0]);
            x[d] = __dadd_rn(e[0], __dmul_rn(__dsub_rn(s, whole), width));
            jacobian = __dmul_rn(jacobian, width);
          }
        }
        const double value = integrand(x, t.params, turns);
        double w = __dmul_rn(value, jacobian);
        if (!(fabs(value) <= 1.7976931348623157e308) || !(fabs(w) <= 1.7976931348623157e308)) {
          atomicAdd(&t.result->wrong, 1ull);
          atomicMax(&t.result->first, ~sample);
          w = 0;
          leaving = turns == 0 && stopped(t.params);  // an integrand that has just asked and was stopped gives NaN
          if (leaving) break;
        }
        if (i == 0) base = w;
        const double off = __dsub_rn(w, base);
        sum += off;
        squares += off * off;
        if (ADAPT) {
          const double scaled = rint(__dmul_rn(__dmul_rn(w, w), weight));
          const u64 increment = __double2ull_rn(scaled);
          own[INCREMENTS] += scaled;  // too many for 64 bits show here
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
      }
      turns += SAMPLE_TURNS * m;
      if (turns >= PERIOD && item + 1 < end) {
        turns = 1;
        leaving = leaving || stopped(t.params);
      }
      if (leaving) break;
      const double shift = sum / m;
      const double mean = base + shift;
      const double share = part * m;
      const double spread = fmax(0.0, squares - sum * shift) / (m - 1) * share;
      const double error = spread * share / m;
      own[INTEGRAL] += share * mean;
      own[VARIANCE] += error;
      own[CONCENTRATION] += error * error;
      if (t.means) t.means[item] = share * mean;
      if (t.variances) t.variances[item] = spread;
      // the next piece, or the first one of the next cube
      const u32 pieces = t.count ? t.pieces : t.firstPiece[cube + 1] - t.firstPiece[cube];
      if (++index < pieces) continue;
      index = 0;
      cube++;
      bool carry = true;
#pragma unroll
      for (int d = 0; d < DIMS; d++) {
        if (carry) {
          carry = ++k[d] == t.strata[d];
          if (carry) k[d] = 0;
        }
      }
    }
  }

  __shared__ bool last;
  addUp(own);
  if (threadIdx.x == 0) {
    for (int j = 0; j < SUMS; j++) t.sums[SUMS * (u64)blockIdx.x + j] = own[j];
    __threadfence();
    last = atomicAdd(&t.result->blocks, 1ull) == gridDim.x - 1;
  }
#if SHARED_HISTOGRAM
  if (ADAPT)
    for (u32 i = threadIdx.x; i < DIMS * t.bins; i += blockDim.x) {
      const u64 own64 = ((u64)high[i] << 32) + low[i];
      if (own64) atomicAdd(t.histogram + i, own64);
    }
#endif
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int j = 0; j < SUMS; j++) own[j] = 0;
  for (u32 b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
    const volatile double* of = t.sums + SUMS * (u64)b;
    for (int j = 0; j < SUMS; j++) own[j] += of[j];
  }
  addUp(own);
  if (threadIdx.x != 0) return;
  t.result->integral = own[INTEGRAL];
  t.result->variance = own[VARIANCE];
  t.result->increments = own[INCREMENTS];
  t.result->concentration = own[CONCENTRATION];
  t.result->evaluations = samples;
}

extern "C" __global__ void __launch_bounds__(512) sampleFrozen(SampleTask t) { sampleRuns<false>(t); }
extern "C" __global__ void __launch_bounds__(512) sampleAdapting(SampleTask t) { sampleRuns<true>(t); }

extern "C" __global__ void evaluate(const double* points, double* values, u64 n, const double* params) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x[DIMS];
#pragma unroll
  for (int d = 0; d < DIMS; d++) x[d] = points[d * n + i];
  values[i] = integrand(x, params);
}
