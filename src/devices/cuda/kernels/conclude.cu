
// Before witness.cu: which regions have witnesses, where few of many have. After it: what witnesses say of each region, from the
// sums of their chunks, and over all regions. Both are compiled once, whatever is integrated.

extern "C" __global__ void listHeard(Witness w) {
  const u64 region = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (region >= w.count) return;
  int depth = 0;
  for (int d = 0; d < DIMS; d++) depth += w.t.levels[d * w.across + region * w.along];
  if (isHeard(w, region, chanceOf(wantedOf(w, depth)))) w.list[atomicAdd(w.heard, 1ull)] = (u32)region;
  else w.means[MEANS * region + 1] = 0;
}

__device__ __forceinline__ double scaledBy(double x, int n) {
#pragma unroll 1
  for (; n > 1000; n -= 1000) x *= 1.0715086071862673e301;
#pragma unroll 1
  for (; n < -1000; n += 1000) x *= 9.332636185032189e-302;
  return x * __longlong_as_double((long long)(n + 1023) << 52);
}

extern "C" __global__ void __launch_bounds__(256) conclude(Witness w) {
  __shared__ bool last;
  double a[7] = {0, 0, 0, 0, 0, 0, 0};
  // where regions have chunks a warp adds up those of one: a thread that read hundreds of them would be all that there is to do
  const u32 team = w.chunks > 1 ? 32 : 1, lane = threadIdx.x % team;
  const u64 step = (u64)gridDim.x * blockDim.x / team;
  for (u64 region = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / team; region < w.count; region += step) {
    int depth = 0;
    for (int d = 0; d < DIMS; d++) depth += w.t.levels[d * w.across + region * w.along];
    const double wanted = wantedOf(w, depth), chance = chanceOf(wanted);
    const u32 n = witnessesOf(wanted);
    const double* means = w.means + MEANS * region;
    if (means[1] == 0) {
      if (lane) continue;
      w.deviations[region] = w.spreads[region] = w.missing[region] = 0;
      w.surprised[region] = w.axes[region] = 0;
      continue;
    }
    double sum = 0, squares = 0;
    bool surprised = false;
    double farthest = 0;
    u32 axis = 0;
    for (u32 chunk = lane; chunk == 0 || (chunk < w.chunks && chunk * w.perChunk < n); chunk += team) {
      const double* own = w.chunkSums + 5 * (region * w.chunks + chunk);
      sum += own[0], squares += own[1];
      surprised |= own[2] != 0;
      if (own[3] > farthest) farthest = own[3], axis = (u32)own[4];
    }
    if (team > 1) {
      sum = sumOf(sum), squares = sumOf(squares), surprised = __any_sync(ALL, surprised);
      const double most = largestOf(farthest);
      axis = __shfl_sync(ALL, axis, __ffs(__ballot_sync(ALL, farthest == most)) - 1);
      if (lane) continue;
    }
    const double mean = means[0], unit = means[1], scale = means[2];
    const double variance = fmax(0.0, squares - sum * sum / n) / (n - 1);
    const int exponent = w.t.exponent - depth + (scale < 1 ? 64 : 0);
    double off = scaledBy((unit * (sum / n) + mean) * w.t.mantissa, exponent) - w.t.values[region];
    double spread = scaledBy(unit * sqrt(variance / n) * w.t.mantissa, exponent);
    const double missing = scaledBy(means[3] * w.t.mantissa, exponent) / chance;
    if (missing > fabs(off)) axis = (u32)means[4];
    off /= chance;
    // the region also counts for those that have no witnesses
    if (chance < 1) spread = hypot(off * sqrt(1 - chance), spread / sqrt(chance));
    w.deviations[region] = off;
    w.surprised[region] = surprised;
    w.missing[region] = missing;
    w.axes[region] = axis;
    w.spreads[region] = spread;
    a[0] += off, a[1] += spread / w.unit * (spread / w.unit), a[4] += KNOWN + 2 + means[5], a[5] += n, a[6] += missing;
    if (surprised) a[2] += fabs(off);
    if (fabs(off) > LIMIT * spread) a[3] += fabs(off);
  }
  if (!addBlocks(w.sums, w.ended, a, last)) return;
  for (int j = 0; j < 7; j++) w.totals[j] = a[j];
}
