// Witnesses: random points in regions, beside what each region believes; the counterpart of tasks/testimony.ts, with the same
// points. A warp takes a chunk of the witnesses of a region: where there are few regions, each has several chunks. First its
// lanes evaluate the points of the model and fit it, in shared memory, then they take the witnesses in turn. A second kernel
// adds the chunks of each region, and over all regions. Sums are added in an order that depends on the task alone.

#define ALL 0xffffffffu
// MEANS numbers of a region: mean, unit and scale of its model; what its faces hide, along which axis; rungs evaluated
#define PAIRS (DIMS * (DIMS - 1) / 2)
#define MODELS (1 + 2 * NODES * DIMS + 4 * PAIRS)  // NODES: pairs of points of the model along an axis
#define KNOWN (MODELS + 2 * DIMS)                   // and a point near the middle of each face

struct Bench {  // the shared memory of a warp
  double centre[DIMS], half[DIMS];
  double f[KNOWN];              // the centre; a, -a for each node a along each axis; four corners of each pair of axes; faces
  double odd[NODES * DIMS], even[NODES * DIMS];  // t O(t^2) + t^2 E(t^2) along each axis, as divided differences
  double mixed[4 * PAIRS + 1];  // coefficients of s t, s^2 t, s t^2, s^2 t^2
  u32 words[4 * ((DIMS + 3) / 4)];
};
__shared__ Bench benches[WARPS];

// The number of witnesses that a region should have on average; with fewer than LEAST, it has LEAST by chance, or none.
__device__ __forceinline__ double wantedOf(const Witness& w, int depth) {
  return __dadd_rn(__dmul_rn(w.byVolume, ldexp(1.0, -depth)), w.each);
}
__device__ __forceinline__ double chanceOf(double wanted) { return fmin(1.0, wanted / LEAST); }
__device__ __forceinline__ u32 witnessesOf(double wanted) { return chanceOf(wanted) < 1 ? LEAST : (u32)ceil(wanted); }

__device__ __forceinline__ double inside(const RegionTask& t, const Bench& b, int d, double place) {
  return fmax(fmin(__dadd_rn(b.centre[d], __dmul_rn(place, b.half[d])), t.innerHigh[d]), t.innerLow[d]);
}

// What the model along an axis has beyond the centre.
__device__ __forceinline__ double along(const Witness& w, const Bench& b, int d, double t) {
  const double *odd = b.odd + NODES * d, *even = b.even + NODES * d;
  double u = odd[NODES - 1], v = even[NODES - 1];
#pragma unroll
  for (int j = NODES - 2; j >= 0; j--) {
    const double above = t * t - w.nodes[j] * w.nodes[j];
    u = odd[j] + above * u;
    v = even[j] + above * v;
  }
  return t * (u + t * v);
}

// Rung k of the ladder at a face: how far it is from the face.
__device__ __forceinline__ double rung(const Witness& w, int k) { return w.gap * ldexp(1.0, -LADDER_BITS * k); }

// What the model along an axis may be off by at t: a part of what its last points brought.
__device__ __forceinline__ double doubtAt(const Witness& w, const Bench& b, int d, double t) {
  double reach = fabs(t);
  for (int j = 0; j < NODES - 1; j++) reach *= fabs(t * t - w.nodes[j] * w.nodes[j]);
  const int last = NODES * d + NODES - 1;
  return w.doubt * reach * (fabs(b.odd[last]) + fabs(t * b.even[last]));
}

// What f has beyond the model at t along an axis.
__device__ __forceinline__ double beyondModel(const Witness& w, const Bench& b, double value, int d, double t) {
  return fabs(value - b.f[0] - along(w, b, d, t));
}

__device__ __forceinline__ double sumOf(double x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(ALL, x, step);
  return x;
}

__device__ __forceinline__ double largestOf(double x) {
  for (int step = 16; step > 0; step /= 2) x = fmax(x, __shfl_xor_sync(ALL, x, step));
  return x;
}

// The value at x, or 0 when it is not finite; `number` is that of the point in its region.
__device__ __forceinline__ double valueAt(const Witness& w, const double* x, u64 region, u64 number, u32& turns,
                                          bool& leaving) {
  const double value = integrand(x, w.t.params, turns);
  if ((__double2hiint(value) & 0x7ff00000) != 0x7ff00000) return value;
  atomicAdd(w.t.wrong, 1ull);
  atomicMin(w.t.wrong + 1, region << 32 | number);
  leaving |= turns == 0 && stopped(w.t.params);
  return 0;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) witness(Witness w) {
  const u64 item = (u64)blockIdx.x * WARPS + threadIdx.x / 32;
  if (item >= w.count * w.chunks) return;
  const u64 region = item / w.chunks;
  const u32 lane = threadIdx.x % 32;
  const RegionTask& t = w.t;
  Bench& b = benches[threadIdx.x / 32];
  int depth = 0;
  for (int d = lane; d < DIMS; d += 32) {
    const int level = t.levels[d * w.across + region * w.along];
    depth += level;
    b.centre[d] = t.centres[d * w.across + region * w.along];
    b.half[d] = __dmul_rn((t.high[d] - t.low[d]) / 2, __longlong_as_double((long long)(1023 - level) << 52));
  }
  for (int step = 16; step > 0; step /= 2) depth += __shfl_xor_sync(ALL, depth, step);
  const double wanted = wantedOf(w, depth), chance = chanceOf(wanted);
  const u32 witnesses = witnessesOf(wanted), first = (u32)(item % w.chunks) * w.perChunk;
  if (first >= witnesses) return;
  if (chance < 1) {
    u32 c[4] = {(u32)(w.first + region), 255, w.round, w.stream};  // group 255 belongs to no coordinate
    philox(c, w.keys);
    if ((double)c[0] >= chance * 0x1p32) {
      if (lane == 0 && first == 0) w.means[MEANS * region + 1] = 0;  // it has no witnesses
      return;
    }
  }
  const u32 end = w.chunks == 1 ? witnesses : min(witnesses, first + w.perChunk);
  __syncwarp();

  const double outer = w.pairNode;
  u32 turns = 1;  // 0: the integrand has just read the stop flag
  bool leaving = false;
  double least = 0x1.fffffffffffffp1023, most = -least;
  for (u32 p = lane; p < KNOWN && !leaving; p += 32) {
    // one or two coordinates differ from the centre
    int one = -1, two = -1;
    double s = 0, u = 0;
    if (p >= MODELS) {
      one = (p - MODELS) / 2;
      s = ((p - MODELS) & 1 ? -1 : 1) * (1 - rung(w, RUNGS));
    } else if (p > 2 * NODES * DIMS) {
      const u32 pair = (p - 1 - 2 * NODES * DIMS) / 4, corner = (p - 1 - 2 * NODES * DIMS) % 4;
      one = 1;
      while (one * (one + 1) / 2 <= (int)pair) one++;
      two = pair - one * (one - 1) / 2;
      s = corner < 2 ? outer : -outer;
      u = corner % 2 == 0 ? outer : -outer;
    } else if (p > 0) {
      one = (p - 1) / (2 * NODES);
      s = w.nodes[(p - 1) / 2 % NODES] * (p % 2 ? 1 : -1);
    }
    double x[DIMS];
#pragma unroll
    for (int d = 0; d < DIMS; d++)
      x[d] = d == one ? inside(t, b, d, s) : d == two ? inside(t, b, d, u) : b.centre[d];
    const double value = valueAt(w, x, region, p, turns, leaving);
    b.f[p] = value;
    if (p < MODELS) least = fmin(least, value), most = fmax(most, value);
  }
  for (int step = 16; step > 0; step /= 2) {
    least = fmin(least, __shfl_xor_sync(ALL, least, step));
    most = fmax(most, __shfl_xor_sync(ALL, most, step));
  }
  if (__any_sync(ALL, leaving)) return;
  // where sums of values would overflow, all values are scaled
  const double scale = fmax(-least, most) > 0x1p960 ? 0x1p-64 : 1;
  if (scale != 1)
    for (u32 p = lane; p < KNOWN; p += 32) b.f[p] *= scale;
  least *= scale, most *= scale;
  __syncwarp();

  // the model, and its mean over the region
  const double o = outer;
  double mean = lane == 0 ? b.f[0] : 0;
  for (int d = lane; d < DIMS; d += 32) {
    const double* f = b.f + 1 + 2 * NODES * d;
    double *odd = b.odd + NODES * d, *even = b.even + NODES * d;
    for (int j = 0; j < NODES; j++) {
      const double a = w.nodes[j];
      odd[j] = (f[2 * j] - f[2 * j + 1]) / (2 * a);
      even[j] = ((f[2 * j] + f[2 * j + 1]) / 2 - b.f[0]) / (a * a);
      mean += w.meanWeights[j] * even[j];
    }
    for (int k = 1; k < NODES; k++)
      for (int j = NODES - 1; j >= k; j--) {
        const double width = w.nodes[j] * w.nodes[j] - w.nodes[j - k] * w.nodes[j - k];
        odd[j] = (odd[j] - odd[j - 1]) / width;
        even[j] = (even[j] - even[j - 1]) / width;
      }
  }
  __syncwarp();
  for (int pair = lane; pair < PAIRS; pair += 32) {
    int d = 1;
    while (d * (d + 1) / 2 <= pair) d++;
    const int e = pair - d * (d - 1) / 2;
    const double* f = b.f + 1 + 2 * NODES * DIMS + 4 * pair;
    double beyond[4];  // what the corners have beyond both axes
    for (int i = 0; i < 4; i++)
      beyond[i] = f[i] - along(w, b, d, i < 2 ? o : -o) - along(w, b, e, i % 2 == 0 ? o : -o) - b.f[0];
    double* c = b.mixed + 4 * pair;
    c[0] = (beyond[0] - beyond[1] - beyond[2] + beyond[3]) / (4 * o * o);
    c[1] = (beyond[0] - beyond[1] + beyond[2] - beyond[3]) / (4 * o * o * o);
    c[2] = (beyond[0] + beyond[1] - beyond[2] - beyond[3]) / (4 * o * o * o);
    c[3] = (beyond[0] + beyond[1] + beyond[2] + beyond[3]) / (4 * o * o * o * o);
    mean += c[3] / 9;
  }
  mean = sumOf(mean);
  __syncwarp();

  // what faces hide: at most what f has beyond the model on each rung of the ladder, over the way to the next
  double hidden = 0, worst = 0;
  u32 hiding = 0, rungs = 0;
  const double coarse = 8 * w.noise * fmax(-least, most);
  for (u32 face = lane; face < 2 * DIMS && first == 0; face += 32) {
    const int d = face / 2;
    const double side = face & 1 ? -1 : 1, place = side * (1 - rung(w, RUNGS));
    if (b.half[d] * rung(w, RUNGS) <= 0x1p-50 * fabs(b.centre[d])) continue;
    const double outermost = beyondModel(w, b, b.f[MODELS + face], d, place);
    if (!(outermost > doubtAt(w, b, d, place) + coarse)) continue;
    double own = outermost * rung(w, RUNGS - 1), x[DIMS];
#pragma unroll 1
    for (int k = 1; k < RUNGS && !leaving; k++) {
      const double at = side * (1 - rung(w, k));
#pragma unroll
      for (int e = 0; e < DIMS; e++) x[e] = e == d ? inside(t, b, e, at) : b.centre[e];
      const double value = scale * valueAt(w, x, region, MODELS + face, turns, leaving);
      own += beyondModel(w, b, value, d, at) * (rung(w, k - 1) - rung(w, k));
      rungs++;
    }
    if (own > worst) worst = own, hiding = d;
    hidden += own / 2;
  }
  if (__any_sync(ALL, hidden > 0)) {
    u32 axis = worst == largestOf(worst) ? hiding : DIMS;
    for (int step = 16; step > 0; step /= 2) {
      axis = min(axis, __shfl_xor_sync(ALL, axis, step));
      rungs += __shfl_xor_sync(ALL, rungs, step);
    }
    hiding = axis;
    hidden = sumOf(hidden);
  }

  // the two corners to which the model rises and falls most
  bool surprised = false;
  if (lane < 2) {
    double x[DIMS];
#pragma unroll
    for (int d = 0; d < DIMS; d++) {
      const bool falls = along(w, b, d, w.corner) < along(w, b, d, -w.corner);
      x[d] = inside(t, b, d, falls == (lane == 0) ? -w.corner : w.corner);
    }
    const double value = scale * valueAt(w, x, region, KNOWN + lane, turns, leaving);
    const double reach = w.cornerRange * (most - least) + w.noise * fmax(-least, most);
    surprised = value < least - reach || value > most + reach;
    if (!surprised) least = fmin(least, value), most = fmax(most, value);
  }
  for (int step = 1; step < 32; step *= 2) {
    least = fmin(least, __shfl_xor_sync(ALL, least, step));
    most = fmax(most, __shfl_xor_sync(ALL, most, step));
  }
  const double largest = fmax(-least, most), unit = fmax(largest, w.leastUnit);
  const double beyond = w.surprise * (most - least) + w.noise * largest;
  const double factor = 1 / unit;
  double sum = 0, squares = 0;
  double farthest = 0;  // the largest |residual|, and the axis along which that witness is nearest to a face
  u32 axis = 0;
  for (u32 block = first / BLOCK; block * BLOCK < end && !__any_sync(ALL, leaving); block++) {
    __syncwarp();
    if (4 * lane < DIMS) {  // where a sequence of witnesses starts
      u32 c[4] = {(u32)(w.first + region), lane + 256 * block, w.round, w.stream};
      philox(c, w.keys);
      for (int j = 0; j < 4; j++) b.words[4 * lane + j] = c[j];
    }
    __syncwarp();
    for (u32 i = block * BLOCK + lane; i < min(end, (block + 1) * BLOCK) && !leaving; i += 32) {
      double x[DIMS], place[DIMS];
#pragma unroll
      for (int d = 0; d < DIMS; d++) {
        const u32 word = b.words[d] + i % BLOCK * w.steps[d];
        place[d] = __dadd_rn(__dmul_rn((double)word + 0.5, 0x1p-31), -1.0);
        x[d] = inside(t, b, d, place[d]);
      }
      const double value = scale * valueAt(w, x, region, KNOWN + 2 + i, turns, leaving);
      surprised |= value < least - beyond || value > most + beyond;
      double residual = value - b.f[0];
#pragma unroll
      for (int d = 0; d < DIMS; d++) {
        const double p = place[d];
        residual -= along(w, b, d, p);
#pragma unroll
        for (int e = 0; e < d; e++) {
          const double q = place[e];
          const double* m = b.mixed + 4 * (d * (d - 1) / 2 + e);
          residual -= p * q * (m[0] + m[1] * p + q * (m[2] + m[3] * p));
        }
      }
      residual = fmax(-w.largestResidual, fmin(w.largestResidual, residual * factor));
      sum += residual;
      squares += residual * residual;
      if (fabs(residual) > farthest) {
        farthest = fabs(residual);
        double outermost = -1;
#pragma unroll
        for (int d = 0; d < DIMS; d++)
          if (fabs(place[d]) > outermost) outermost = fabs(place[d]), axis = d;
      }
    }
  }
  sum = sumOf(sum), squares = sumOf(squares);
  surprised = __any_sync(ALL, surprised);
  const double outermost = largestOf(farthest);
  axis = __shfl_sync(ALL, axis, __ffs(__ballot_sync(ALL, farthest == outermost)) - 1);
  if (lane != 0) return;
  double* own = w.chunkSums + 5 * item;
  own[0] = sum, own[1] = squares, own[2] = surprised, own[3] = outermost, own[4] = axis;
  if (first != 0) return;
  double* means = w.means + MEANS * region;
  means[0] = mean, means[1] = unit, means[2] = scale, means[3] = hidden, means[4] = hiding, means[5] = rungs;
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
