// Samples of each cube by its variance: two, and a share of the rest as variance^(β/2); see methods/vegas/strata.ts, whose
// numbers these are to the bit. `integrand` is the power. Then where each cube's pieces and samples begin.
//
// Sums of shares go by groups of 32, groups of these, and so on, one thread a group.

typedef unsigned int u32;
typedef unsigned long long u64;

#define BATCH 256
#define WIDTH 1024

struct Allocate {
  u32 cubes;
  double rest;
  const double* variances;
  const double* params;
  u64* largest;       // as bits: those of positive numbers grow with them
  double* shares;
  double* groups;     // sums of 32 shares
  double* total;
  u32* counts;
  u32* firstPiece;    // cubes + 1
  double* firstSample;
  u64* blocks;        // samples or pieces of every block of cubes, then where they begin
  u64* totals;        // pieces, samples, where large cubes are cut
};

extern "C" __global__ void largest(Allocate t) {
  u64 most = 0;
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < t.cubes; i += gridDim.x * blockDim.x)
    most = max(most, (u64)__double_as_longlong(t.variances[i]));
  for (int step = 16; step > 0; step /= 2) most = max(most, __shfl_down_sync(0xffffffffu, most, step));
  if (threadIdx.x % 32 == 0) atomicMax(t.largest, most);
}

extern "C" __global__ void shares(Allocate t) {
  const u32 group = blockIdx.x * blockDim.x + threadIdx.x;
  const double most = __longlong_as_double(*t.largest);
  if (32 * group >= t.cubes || most == 0) return;
  double sum = 0;
  const u32 end = min(t.cubes, 32 * group + 32);
  for (u32 i = 32 * group; i < end; i++) {
    const double x[1] = {__ddiv_rn(t.variances[i], most)};
    const double share = integrand(x, t.params);
    t.shares[i] = share;
    sum = __dadd_rn(sum, share);
  }
  t.groups[group] = sum;
}

// One block: groups of groups, until one number is left.
extern "C" __global__ void __launch_bounds__(WIDTH) total(Allocate t) {
  u32 n = (t.cubes + 31) / 32;
  while (n > 1) {
    const u32 groups = (n + 31) / 32;
    for (u32 base = 0; base < groups; base += WIDTH) {
      const u32 group = base + threadIdx.x;
      double sum = 0;
      if (group < groups)
        for (u32 i = 32 * group; i < min(n, 32 * group + 32); i++) sum = __dadd_rn(sum, t.groups[i]);
      __syncthreads();  // all have read what the first ones overwrite
      if (group < groups) t.groups[group] = sum;
      __syncthreads();
    }
    n = groups;
  }
  if (threadIdx.x == 0) *t.total = t.groups[0];
}

__device__ __forceinline__ u32 piecesOf(u32 n, u32 chunk) {
  if (n <= BATCH) return 1;
  const u32 whole = n > chunk + 1 ? (n - 2) / chunk : 0;
  return whole * ((chunk + BATCH - 1) / BATCH) + (n - whole * chunk + BATCH - 1) / BATCH;
}

// The sum before each thread of a block.
__device__ __forceinline__ u64 before(u64 own, u64* scratch) {
  const u32 i = threadIdx.x;
  u64 sum = own;
  for (u32 step = 1; step < WIDTH; step *= 2) {
    scratch[i] = sum;
    __syncthreads();
    if (i >= step) sum += scratch[i - step];
    __syncthreads();
  }
  return sum - own;
}

extern "C" __global__ void __launch_bounds__(WIDTH) counts(Allocate t) {
  __shared__ u64 scratch[WIDTH];
  const u32 i = blockIdx.x * WIDTH + threadIdx.x;
  u32 n = 0;
  if (i < t.cubes) {
    const double share = *t.largest == 0 ? t.rest / t.cubes : __dmul_rn(t.shares[i], __ddiv_rn(t.rest, *t.total));
    n = 2 + (u32)floor(share);
    t.counts[i] = n;
  }
  const u64 first = before(n, scratch);
  if (i < t.cubes) t.firstSample[i] = (double)first;
  if (threadIdx.x == WIDTH - 1) t.blocks[blockIdx.x] = first + n;
}

// One block: where the blocks of cubes begin; the total goes to totals[0] for pieces, totals[1] for samples.
extern "C" __global__ void __launch_bounds__(WIDTH) starts(Allocate t, u32 which) {
  __shared__ u64 scratch[WIDTH];
  const u32 blocks = (t.cubes + WIDTH - 1) / WIDTH;
  u64 done = 0;
  for (u32 base = 0; base < blocks; base += WIDTH) {
    const u32 b = base + threadIdx.x;
    const u64 own = b < blocks ? t.blocks[b] : 0;
    const u64 first = before(own, scratch);
    if (b < blocks) t.blocks[b] = done + first;
    if (threadIdx.x == WIDTH - 1) scratch[0] = first + own;
    __syncthreads();
    done += scratch[0];
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  t.totals[which] = done;
  // where large cubes are cut depends on all samples, as on the CPU
  if (which == 1) t.totals[2] = (u64)floor(fmin(65536.0, fmax(4096.0, (double)done / 64)));
  else t.firstPiece[t.cubes] = (u32)done;
}

extern "C" __global__ void __launch_bounds__(WIDTH) pieces(Allocate t) {
  __shared__ u64 scratch[WIDTH];
  const u32 i = blockIdx.x * WIDTH + threadIdx.x;
  const double offset = (double)t.blocks[blockIdx.x];
  u32 n = 0;
  if (i < t.cubes) {
    n = piecesOf(t.counts[i], (u32)t.totals[2]);
    t.firstSample[i] += offset;
  }
  const u64 first = before(n, scratch);
  if (i < t.cubes) t.firstPiece[i] = (u32)first;
  __syncthreads();
  if (threadIdx.x == WIDTH - 1) t.blocks[blockIdx.x] = first + n;
}

extern "C" __global__ void __launch_bounds__(WIDTH) shift(Allocate t) {
  const u32 i = blockIdx.x * WIDTH + threadIdx.x;
  if (i < t.cubes) t.firstPiece[i] += (u32)t.blocks[blockIdx.x];
}

// What the pieces of each cube add up to.
extern "C" __global__ void fold(const double* pieces, double* cubes, const u32* firstPiece, u32 each, u32 n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const u64 begin = each ? (u64)i * each : firstPiece[i], end = each ? begin + each : firstPiece[i + 1];
  double sum = 0;
  for (u64 p = begin; p < end; p++) sum = __dadd_rn(sum, pieces[p]);
  cubes[i] = sum;
}
