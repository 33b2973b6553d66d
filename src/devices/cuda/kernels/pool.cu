// The pool of regions of a run of PAGANI, in the card's memory: a step selects regions by their errors, halves them,
// evaluates the halves (regions.cu) and adds everything up; see methods/cubature/pool.ts for the same in lists of the host,
// and borders.ts for the look across borders.
//
// DEEP, WIDER and BESIDE are those of borders.ts.
//
// Errors are compared by buckets, a sixteenth of an octave each: which regions are above a threshold depends on counts
// alone, so that the order of threads does not show. Sums over regions are added in one order.

#define SHIFT 16
#define BUCKETS 32768
#define SETTLED 1  // no region beside it is much wider
#define CLEARED 2  // smaller ones beside it have looked at it
#define STUCK 4    // too small to be halved

__device__ __forceinline__ u32 bucketOf(double x) { return (u32)(__double_as_longlong(x) >> 32) >> SHIFT; }
__device__ __forceinline__ double edgeOf(u32 bucket) { return __longlong_as_double((long long)bucket << (32 + SHIFT)); }

__device__ __forceinline__ bool isOpen(const Pool& p, u64 i) { return !(p.flags[i] & STUCK); }

__device__ __forceinline__ bool isDeep(const Pool& p, u64 i) {
  return p.depths[i] >= DEEP && ldexp(1.0, p.depths[i] - DEEP) >= (double)p.count && p.t.values[i] != 0 &&
         !(p.flags[i] & SETTLED);
}

// Which regions go to the list: those with large errors, or those that know too little.
__device__ __forceinline__ bool isListed(const Pool& p, u64 i, double threshold) {
  if (p.look) return p.best[i] != 0 && (double)p.around[i] * p.unit > fabs(p.t.values[i]) + p.t.errors[i];
  return isOpen(p, i) && p.t.errors[i] >= threshold;
}

__device__ __forceinline__ void countBuckets(const Pool& p, u64 first, u64 step) {
  for (u64 i = first; i < p.count; i += step) {
    const double x = p.look ? (isDeep(p, i) ? fabs(p.t.values[i]) : 0) : (isOpen(p, i) ? p.t.errors[i] : 0);
    if (x > 0) atomicAdd(p.buckets + bucketOf(x), 1u);
  }
}

// By one block: the bucket down to which (errors) or up to which (values of small regions) counts times edges add up to
// `part`. Threads take 32 buckets each, in the order of the search.
__device__ void chooseBucket(const Pool& p, double part) {
  __shared__ double tops[WIDTH + 1];
  __shared__ u64 many[WIDTH + 1];
  const u32 k = threadIdx.x;
  double own = 0;
  u64 n = 0;
  for (u32 j = 0; j < 32; j++) {
    const u32 b = p.look ? 32 * k + j : BUCKETS - 1 - 32 * k - j;
    if (p.buckets[b]) own += p.buckets[b] * (p.look ? edgeOf(b + 1) : edgeOf(b));
    n += p.buckets[b];
  }
  if (k == 0) tops[0] = 0, many[0] = 0;
  tops[k + 1] = own;
  many[k + 1] = n;
  __syncthreads();
  if (k == 0)
    for (u32 i = 1; i <= WIDTH; i++) tops[i] += tops[i - 1], many[i] += many[i - 1];
  __syncthreads();
  const bool all = !(tops[WIDTH] >= part);
  if (all ? k == 0 : tops[k] < part && tops[k + 1] >= part) {
    double sum = tops[k];
    u64 wanted = many[k];
    u32 b = 0;
    for (u32 j = 0; j < 32; j++) {
      b = p.look ? 32 * k + j : BUCKETS - 1 - 32 * k - j;
      if (p.buckets[b]) sum += p.buckets[b] * (p.look ? edgeOf(b + 1) : edgeOf(b));
      wanted += p.buckets[b];
      if (sum >= part) break;
    }
    // when all of it is not enough: every error that is not 0, no small region
    p.found->threshold = all ? (p.look ? edgeOf(0x7ff0) : 4.9406564584124654e-324) : edgeOf(b);
    p.found->wanted = all ? many[WIDTH] : wanted;
  }
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(WIDTH) bucket(Pool p) {
  countBuckets(p, (u64)blockIdx.x * WIDTH + threadIdx.x, (u64)gridDim.x * WIDTH);
}

extern "C" __global__ void __launch_bounds__(WIDTH) choose(Pool p, double part) { chooseBucket(p, part); }

// Few regions: all of the selection by one block. `part` < 0 takes every region.
extern "C" __global__ void __launch_bounds__(WIDTH) selectFew(Pool p, double part) {
  if (part >= 0) {
    for (u32 b = threadIdx.x; b < BUCKETS; b += WIDTH) p.buckets[b] = 0;
    __syncthreads();
    countBuckets(p, threadIdx.x, WIDTH);
    __syncthreads();
    chooseBucket(p, part);
  }
  const double threshold = part < 0 ? 0 : ((volatile Found*)p.found)->threshold;
  u64 done = 0, all;
  for (u64 base = 0; base < p.count; base += WIDTH) {
    const u64 i = base + threadIdx.x;
    const bool listed = i < p.count && isListed(p, i, threshold);
    const u64 at = done + before(listed, all);
    if (listed) p.list[at] = (u32)i;
    done += all;
  }
  if (threadIdx.x == 0) p.found->wanted = done;
}

// Many: how many of each block of regions are listed, where they go, and the list.
extern "C" __global__ void __launch_bounds__(WIDTH) listCounts(Pool p) {
  const u64 i = (u64)blockIdx.x * WIDTH + threadIdx.x;
  u64 all;
  before(i < p.count && isListed(p, i, p.threshold), all);
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
  if (threadIdx.x == 0) p.found->wanted = done;
}

extern "C" __global__ void __launch_bounds__(WIDTH) listWrite(Pool p) {
  const u64 i = (u64)blockIdx.x * WIDTH + threadIdx.x;
  const bool listed = i < p.count && isListed(p, i, p.threshold);
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
    centres[d * p.stride + i] = p.t.low[d] + (2 * (rest & ((1ull << p.rootLevel) - 1)) + 1) * half;
    levels[d * p.stride + i] = p.rootLevel;
    rest >>= p.rootLevel;
  }
  p.depths[i] = p.rootLevel * DIMS;
  p.flags[i] = 0;
  p.child[i] = 0;
  p.nodeOf[i] = p.regionOf[i] = (u32)i;
}

// Both halves of each region of the list: one in its place, one at the end.
extern "C" __global__ void halve(Pool p) {
  const u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= p.n) return;
  const u64 own = p.list[k], other = p.count + k;
  const u32 axis = p.t.axes[own];
  double* centres = (double*)p.t.centres;
  unsigned char* levels = (unsigned char*)p.t.levels;
  for (int d = 0; d < DIMS; d++) {
    const u32 level = levels[d * p.stride + own] + (d == axis);
    const double centre = centres[d * p.stride + own];
    const double offset =
        d == axis ? __dmul_rn((p.t.high[d] - p.t.low[d]) / 2, __longlong_as_double((long long)(1023 - level) << 52)) : 0;
    levels[d * p.stride + own] = levels[d * p.stride + other] = level;
    centres[d * p.stride + own] = centre - offset;
    centres[d * p.stride + other] = centre + offset;
  }
  p.parentValues[k] = p.t.values[own];
  p.parentErrors[k] = p.t.errors[own];
  p.depths[own] = p.depths[other] = p.depths[own] + 1;
  p.flags[own] = p.flags[other] = 0;
  const u32 node = p.nodeOf[own], left = (u32)(p.nodes + 2 * k);
  p.child[node] = left;
  p.split[node] = axis;
  p.child[left] = p.child[left + 1] = 0;
  p.nodeOf[own] = left, p.nodeOf[other] = left + 1;
  p.regionOf[left] = (u32)own, p.regionOf[left + 1] = (u32)other;
}

// Halves have to agree with the whole; see methods/cubature/error.ts.
extern "C" __global__ void twoLevel(Pool p) {
  const u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= p.n) return;
  const u64 both[2] = {p.list[k], p.count + k};
  double* errors = p.t.errors;
  const double difference =
      p.weight * fabs(p.t.values[both[0]] + p.t.values[both[1]] - p.parentValues[k]);
  const double sum = errors[both[0]] + errors[both[1]];
  const double factor = sum > 0 ? 1 + 2 * difference / sum : 1;
  for (int h = 0; h < 2; h++) {
    const u64 i = both[h];
    const double value = p.t.values[i], error = errors[i] * factor + difference;
    errors[i] = error;
    if (value > error) p.found->positive = 1;
    if (-value > error) p.found->negative = 1;
    const u32 axis = p.t.axes[i], level = p.t.levels[axis * p.stride + i] + 1;
    const double centre = p.t.centres[axis * p.stride + i];
    const double quarter = (p.t.high[axis] - p.t.low[axis]) / 8 * ldexp(1.0, -(int)level);
    if (level >= 250 || centre + quarter == centre) {
      p.flags[i] |= STUCK;
      atomicAdd(&p.found->stuckCount, 1ull);
    }
  }
}

// Sums over a block of six numbers each; the first thread has them.
__device__ void addUp(double* a) {
  __shared__ double tree[6][32];
  for (int j = 0; j < 6; j++) {
    for (int step = 16; step > 0; step /= 2) a[j] += __shfl_down_sync(0xffffffffu, a[j], step);
    if (threadIdx.x % 32 == 0) tree[j][threadIdx.x / 32] = a[j];
  }
  __syncthreads();
  if (threadIdx.x == 0)
    for (int j = 0; j < 6; j++) {
      a[j] = 0;
      for (u32 w = 0; w < blockDim.x / 32; w++) a[j] += tree[j][w];
    }
  __syncthreads();
}

// Over all regions, and over those that were halved: `count` is the number before they were.
extern "C" __global__ void __launch_bounds__(256) totals(Pool p) {
  __shared__ bool last;
  double a[6] = {0, 0, 0, 0, 0, 0};
  const u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x, step = (u64)gridDim.x * blockDim.x;
  for (u64 i = first; i < p.count + p.n; i += step) {
    const double value = p.t.values[i], error = p.t.errors[i];
    a[0] += value, a[1] += error, a[2] += fabs(value);
    if (p.flags[i] & STUCK) a[3] += error;
  }
  for (u64 k = first; k < p.n; k += step)
    a[4] += p.parentErrors[k], a[5] += p.t.errors[p.list[k]] + p.t.errors[p.count + k];
  addUp(a);
  if (threadIdx.x == 0) {
    for (int j = 0; j < 6; j++) p.sums[6 * (u64)blockIdx.x + j] = a[j];
    __threadfence();
    last = atomicAdd(&p.found->ended, 1ull) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int j = 0; j < 6; j++) a[j] = 0;
  for (u32 b = threadIdx.x; b < gridDim.x; b += blockDim.x)
    for (int j = 0; j < 6; j++) a[j] += ((volatile double*)p.sums)[6 * (u64)b + j];
  addUp(a);
  if (threadIdx.x != 0) return;
  Found* f = p.found;
  f->value = a[0], f->error = a[1], f->absolute = a[2], f->stuck = a[3], f->before = a[4], f->after = a[5];
  f->ended = 0;
}

// The region that a point is in.
__device__ u32 regionAt(const Pool& p, const double* x) {
  double low[DIMS], high[DIMS];
  u64 node = 0, stride = 1;
  const double parts = ldexp(1.0, p.rootLevel);
  for (int d = 0; d < DIMS; d++) {
    const double width = (p.t.high[d] - p.t.low[d]) / parts;
    const double k = fmin(parts - 1, fmax(0.0, floor((x[d] - p.t.low[d]) / width)));
    low[d] = p.t.low[d] + k * width;
    high[d] = p.t.low[d] + (k + 1) * width;
    node += (u64)k * stride;
    stride *= (u64)parts;
  }
  while (p.child[node] != 0) {
    const u32 d = p.split[node];
    const double middle = low[d] + (high[d] - low[d]) / 2;
    // a range may run backwards
    const bool upper = (x[d] < middle) == (high[d] < low[d]);
    if (upper) low[d] = middle;
    else high[d] = middle;
    node = p.child[node] + upper;
  }
  return p.regionOf[node];
}

// Small regions look behind their faces. First they leave with each wide region behind one how much they have; then those that
// have most there put their faces down, the first one of them.
extern "C" __global__ void faces(Pool p, u32 again) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= p.count || !isDeep(p, i) || fabs(p.t.values[i]) < p.threshold) return;
  const double own = fabs(p.t.values[i]);
  double x[DIMS];
  bool wide = false;
  for (int side = 0; side < 2 * DIMS; side++) {
    const int axis = side / 2;
    bool inside = true;
    for (int d = 0; d < DIMS; d++) {
      const double half = (p.t.high[d] - p.t.low[d]) / 2 * ldexp(1.0, -(int)p.t.levels[d * p.stride + i]);
      const double offset = d == axis ? (side % 2 ? 1 + BESIDE : -1 - BESIDE) : BESIDE;
      x[d] = p.t.centres[d * p.stride + i] + offset * half;
      if (d == axis) inside = (x[d] - p.t.low[d]) * (x[d] - p.t.high[d]) < 0;
    }
    if (!inside) continue;
    const u32 home = regionAt(p, x);
    if (p.flags[home] & CLEARED) continue;
    bool wider = false;
    for (int d = 0; d < DIMS; d++)
      wider |= (int)p.t.levels[d * p.stride + i] - (int)p.t.levels[d * p.stride + home] >= WIDER;
    if (!wider) continue;
    wide = true;
    const u64 bits = (u64)__double_as_longlong(own);
    if (again) {
      if (p.best[home] == bits) atomicMin(p.face + home, i * 2 * DIMS + side);
    } else {
      atomicMax(p.best + home, bits);
      atomicAdd(p.around + home, (u64)ceil(own / p.unit));
    }
  }
  if (again && !wide) p.flags[i] |= SETTLED;
}

struct Images {
  u64 count;
  double* centres;  // `count` numbers an axis
  unsigned char* levels;
  const double* values;
  u32 looks;        // without means to look, each image has as much as what it is the image of
};

// The image of a small region behind its face, in the wide one; along an axis on which that is cut more finely, all of it.
extern "C" __global__ void mirror(Pool p, Images m) {
  const u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= m.count) return;
  const u64 home = p.list[k], i = p.face[home] / (2 * DIMS);
  const int side = (int)(p.face[home] % (2 * DIMS));
  for (int d = 0; d < DIMS; d++) {
    const u32 level = p.t.levels[d * p.stride + i], own = p.t.levels[d * p.stride + home];
    const double width = (p.t.high[d] - p.t.low[d]) * ldexp(1.0, -(int)level);
    const double centre = p.t.centres[d * p.stride + i] + (d == side / 2 ? (side % 2 ? width : -width) : 0);
    m.centres[d * m.count + k] = own > level ? p.t.centres[d * p.stride + home] : centre;
    m.levels[d * m.count + k] = max(level, own);
  }
}

extern "C" __global__ void raise(Pool p, Images m) {
  const u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= m.count) return;
  const u64 home = p.list[k], i = p.face[home] / (2 * DIMS);
  const double ratio = m.looks ? fabs(m.values[k] / p.t.values[i]) : 1;
  const double missing = ratio * ((double)p.around[home] * p.unit) - fabs(p.t.values[home]) - p.t.errors[home];
  if (missing > 0) p.t.errors[home] += missing;
  else p.flags[home] |= CLEARED;
}
