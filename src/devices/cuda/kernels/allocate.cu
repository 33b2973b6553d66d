// Samples per cube by variance: the same number for every cube, and a share of the rest in proportion to variance^(β/2);
// see tasks/strata.ts, whose numbers these are to the bit. `integrand` is the power. Then the kernels compute where each
// cube's pieces and samples begin.
//
// Shares are added in groups of 32, then groups of 32 such sums, and so on, one thread per group; before, warps read them
// into a tile of shared memory. Few cubes are done by one block in one launch; for many cubes each step is a kernel.

#define ROWS 4  // groups per warp

typedef double Tile[ROWS][33];

__device__ __forceinline__ void findLargest(const Allocate& t, u32 first, u32 stride) {
  u64 most = 0;
  for (u32 i = first; i < t.cubes; i += stride) most = max(most, (u64)__double_as_longlong(t.variances[i]));
  for (int step = 16; step > 0; step /= 2) most = max(most, __shfl_down_sync(0xffffffffu, most, step));
  if (threadIdx.x % 32 == 0) atomicMax(t.largest, most);
}

// The sum of a row of a tile, added in the order of the row.
__device__ __forceinline__ double addRow(const Tile& tile) {
  double sum = 0;
  for (u32 j = 0; j < 32; j++) sum = __dadd_rn(sum, tile[threadIdx.x % 32][j]);
  return sum;
}

// A warp computes the shares of ROWS groups of cubes, from cube `first` on, and their sums.
__device__ __forceinline__ void shareGroups(const Allocate& t, u32 first, double most, Tile& tile) {
  const u32 lane = threadIdx.x % 32;
  for (u32 r = 0; r < ROWS; r++) {
    const u32 i = first + 32 * r + lane;
    const double x[1] = {i < t.cubes ? __ddiv_rn(t.variances[i], most) : 0};
    const double share = integrand(x, t.params);
    tile[r][lane] = i < t.cubes ? share : 0;
    if (i < t.cubes) t.shares[i] = share;
  }
  __syncwarp();
  if (lane < ROWS && first + 32 * lane < t.cubes) t.groups[first / 32 + lane] = addRow(tile);
  __syncwarp();
}

// One block adds groups of groups until one number is left.
__device__ __forceinline__ void addGroups(const Allocate& t, Tile* tiles) {
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (u32 n = (t.cubes + 31) / 32; n > 1; n = (n + 31) / 32)
    for (u32 base = 0; base < n; base += ROWS * WIDTH) {
      const u32 first = base + 32 * ROWS * warp;
      for (u32 r = 0; r < ROWS; r++) {
        const u32 i = first + 32 * r + lane;
        tiles[warp][r][lane] = i < n ? t.groups[i] : 0;
      }
      __syncthreads();  // all warps have read before the first ones overwrite
      if (lane < ROWS && first + 32 * lane < n) t.groups[first / 32 + lane] = addRow(tiles[warp]);
      __syncthreads();
    }
  if (threadIdx.x == 0) *t.total = t.groups[0];
}

__device__ __forceinline__ u32 countOf(const Allocate& t, u32 i, double most, double total) {
  return t.least + (u32)floor(most == 0 ? t.rest / t.cubes : __dmul_rn(t.shares[i], __ddiv_rn(t.rest, total)));
}

// Writes groupStarts (first piece, cube) of all groups of the task that begin in this cube; the last cube also writes those
// behind it.
__device__ __forceinline__ void markGroups(const Allocate& t, u32 i) {
  const u32 n = t.counts[i], pieces = t.firstPiece[i];
  const u64 first = (u64)t.firstSample[i], size = 1ull << t.groupBits;
  const bool last = i + 1 == t.cubes;
  for (u64 group = (first + size - 1) >> t.groupBits; group <= t.groupCount; group++) {
    const u64 sample = group << t.groupBits;
    if (sample >= first + n && !last) break;
    t.groupStarts[2 * group] = pieces + (sample >= first + n ? piecesOf(n) : pieceFrom(n, (u32)(sample - first)));
    t.groupStarts[2 * group + 1] = i;
  }
}

// All steps by one block.
extern "C" __global__ void __launch_bounds__(WIDTH) allocate(Allocate t) {
  __shared__ Tile tiles[WIDTH / 32];
  if (threadIdx.x == 0) *t.largest = 0;
  __syncthreads();
  findLargest(t, threadIdx.x, WIDTH);
  __syncthreads();
  const double most = __longlong_as_double(*(volatile u64*)t.largest);
  if (most != 0) {
    const u32 warp = threadIdx.x / 32;
    for (u32 base = 0; base < t.cubes; base += ROWS * WIDTH) shareGroups(t, base + 32 * ROWS * warp, most, tiles[warp]);
    __syncthreads();
    addGroups(t, tiles);
    __syncthreads();
  }
  const double total = most == 0 ? 1 : *(volatile double*)t.total;
  u64 samples = 0, pieces = 0, all;
  for (u32 base = 0; base < t.cubes; base += WIDTH) {
    const u32 i = base + threadIdx.x;
    const u32 n = i < t.cubes ? countOf(t, i, most, total) : 0;
    const u64 first = samples + before(n, all);
    if (i < t.cubes) t.counts[i] = n, t.firstSample[i] = (double)first;
    samples += all;
  }
  for (u32 base = 0; base < t.cubes; base += WIDTH) {
    const u32 i = base + threadIdx.x;
    const u64 first = pieces + before(i < t.cubes ? piecesOf(t.counts[i]) : 0, all);
    if (i < t.cubes) t.firstPiece[i] = (u32)first, markGroups(t, i);
    pieces += all;
  }
  if (threadIdx.x != 0) return;
  t.totals[0] = pieces, t.totals[1] = samples;
  t.firstPiece[t.cubes] = (u32)pieces;
}

extern "C" __global__ void largest(Allocate t) {
  findLargest(t, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
}

extern "C" __global__ void shares(Allocate t) {
  __shared__ Tile tiles[8];
  const u32 warp = threadIdx.x / 32;
  const double most = __longlong_as_double(*t.largest);
  if (most != 0) shareGroups(t, 32 * ROWS * (8 * blockIdx.x + warp), most, tiles[warp]);
}

extern "C" __global__ void __launch_bounds__(WIDTH) total(Allocate t) {
  __shared__ Tile tiles[WIDTH / 32];
  addGroups(t, tiles);
}

extern "C" __global__ void __launch_bounds__(WIDTH) counts(Allocate t) {
  const u32 i = blockIdx.x * WIDTH + threadIdx.x;
  const u32 n = i < t.cubes ? countOf(t, i, __longlong_as_double(*t.largest), *t.total) : 0;
  u64 all;
  const u64 first = before(n, all);
  if (i < t.cubes) t.counts[i] = n, t.firstSample[i] = (double)first;
  if (threadIdx.x == 0) t.blocks[blockIdx.x] = all;
}

// One block computes where the blocks of cubes begin; the total goes to totals[0] for pieces, totals[1] for samples.
extern "C" __global__ void __launch_bounds__(WIDTH) starts(Allocate t, u32 which) {
  const u32 blocks = (t.cubes + WIDTH - 1) / WIDTH;
  u64 done = 0, all;
  for (u32 base = 0; base < blocks; base += WIDTH) {
    const u32 b = base + threadIdx.x;
    const u64 first = done + before(b < blocks ? t.blocks[b] : 0, all);
    if (b < blocks) t.blocks[b] = first;
    done += all;
  }
  if (threadIdx.x != 0) return;
  t.totals[which] = done;
  if (which == 0) t.firstPiece[t.cubes] = (u32)done;
}

extern "C" __global__ void __launch_bounds__(WIDTH) pieces(Allocate t) {
  const u32 i = blockIdx.x * WIDTH + threadIdx.x;
  if (i < t.cubes) t.firstSample[i] += (double)t.blocks[blockIdx.x];
  u64 all;
  const u64 first = before(i < t.cubes ? piecesOf(t.counts[i]) : 0, all);
  if (i < t.cubes) t.firstPiece[i] = (u32)first;
  __syncthreads();
  if (threadIdx.x == 0) t.blocks[blockIdx.x] = all;
}

extern "C" __global__ void __launch_bounds__(WIDTH) shift(Allocate t) {
  const u32 i = blockIdx.x * WIDTH + threadIdx.x;
  if (i < t.cubes) t.firstPiece[i] += (u32)t.blocks[blockIdx.x], markGroups(t, i);
}

// The sum over some pieces of a cube, which begin in one group, by a warp: all lanes have it.
__device__ __forceinline__ double addPieces(const double* pieces, u32 begin, u32 end) {
  double part = 0;
  if (end - begin <= MANY) {
    for (u32 p = begin; p < end; p++) part = __dadd_rn(part, pieces[p]);
    return part;
  }
#pragma unroll 4
  for (u32 p = begin + threadIdx.x % 32; p < end; p += 32) part = __dadd_rn(part, pieces[p]);
  for (int step = 16; step > 0; step /= 2) part += __shfl_xor_sync(0xffffffffu, part, step);
  return part;
}

// The first piece of a cube of n samples that begins at sample `at` of the iteration or later; `first` is the first sample of the cube.
__device__ __forceinline__ u32 pieceAt(u64 at, u64 first, u32 n) {
  return at <= first ? 0 : at >= first + n ? piecesOf(n) : pieceFrom(n, (u32)(at - first));
}

// Adds the pieces of each cube: first those of each group, then the sums of the groups in their order (tasks/sample.ts adds
// parts of an iteration in the same way). One lane adds a cube; all lanes of the warp add a cube with more than MANY pieces.
// Up to MANY pieces of a group are added one after the other; more are added as 32 sums over every 32nd piece, and these
// sums as a tree. sampling.ts does the same.
extern "C" __global__ void fold(Fold t) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const u32 n = i >= t.n ? 0 : t.count ? t.count : t.counts[i];
  const u64 at = i >= t.n ? 0 : t.each ? (u64)i * t.each : t.firstPiece[i];
  const u32 pieces = piecesOf(n);
  double sum = 0;
  if (pieces == 1) sum = t.pieces[at];
  const u64 first = pieces <= 1 ? 0 : t.count ? (u64)i * t.count : (u64)t.firstSample[i];
  if (pieces > 1 && pieces <= MANY) {
    double part = 0;
    u64 group = first >> t.groupBits;
    for (u32 p = 0; p < pieces; p++) {
      const u64 own = (first + startOf(n, p)) >> t.groupBits;
      if (own != group) sum = __dadd_rn(sum, part), part = 0, group = own;
      part = __dadd_rn(part, t.pieces[at + p]);
    }
    sum = __dadd_rn(sum, part);
  }
  for (u32 many = __ballot_sync(0xffffffffu, pieces > MANY); many; many &= many - 1) {
    const int of = __ffs(many) - 1;
    const u32 samples = __shfl_sync(0xffffffffu, n, of), count = piecesOf(samples);
    const u64 start = __shfl_sync(0xffffffffu, first, of), from = __shfl_sync(0xffffffffu, at, of);
    double total = 0;
    for (u32 begin = 0, end; begin < count; begin = end) {
      const u64 group = (start + startOf(samples, begin)) >> t.groupBits;
      end = pieceAt((group + 1) << t.groupBits, start, samples);
      total = __dadd_rn(total, addPieces(t.pieces + from, begin, end));
    }
    if (lane == of) sum = total;
  }
  if (i < t.n) t.cubes[i] = sum;
}

// The same where every cube has the same count and many pieces, as shifts of lattices have: a block per cube, a warp per group.
extern "C" __global__ void __launch_bounds__(WIDTH) foldLong(Fold t) {
  __shared__ double parts[WIDTH / 32];
  const u32 i = blockIdx.x, warps = blockDim.x / 32, warp = threadIdx.x / 32;
  const u64 first = (u64)i * t.count, last = (first + t.count - 1) >> t.groupBits;
  const double* pieces = t.pieces + (u64)i * t.each;
  double total = 0;
  for (u64 from = first >> t.groupBits; from <= last; from += warps) {
    const u64 group = from + warp;
    const u32 begin = pieceAt(group << t.groupBits, first, t.count), end = pieceAt((group + 1) << t.groupBits, first, t.count);
    const double part = addPieces(pieces, begin, end);
    if (threadIdx.x % 32 == 0) parts[warp] = part;
    __syncthreads();
    if (threadIdx.x == 0)
      for (u32 w = 0; w < warps && from + w <= last; w++) total = __dadd_rn(total, parts[w]);
    __syncthreads();
  }
  if (threadIdx.x == 0) t.cubes[i] = total;
}
