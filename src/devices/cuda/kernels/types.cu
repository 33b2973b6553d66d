// Definitions for kernels over pools of regions. This text stands in front of regions.cu, which contains the integrand, and
// of pool.cu and borders.cu, which do not: they are compiled once per number of dimensions.

// flags of a region
#define SETTLED 1  // no region beside it is much wider
#define CLEARED 2  // smaller regions beside it have looked at it and found nothing missing
#define STUCK 4    // too small to be halved

// A node of the tree of halvings: a leaf is the number of its region; another node has its first child in the lower word,
// and axis and level in the upper one.
__device__ __forceinline__ u64 innerNode(u32 child, u32 axis, u32 level) {
  return (u64)(level << 8 | (axis + 1)) << 32 | child;
}

// Whether the centres of a region's halves along an axis differ from its own; see tasks/pool/regions.ts.
__device__ __forceinline__ bool canHalve(const RegionTask& t, u64 i, u32 axis) {
  const u32 level = t.levels[DIMS * i + axis] + 1;
  const double centre = t.centres[DIMS * i + axis];
  const double quarter = (t.high[axis] - t.low[axis]) / 8 * ldexp(1.0, -(int)level);
  return level < 250 && centre + quarter != centre;
}

#ifdef DEEP
// Whether a region is much smaller than in an even division and may have wide neighbours.
__device__ __forceinline__ bool isDeep(const Pool& p, u64 i) {
  const bool small = p.depths[i] >= DEEP + 64 - __clzll(p.count - 1);
  return small & (p.t.values[i] != 0) & !(p.flags[i] & SETTLED);
}

// Of a region that small ones look at: Σ |values| of these, in units of the launch; Σ of their volumes, as parts of its own, in 2^-VOLUME_BITS.
#define VOLUME_BITS 40
__device__ __forceinline__ u64* aroundOf(const Pool& p, u64 home) { return p.around + 2 * home; }

// What a wide region is believed to have where 2^-thin of all images of its neighbours are, at most; see tasks/pool/borders.ts.
__device__ __forceinline__ double believed(const Pool& p, u64 home, u32 thin) {
  const double part = MOST_UNEVEN * (double)aroundOf(p, home)[1] * ldexp(1.0, -VOLUME_BITS - (int)thin);
  return fmin(1.0, part) * fabs(p.t.values[home]) + p.t.errors[home];
}
#endif
