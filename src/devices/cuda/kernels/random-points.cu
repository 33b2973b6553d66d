// Random points of an iteration, for sample-leaf.cu and several-leaf.cu. lattice-points.cu is its counterpart.

// The coordinates and bins of a sample; returns the Jacobian.
__device__ __forceinline__ double drawPoint(const SampleTask& t, const Piece& p, u32 i, const double* edges, double x[DIMS],
                                            u32 bin[DIMS]) {
  const u64 sample = p.start + i;
  const u32 edgesOf = t.bins + 1;
  double jacobian = t.volume;
#pragma unroll
  for (int g = 0; g < PHILOX_CALLS; g++) {
    u32 c[4] = {(u32)sample, (u32)g + ((u32)(sample >> 32) << 8), t.iteration, t.stream};
    philox(c, t.keys);
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int d = 4 * g + j;
      if (d >= DIMS) break;
      // k + u is exact, and the product rounds once: every device finds the same bin
      const double s = __dmul_rn(place(p, d, c[j]), t.scales[d]);
      const double shifted = __dadd_rd(s, 0x1p52);  // rounded down, so the bin is in the low bits
      bin[d] = (u32)__double2loint(shifted);
      const double* e = edges + d * edgesOf + bin[d];
      const double width = __dsub_rn(e[1], e[0]);
      x[d] = __dadd_rn(e[0], __dmul_rn(__dsub_rn(s, shifted - 0x1p52), width));
      jacobian = __dmul_rn(jacobian, width);
    }
  }
  return jacobian;
}

