// Witnesses: random points in regions, beside what each region believes; the counterpart of tasks/testimony.ts, with the same
// points. A warp takes a chunk of the witnesses of a region: where there are few regions, each has several chunks; where there
// are many, and few of them have witnesses, these are listed before (conclude.cu). First its lanes evaluate the points of the model
// and fit it, in shared memory, then they take the witnesses in turn. A second kernel adds the chunks of each region, and over
// all regions. Sums are added in an order that depends on the task alone.

struct Bench {  // the shared memory of a warp
  double centre[DIMS], half[DIMS];
  double f[KNOWN];              // the centre; a, -a for each node a along each axis; four corners of each pair of axes; faces
  double odd[NODES * DIMS], even[NODES * DIMS];  // t O(t^2) + t^2 E(t^2) along each axis, as divided differences
  double mixed[4 * PAIRS + 1];  // coefficients of s t, s^2 t, s t^2, s^2 t^2
  u32 words[4 * ((DIMS + 3) / 4)];
};
__shared__ Bench benches[WARPS];

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
#pragma unroll 1
  for (int j = 0; j < NODES - 1; j++) reach *= fabs(t * t - w.nodes[j] * w.nodes[j]);
  const int last = NODES * d + NODES - 1;
  return w.doubt * reach * (fabs(b.odd[last]) + fabs(t * b.even[last]));
}

// What f has beyond the model at t along an axis.
__device__ __forceinline__ double beyondModel(const Witness& w, const Bench& b, double value, int d, double t) {
  return fabs(value - b.f[0] - along(w, b, d, t));
}

// The integrand has one place in the kernel: the time to compile it would be that of four.
__device__ __noinline__ double integrandAt(const double* x, const double* params, u32& turns) {
  return integrand(x, params, turns);
}

// The value at x, or 0 when it is not finite; `number` is that of the point in its region.
__device__ __forceinline__ double valueAt(const Witness& w, const double* x, u64 region, u64 number, u32& turns,
                                          bool& leaving) {
  const double value = integrandAt(x, w.t.params, turns);
  if ((__double2hiint(value) & 0x7ff00000) != 0x7ff00000) return value;
  atomicAdd(w.t.wrong, 1ull);
  atomicMin(w.t.wrong + 1, region << 32 | number);
  leaving |= turns == 0 && stopped(w.t.params);
  return 0;
}

// A warp lets the witnesses of a region speak, or one chunk of them, beginning with witness `first`.
__device__ __forceinline__ void hear(const Witness& w, Bench& b, u64 region, u32 first) {
  const u32 lane = threadIdx.x % 32;
  const RegionTask& t = w.t;
  int depth = 0;
  __syncwarp();  // the bench may still be in use for the region before
  for (int d = lane; d < DIMS; d += 32) {
    const int level = t.levels[d * w.across + region * w.along];
    depth += level;
    b.centre[d] = t.centres[d * w.across + region * w.along];
    b.half[d] = __dmul_rn((t.high[d] - t.low[d]) / 2, __longlong_as_double((long long)(1023 - level) << 52));
  }
  for (int step = 16; step > 0; step /= 2) depth += __shfl_xor_sync(ALL, depth, step);
  const double wanted = wantedOf(w, depth);
  const u32 witnesses = witnessesOf(wanted);
  if (first >= witnesses) return;
  if (!w.heard && !isHeard(w, region, chanceOf(wanted))) {
    if (lane == 0 && first == 0) w.means[MEANS * region + 1] = 0;
    return;
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
#pragma unroll 1
    for (int j = 0; j < NODES; j++) {
      const double a = w.nodes[j];
      odd[j] = (f[2 * j] - f[2 * j + 1]) / (2 * a);
      even[j] = ((f[2 * j] + f[2 * j + 1]) / 2 - b.f[0]) / (a * a);
      mean += w.meanWeights[j] * even[j];
    }
#pragma unroll 1
    for (int k = 1; k < NODES; k++)
#pragma unroll 1
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
  double* own = w.chunkSums + 5 * (region * w.chunks + first / w.perChunk);
  own[0] = sum, own[1] = squares, own[2] = surprised, own[3] = outermost, own[4] = axis;
  if (first != 0) return;
  double* means = w.means + MEANS * region;
  means[0] = mean, means[1] = unit, means[2] = scale, means[3] = hidden, means[4] = hiding, means[5] = rungs;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) witness(Witness w) {
  const u64 items = w.heard ? *w.heard : w.count * w.chunks, step = (u64)gridDim.x * WARPS;
  for (u64 item = (u64)blockIdx.x * WARPS + threadIdx.x / 32; item < items; item += step)
    hear(w, benches[threadIdx.x / 32], w.heard ? w.list[item] : item / w.chunks, (u32)(item % w.chunks) * w.perChunk);
}
