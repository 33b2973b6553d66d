// Points of shifted lattices (random/lattice.ts) through a smooth map (tasks/smooth-map.ts), for sample-leaf.cu and
// several-leaf.cu. random-points.cu is its counterpart.
//
// A word of 32 bits times the number of bins is bin · 2^32 + the place in the bin: no conversion, no rounding. In a bin the map
// is x = e + s·(m + s·(b + s·a)), and its derivative is m + s·(2b + 3a·s). Edge and slope of both ends of a bin are read, and a and b
// are made of them, as tasks/smooth-map.ts does: a table of e, m, b and a would be twice as large. Edges and slopes lie in shared memory
// REPLICAS times, one copy for every REPLICAS-th lane: with 8 copies of 16 bytes each lane has its own banks, where
// lanes that read at random places would wait for each other.
//
// BIN_BITS: where the number of bins is a power of two, which; then products with it are shifts, and places of axes are constants. Otherwise 0.
// FOLDED: words go through the baker's transform.
// GUARDED: the last bin of an axis is so narrow that rounding may lead to its end and beyond (sample-layout.ts).

__device__ __forceinline__ double drawPoint(const SampleTask& t, const Piece& p, u32 i, const double* curves, double x[DIMS],
                                            u32 bin[DIMS]) {
#if BIN_BITS
  const u32 bins = 1u << BIN_BITS;
#else
  const u32 bins = t.bins;
#endif
  double jacobian = t.volume;
  u32 own = threadIdx.x % REPLICAS * sizeof(Two);
  asm volatile("" : "+r"(own));  // a compiler that knows the number builds addresses in one instruction more
#pragma unroll
  for (int d = 0; d < DIMS; d++) {
    u32 word = p.k[d] + i * t.lattice.steps[d];
    if (FOLDED) word = (word << 1) ^ (u32)((int)word >> 31);
#if BIN_BITS
    const u32 number = word >> (32 - BIN_BITS);
#else
    const u32 number = __umulhi(word, bins);
#endif
    const double s = __hiloint2double(0x41300000, word * bins) - t.lattice.corner;
    const Two* at = (const Two*)((const char*)curves + (own + number * (u32)(REPLICAS * sizeof(Two)))) + REPLICAS * d * (bins + 1);
    const Two low = at[0], high = at[REPLICAS];  // edge and slope
    const double width = __dsub_rn(high.first, low.first);
    const double a = __fma_rn(-2.0, width, __dadd_rn(low.second, high.second));
    const double b = __dsub_rn(__dsub_rn(width, low.second), a);
    const double slope = __fma_rn(s, a, b), rise = __fma_rn(s, slope, low.second);
    x[d] = __fma_rn(s, rise, low.first);
    if (GUARDED) x[d] = fmin(t.lattice.ends[d], x[d]);
    jacobian = __dmul_rn(jacobian, __fma_rn(s, __fma_rn(s, a, slope), rise));
  }
  return jacobian;
}

