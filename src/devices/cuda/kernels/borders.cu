// The look across borders of the pool's regions; see tasks/pool/borders.ts, whose DEEP, WIDER and BESIDE these are, and
// tasks/pool/tree.ts for the way from a region to the regions behind its faces.
//
// A place on an axis is a fraction of the box, in the upper bits of a 64-bit word: bit n from the top tells which half of
// the halving of level n contains the place. The lowest 8 bits hold the region's level instead.

#define PLACE_BITS 56
// the finest level of regions whose places are words: of 64 bits, 8 hold the level and 16 the place inside the region
#define FINEST 40
#define ASIDE ((u64)(BESIDE * 9223372036854775808.0))
#define NONE 0xffffffffu     // there is no region, or it is not wide
#define UNKNOWN 0xfffffffeu  // levels are too fine for words

// A node of the tree: a leaf, or see innerNode in types.cu.
__device__ __forceinline__ bool isLeaf(u64 node) { return node >> 32 == 0; }
__device__ __forceinline__ u32 axisOf(u64 node) { return (u32)(node >> 32 & 255) - 1; }
__device__ __forceinline__ u32 levelOf(u64 node) { return (u32)(node >> 40); }

// For the region of each thread: its place on each axis; for each face, the node at which the way to the regions behind it
// leaves the way to the region, and the number of axes along which regions there can be much wider.
struct Columns {
  u64 places[DIMS][LOOKERS];
  u32 starts[2 * DIMS][LOOKERS];
  unsigned char open[2 * DIMS][LOOKERS];
};

// Fills a thread's columns on the way from the root to its region, one way for all faces. Returns false if the levels are
// too fine for words.
__device__ __forceinline__ bool locate(const Pool& p, u64 i, Columns& c) {
  const u32 t = threadIdx.x;
  u32 open = 0;
  u64 node = 0;
#pragma unroll 2
  for (int d = 0; d < DIMS; d++) {
    const u32 level = p.t.levels[DIMS * i + d];
    if (level > FINEST) return false;
    const double part = (p.t.centres[DIMS * i + d] - p.t.low[d]) / (p.t.high[d] - p.t.low[d]);
    const u64 cell = (u64)(part * (double)(1ull << level));
    const u64 place = ((2 * cell + 1) << (63 - level)) + (ASIDE >> level);
    c.places[d][t] = (place & ~255ull) | level;
    open += level >= p.rootLevel + WIDER;
    node += cell >> (level - p.rootLevel) << (p.rootLevel * d);
  }
#pragma unroll 2
  for (int d = 0; d < DIMS; d++) {
    const u64 step = 1ull << (p.rootLevel * d), last = (1ull << p.rootLevel) - 1, at = node >> (p.rootLevel * d) & last;
    c.starts[2 * d][t] = at == 0 ? NONE : (u32)(node - step);
    c.starts[2 * d + 1][t] = at == last ? NONE : (u32)(node + step);
    c.open[2 * d][t] = c.open[2 * d + 1][t] = open;
  }
  const u32 own = p.nodeOf[i];
  while (node != own) {
    const u64 word = p.tree[node];
    if (isLeaf(word)) return false;
    const u32 d = axisOf(word), level = levelOf(word);
    const u64 place = c.places[d][t];
    const u32 upper = place >> (63 - level) & 1;
    open -= level + WIDER == (place & 255);
    c.starts[2 * d + 1 - upper][t] = (u32)word + 1 - upper;
    c.open[2 * d + 1 - upper][t] = open;
    node = (u32)word + upper;
  }
  return true;
}

// The region behind a face if it is much wider along an axis. The way down ends as soon as no region below can be much
// wider: most ways end at once, and none goes down to regions as small as the one that looks.
__device__ __forceinline__ u32 wideBehind(const Pool& p, const Columns& c, int side) {
  const u32 t = threadIdx.x, axis = side / 2;
  u32 node = c.starts[side][t], open = c.open[side][t];
  if (node == NONE || open == 0) return NONE;
  const u32 own = (u32)(c.places[axis][t] & 255);
  const u64 half = 1ull << (63 - own), centre = c.places[axis][t] & (0 - half), far = half + (ASIDE >> own);
  const u64 behind = ((side % 2 ? centre + far : centre - far) & ~255ull) | own;
  for (;;) {
    const u64 word = p.tree[node];
    if (isLeaf(word)) return (u32)word;
    const u32 d = axisOf(word), level = levelOf(word);
    if (level >= PLACE_BITS) return UNKNOWN;
    const u64 place = d == axis ? behind : c.places[d][t];
    open -= level + WIDER == (place & 255);
    if (open == 0) return NONE;
    node = (u32)word + (u32)(place >> (63 - level) & 1);
  }
}

// The same from the root, with float64 coordinates instead of words: for levels of any fineness, but several times slower.
__device__ __forceinline__ u32 wideBehindFine(const Pool& p, u64 i, int side) {
  double x[DIMS], low[DIMS], high[DIMS];
  u64 node = 0, stride = 1;
  const double parts = ldexp(1.0, p.rootLevel);
#pragma unroll 1
  for (int d = 0; d < DIMS; d++) {
    const double range = p.t.high[d] - p.t.low[d], width = range / parts;
    const double half = range / 2 * ldexp(1.0, -(int)p.t.levels[DIMS * i + d]);
    const double offset = d == side / 2 ? (side % 2 ? 1 + BESIDE : -1 - BESIDE) : BESIDE;
    x[d] = p.t.centres[DIMS * i + d] + offset * half;
    if (d == side / 2 && (x[d] - p.t.low[d]) * (x[d] - p.t.high[d]) >= 0) return NONE;
    double k = floor((x[d] - p.t.low[d]) / width);
    // where x is tiny beside `low`, x − low rounds to −low, and k may be one too large
    if (x[d] < p.t.low[d] + k * width) k--;
    k = fmin(parts - 1, fmax(0.0, k));
    low[d] = p.t.low[d] + k * width;
    high[d] = p.t.low[d] + (k + 1) * width;
    node += (u64)k * stride;
    stride *= (u64)parts;
  }
  u64 word = p.tree[node];
  for (; !isLeaf(word); word = p.tree[node]) {
    const u32 d = axisOf(word);
    const double middle = low[d] + (high[d] - low[d]) / 2;
    const bool upper = x[d] >= middle;
    if (upper) low[d] = middle;
    else high[d] = middle;
    node = (u64)(u32)word + upper;
  }
#pragma unroll 1
  for (int d = 0; d < DIMS; d++)
    if (p.t.levels[DIMS * i + d] >= p.t.levels[DIMS * (u64)(u32)word + d] + WIDER) return (u32)word;
  return NONE;
}

// A small region looks behind its faces. The first launch notes one bit per face with a wide region behind it, and the
// second one looks only at these; a region without any is settled at once. CLEARED flags do not change between the launches.
__device__ __forceinline__ void lookBehind(const Pool& p, u64 i, bool again, Columns& c) {
  const double own = fabs(p.t.values[i]);
  const u64 bits = (u64)__double_as_longlong(own);
  const u32 known = again ? p.list[i] : 0xffffffffu;
  const bool located = locate(p, i, c);
  u32 wide = 0;
#pragma unroll 1
  for (int side = 0; side < 2 * DIMS; side++) {
    if (!(known >> side % 32 & 1)) continue;
    u32 home = located ? wideBehind(p, c, side) : UNKNOWN;
    if (home == UNKNOWN) home = wideBehindFine(p, i, side);
    if (home == NONE || p.flags[home] & CLEARED) continue;
    wide |= 1u << side % 32;
    if (again) {
      if (p.best[home] == bits) atomicMin(p.face + home, i * 2 * DIMS + side);
    } else {
      atomicMax(p.best + home, bits);
      atomicAdd(aroundOf(p, home), (u64)rint(own / p.unit));
      const int bits = VOLUME_BITS + (int)p.depths[home] - (int)p.depths[i];
      atomicAdd(aroundOf(p, home) + 1, 1ull << max(0, min(bits, 50)));
    }
  }
  if (again) return;
  if (wide) p.list[i] = wide;
  else p.flags[i] |= SETTLED;
}

// Small regions look behind their faces. In the first launch they add their |value| and their volume to the sums of each wide region behind
// a face, and to its maximum; in the second, the neighbours with that maximum write their face there, and the smallest one
// stays. A block has at most SHARE regions and first collects the small ones among them: often they are few, and warps
// would be almost empty.
extern "C" __global__ void __launch_bounds__(LOOKERS) faces(Pool p, u32 again) {
  __shared__ Columns columns;
  __shared__ unsigned short small[SHARE];
  __shared__ u32 count;
  const u64 share = (p.count + gridDim.x - 1) / gridDim.x, first = share * blockIdx.x;
  const double threshold = p.found->threshold;  // as `choose` has left it
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  for (u64 j = threadIdx.x; j < share && first + j < p.count; j += LOOKERS)
    if (isDeep(p, first + j) && fabs(p.t.values[first + j]) >= threshold)
      small[atomicAdd(&count, 1u)] = (unsigned short)j;
  __syncthreads();
  for (u32 j = threadIdx.x; j < count; j += LOOKERS) lookBehind(p, first + small[j], again, columns);
}

// The mirror image of a small region behind its face, inside the wide region; along an axis on which the wide region is
// narrower than the small one, the image has the wide region's extent. Of the image 2^-thin is taken, next to the face.
extern "C" __global__ void mirror(Pool p, Images m) {
  const u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= m.count) return;
  const u64 home = p.list[k], i = p.face[home] / (2 * DIMS);
  const int side = (int)(p.face[home] % (2 * DIMS));
#pragma unroll 2
  for (int d = 0; d < DIMS; d++) {
    const u32 level = p.t.levels[DIMS * i + d], own = p.t.levels[DIMS * home + d];
    const u32 whole = max(level, own), part = whole + (d == side / 2 ? m.thin : 0);
    const double range = p.t.high[d] - p.t.low[d], shift = d == side / 2 ? (side % 2 ? range : -range) : 0;
    const double centre = own > level ? p.t.centres[DIMS * home + d] : p.t.centres[DIMS * i + d] + shift * ldexp(1.0, -(int)level);
    m.centres[d * m.count + k] = centre - shift * (ldexp(1.0, -(int)whole) - ldexp(1.0, -(int)part)) / 2;
    m.levels[d * m.count + k] = part;
  }
}

extern "C" __global__ void raise(Pool p, Images m) {
  const u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= m.count) return;
  const u64 home = p.list[k], i = p.face[home] / (2 * DIMS);
  const double ratio = m.looks ? fabs(m.values[k] / p.t.values[i]) : 1;
  const double missing = ratio * ((double)aroundOf(p, home)[0] * p.unit) - believed(p, home, m.thin);
  if (!(missing > 0)) {
    p.flags[home] |= CLEARED;
    return;
  }
  p.t.errors[home] += missing;
  p.flags[home] &= ~CLEARED;
  if (m.thin) p.t.axes[home] = (unsigned char)(p.face[home] % (2 * DIMS) / 2);
}

