
// What witness.cu and conclude.cu share: how many witnesses a region has, and sums over the lanes of a warp.

#define ALL 0xffffffffu
// MEANS numbers of a region: mean, unit and scale of its model; what its faces hide, along which axis; rungs evaluated
#define PAIRS (DIMS * (DIMS - 1) / 2)
#define MODELS (1 + 2 * NODES * DIMS + 4 * PAIRS)  // NODES: pairs of points of the model along an axis
#define KNOWN (MODELS + 2 * DIMS)                   // and a point near the middle of each face

// The number of witnesses that a region should have on average; with fewer than LEAST, it has LEAST by chance, or none.
__device__ __forceinline__ double wantedOf(const Witness& w, int depth) {
  return __dadd_rn(__dmul_rn(w.byVolume, ldexp(1.0, -depth)), w.each);
}
__device__ __forceinline__ double chanceOf(double wanted) { return fmin(1.0, wanted / LEAST); }
__device__ __forceinline__ u32 witnessesOf(double wanted) { return chanceOf(wanted) < 1 ? LEAST : (u32)ceil(wanted); }

// Whether a region has witnesses; otherwise the unit of its model is 0.
__device__ __forceinline__ bool isHeard(const Witness& w, u64 region, double chance) {
  if (chance >= 1) return true;
  u32 c[4] = {(u32)(w.first + region), 255, w.round, w.stream};  // group 255 belongs to no coordinate
  philox(c, w.keys);
  return (double)c[0] < chance * 0x1p32;
}

__device__ __forceinline__ double sumOf(double x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(ALL, x, step);
  return x;
}

__device__ __forceinline__ double largestOf(double x) {
  for (int step = 16; step > 0; step /= 2) x = fmax(x, __shfl_xor_sync(ALL, x, step));
  return x;
}
