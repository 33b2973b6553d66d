// What kernels over pools of regions share. In front of regions.cu, which has the integrand, and of pool.cu and borders.cu,
// which have not: they are compiled once for a number of dimensions.

// flags of a region
#define SETTLED 1  // no region beside it is much wider
#define CLEARED 2  // smaller ones beside it have looked at it
#define STUCK 4    // too small to be halved

// A node of the tree of halvings: for a leaf its region, else its first child, and in the upper word the axis and the level.
__device__ __forceinline__ u64 innerNode(u32 child, u32 axis, u32 level) {
  return (u64)(level << 8 | (axis + 1)) << 32 | child;
}

#ifdef DEEP
// Whether a region is much smaller than in an even division, and may have wide ones beside it.
__device__ __forceinline__ bool isDeep(const Pool& p, u64 i) {
  const bool small = p.depths[i] >= DEEP + 64 - __clzll(p.count - 1);
  return small & (p.t.values[i] != 0) & !(p.flags[i] & SETTLED);
}
#endif
