// The pool of regions of a run of PAGANI, in the card's memory. Kernels list regions with the largest errors, halve and evaluate them
// (regions.cu) and add over all regions; see tasks/pool/host-pool.ts for the same with lists of the host, borders.cu for the look across
// borders, and along.cu for that along all axes.
//
// Errors are counted in buckets of a sixteenth of an octave each, whenever they have changed. The host finds the threshold by the
// counts, and knows how many regions reach it (survey.ts), so an iteration is one wait for the card. Counts do not depend on the order
// of threads, and sums over regions are added in one order.

// SHIFT: bits of the upper word of a float64 that do not tell its bucket. BUCKETS span 256 octaves: of the values that may look across
// borders those of less than 2^-256 of the sum over all regions are not counted.
#define EACH (BUCKETS / WIDTH)
// regions that a thread reads at a time
#define AT_ONCE 8

__device__ __forceinline__ u32 bucketOf(double x) { return (u32)(__double_as_longlong(x) >> 32) >> SHIFT; }
__device__ __forceinline__ double edgeOf(u32 bucket) { return __longlong_as_double((long long)bucket << (32 + SHIFT)); }

// Copies FOUND to where the host reads it.
__device__ __forceinline__ void report(const Pool& p) {
  const volatile u64* from = (const volatile u64*)p.found;
  if (p.report)
    for (u32 i = 0; i < sizeof(Found) / 8; i++) ((u64*)p.report)[i] = from[i];
}

__device__ __forceinline__ bool isOpen(const Pool& p, u64 i) { return !(p.flags[i] & STUCK); }

// Whether a region may be finished: its error is small relative to its value, or below PAGANI's threshold.
__device__ __forceinline__ bool mayFinish(const Pool& p, u64 i) {
  const double error = p.t.errors[i];
  return error < p.below || (p.relative > 0 && error <= p.relative * fabs(p.t.values[i]));
}

// Whether a region goes to the list. HALVING: its error is at least the threshold. LOOKS: it is wide, and the |values| of its
// small neighbours sum to more than it is believed to have beside them, and than `below`. GAPS: it is finished and among the first n regions. MOVES: it
// stays, is behind the first n, and will fill a gap.
__device__ __forceinline__ bool isListed(const Pool& p, u64 i) {
  if (p.purpose == GAPS) return i < p.n && mayFinish(p, i);
  if (p.purpose == MOVES) return i >= p.n && !mayFinish(p, i);
  if (p.purpose == LOOKS) return p.best[i] != 0 && (double)aroundOf(p, i)[0] * p.unit > fmax(p.below, believed(p, i, p.thin));
  return isOpen(p, i) & (p.t.errors[i] >= p.threshold);
}

// How many errors are in each of the TOLD buckets from that of their sum downwards; no region has a larger one. A block counts in
// shared memory first: regions are in few buckets, and 16.7 million additions to the same words of the card's memory took 7.7 ms
// on an H200.
__device__ __forceinline__ void countErrors(const Pool& p, u32* counts, u64 first, u64 step) {
  const u32 top = bucketOf(p.found->error);
  const u64 all = p.count + p.n;
  for (u32 b = threadIdx.x; b < TOLD; b += blockDim.x) counts[b] = 0;
  __syncthreads();
  for (u64 base = first; base < all; base += AT_ONCE * step) {
    double errors[AT_ONCE];
#pragma unroll
    for (int j = 0; j < AT_ONCE; j++) {
      const u64 i = base + j * step;
      errors[j] = i < all && isOpen(p, i) ? p.t.errors[i] : 0;
    }
#pragma unroll
    for (int j = 0; j < AT_ONCE; j++) {
      const u32 b = top - bucketOf(errors[j]);
      if (errors[j] > 0 && b < TOLD) atomicAdd(counts + b, 1u);
    }
  }
  __syncthreads();
}

// The same for many regions, and what all blocks have counted goes to where the host reads it.
extern "C" __global__ void __launch_bounds__(WIDTH) bucketErrors(Pool p) {
  __shared__ u32 counts[TOLD];
  countErrors(p, counts, (u64)blockIdx.x * WIDTH + threadIdx.x, (u64)gridDim.x * WIDTH);
  for (u32 b = threadIdx.x; b < TOLD; b += WIDTH)
    if (counts[b]) atomicAdd(p.buckets + b, counts[b]);
}

extern "C" __global__ void __launch_bounds__(WIDTH) survey(Pool p) {
  for (u32 b = threadIdx.x; b < TOLD; b += WIDTH) p.survey[b] = p.buckets[b];
}

// The bucket of the sum of all |values|, or so many below it; no region has more.
__device__ __forceinline__ u32 firstBucket(const Pool& p) {
  const u32 top = bucketOf(p.found->absolute);
  return top < BUCKETS ? 0 : top - BUCKETS + 1;
}

// Counts the small regions that may look across borders by their |values|.
extern "C" __global__ void __launch_bounds__(WIDTH) bucketSmall(Pool p) {
  __shared__ u32 counts[BUCKETS];
  const u32 least = firstBucket(p);
  for (u32 b = threadIdx.x; b < BUCKETS; b += WIDTH) counts[b] = 0;
  __syncthreads();
  for (u64 i = (u64)blockIdx.x * WIDTH + threadIdx.x; i < p.count; i += (u64)gridDim.x * WIDTH) {
    const u32 b = bucketOf(fabs(p.t.values[i])) - least;
    if (isDeep(p, i) && b < BUCKETS) atomicAdd(counts + b, 1u);
  }
  __syncthreads();
  for (u32 b = threadIdx.x; b < BUCKETS; b += WIDTH)
    if (counts[b]) atomicAdd(p.buckets + b, counts[b]);
}

// One block finds the bucket up to which the values of small regions sum to `part`, for a look across borders. Each thread takes
// EACH buckets, from the smallest on.
extern "C" __global__ void __launch_bounds__(WIDTH) choose(Pool p, double part) {
  __shared__ u32 first;
  const u32 k = threadIdx.x, least = firstBucket(p);
  double parts[EACH], own = 0, all;
#pragma unroll
  for (u32 j = 0; j < EACH; j++) {
    const u32 b = EACH * k + j;
    parts[j] = p.buckets[b] ? p.buckets[b] * edgeOf(least + b + 1) : 0;
    own += parts[j];
  }
  if (k == 0) first = WIDTH;
  const double sum = upTo(own, all);
  if (sum >= part) atomicMin(&first, k);
  __syncthreads();
  // if all buckets together do not reach `part`, no small region looks
  if (first == WIDTH && k == 0) p.found->threshold = edgeOf(0x7ff0);
  if (first != k) return;
  double reached = sum - own;
  u32 b = 0;
#pragma unroll
  for (u32 j = 0; j < EACH; j++)
    if (j == 0 || reached < part) reached += parts[j], b = EACH * k + j;
  p.found->threshold = edgeOf(least + b);
}

// For few regions one block makes the list.
extern "C" __global__ void __launch_bounds__(WIDTH) listFew(Pool p) {
  u64 done = 0, all;
  for (u64 base = 0; base < p.count; base += AT_ONCE * WIDTH) {
    const u64 i = base + AT_ONCE * threadIdx.x;
    u32 listed = 0;
#pragma unroll
    for (u32 j = 0; j < AT_ONCE; j++)
      if (i + j < p.count) listed |= (u32)isListed(p, i + j) << j;
    u64 at = done + before(__popc(listed), all);
    for (; listed; listed &= listed - 1) p.list[at++] = (u32)i + __ffs(listed) - 1;
    done += all;
  }
  if (threadIdx.x != 0) return;
  p.found->wanted = done;
  report(p);
}

// For many regions there are three kernels: the number of listed regions per block, where each block's begin, the list.
extern "C" __global__ void __launch_bounds__(WIDTH) listCounts(Pool p) {
  const u64 i = (u64)blockIdx.x * WIDTH + threadIdx.x;
  u64 all;
  before(i < p.count && isListed(p, i), all);
  if (threadIdx.x == 0) p.blocks[blockIdx.x] = all;
}

extern "C" __global__ void __launch_bounds__(WIDTH) listStarts(Pool p) {
  const u64 blocks = (p.count + WIDTH - 1) / WIDTH;
  u64 done = 0, all;
  for (u64 base = 0; base < blocks; base += WIDTH) {
    const u64 b = base + threadIdx.x;
    const u64 at = done + before(b < blocks ? p.blocks[b] : 0, all);
    if (b < blocks) p.blocks[b] = at;
    done += all;
  }
  if (threadIdx.x != 0) return;
  p.found->wanted = done;
  report(p);
}

extern "C" __global__ void __launch_bounds__(WIDTH) listWrite(Pool p) {
  const u64 i = (u64)blockIdx.x * WIDTH + threadIdx.x;
  const bool listed = i < p.count && isListed(p, i);
  u64 all;
  const u64 at = p.blocks[blockIdx.x] + before(listed, all);
  if (listed) p.list[at] = (u32)i;
}

// The box, every axis halved `rootLevel` times; the first axis is fastest.
extern "C" __global__ void begin(Pool p) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= p.count) return;
  double* centres = (double*)p.t.centres;
  unsigned char* levels = (unsigned char*)p.t.levels;
  u64 rest = i;
  for (int d = 0; d < DIMS; d++) {
    const double half = (p.t.high[d] - p.t.low[d]) / 2 * ldexp(1.0, -(int)p.rootLevel);
    centres[DIMS * i + d] = p.t.low[d] + (2 * (rest & ((1ull << p.rootLevel) - 1)) + 1) * half;
    levels[DIMS * i + d] = p.rootLevel;
    rest >>= p.rootLevel;
  }
  p.depths[i] = p.rootLevel * DIMS;
  p.flags[i] = 0;
  p.nodeOf[i] = (u32)i;
  p.tree[i] = i;
}

// Adds over all regions, and over those that were halved; `count` is the number of regions before they were. Of up to SURVEYED regions
// the last block counts the errors as well.
extern "C" __global__ void __launch_bounds__(256) totals(Pool p) {
  __shared__ bool last;
  __shared__ u32 counts[TOLD];
  double a[6] = {0, 0, 0, 0, 0, 0};
  const u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x, step = (u64)gridDim.x * blockDim.x;
  for (u64 i = first; i < p.count + p.n; i += step) {
    const double value = p.t.values[i], error = p.t.errors[i];
    a[0] += value, a[1] += error, a[2] += fabs(value);
    if (p.flags[i] & STUCK) a[3] += error;
  }
  for (u64 k = first; k < p.n; k += step)
    a[4] += p.parentErrors[k], a[5] += p.t.errors[p.list[k]] + p.t.errors[p.count + k];
  if (addBlocks(p.sums, &p.found->ended, a, last)) {
    Found* f = p.found;
    f->value = a[0], f->error = a[1], f->absolute = a[2], f->stuck = a[3], f->before = a[4], f->after = a[5];
    report(p);
  }
  if (!last || p.count + p.n > SURVEYED) return;
  __syncthreads();  // until the sum of all errors is there
  countErrors(p, counts, threadIdx.x, blockDim.x);
  for (u32 b = threadIdx.x; b < TOLD; b += blockDim.x) p.survey[b] = counts[b];
}

// Adds over regions that may be finished, and finds the smallest and the largest error of all regions.
extern "C" __global__ void __launch_bounds__(256) finishable(Pool p) {
  __shared__ bool last;
  double a[6] = {0, 0, 0, 0, 0, 0};
  u64 least = ~0ull, largest = 0;  // as bits of float64, which grow with a positive number
  const u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < p.count; i += step) {
    const u64 bits = (u64)__double_as_longlong(p.t.errors[i]);
    least = min(least, bits), largest = max(largest, bits);
    if (mayFinish(p, i)) a[0] += 1, a[1] += p.t.values[i], a[2] += p.t.errors[i], a[3] += fabs(p.t.values[i]);
  }
  atomicMin((u64*)&p.found->leastError, least);
  atomicMax((u64*)&p.found->largestError, largest);
  if (!addBlocks(p.sums, &p.found->ended, a, last)) return;
  Found* f = p.found;
  f->finished = a[0], f->finishedValue = a[1], f->finishedError = a[2], f->finishedAbsolute = a[3];
  report(p);
}

// Fills the gaps that finished regions have left: the list has n gaps, and behind them the n regions that move there.
extern "C" __global__ void move(Pool p) {
  const u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= p.n) return;
  const u64 to = p.list[k], from = p.list[p.n + k];
  double* centres = (double*)p.t.centres;
  unsigned char* levels = (unsigned char*)p.t.levels;
  for (int d = 0; d < DIMS; d++) {
    centres[DIMS * to + d] = centres[DIMS * from + d];
    levels[DIMS * to + d] = levels[DIMS * from + d];
  }
  p.t.values[to] = p.t.values[from], p.t.errors[to] = p.t.errors[from], p.t.axes[to] = p.t.axes[from];
  p.flags[to] = p.flags[from], p.depths[to] = p.depths[from], p.nodeOf[to] = p.nodeOf[from];
}

// Raises the errors of regions by what their witnesses deviate; see tasks/pool/blame.ts.
extern "C" __global__ void blame(Pool p, const double* deviations, const double* spreads, const unsigned char* surprised,
                                 const double* missing, const unsigned char* axes, u32 who, double factor) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= p.count) return;
  const double off = fabs(deviations[i]);
  const double guilt = who == EVERYONE    ? 1
                       : who == SURPRISED ? (surprised[i] ? off : 0) + missing[i]
                                          : (off > LIMIT * spreads[i] ? off : 0);
  p.t.errors[i] += factor * guilt;
  if (guilt > 0 && who != EVERYONE) p.t.axes[i] = axes[i];
}
