// The map for the next iteration, one block per axis; the counterpart of tasks/map.ts, which gives the reasons. `integrand`
// is the damping, a function of a bin's share; WIDER, MOST_WIDER, NARROWEST and MOST_PIECES are those of map.ts. Sums are
// made by a scan, in another order than on the CPU, so edges differ from the CPU's by rounding.

// Replaces each number of a list by the sum up to it; returns the total. The block takes WIDTH numbers at a time.
__device__ double scan(double* list, u32 n) {
  double done = 0, all;
  for (u32 base = 0; base < n; base += WIDTH) {
    const u32 i = base + threadIdx.x;
    const double sum = upTo(i < n ? list[i] : 0.0, all);
    if (i < n) list[i] = done + sum;
    done += all;
  }
  __syncthreads();
  return done;
}

// Edges of `bins` parts of equal weight; `sums` are the running sums of the weights of the parts between `edges`.
__device__ void equalParts(const double* edges, const double* sums, u32 n, double total, u32 bins, double* parts) {
  for (u32 i = threadIdx.x; i <= bins; i += WIDTH) {
    if (i == 0 || i == bins) {
      parts[i] = edges[i == 0 ? 0 : n];
      continue;
    }
    const double target = i * (total / bins);
    u32 a = 0, b = n - 1;  // bisection for the first part whose running sum reaches the goal
    while (a < b) {
      const u32 m = (a + b) / 2;
      if (sums[m] >= target) b = m;
      else a = m + 1;
    }
    const double before = a == 0 ? 0 : sums[a - 1], own = sums[a] - before;
    const double share = own > 0 ? fmin(1.0, fmax(0.0, (target - before) / own)) : 1.0;
    const double edge = edges[a] + share * (edges[a + 1] - edges[a]);
    // edges may descend
    parts[i] = edges[a + 1] > edges[a] ? fmin(edge, edges[a + 1]) : fmax(edge, edges[a + 1]);
  }
  __syncthreads();
}

// Limits the widths of bins from one side: most[i] = min(most[i], most[i − 1] + (WIDER − 1)·width). A step is a function of
// the number before, x ↦ min(m, x + d), and a scan composes these functions. `sign` −1 starts from the other end.
__device__ void spread(double* most, const double* edges, u32 n, int sign) {
  __shared__ double ds[2][WIDTH], ms[2][WIDTH];
  double carry = __longlong_as_double(0x7ff0000000000000ll);
  for (u32 base = 0; base < n; base += WIDTH) {
    const u32 k = base + threadIdx.x, i = sign > 0 ? k : n - 1 - k;
    u32 now = 0;
    ds[0][threadIdx.x] = k < n && k > 0 ? (WIDER - 1) * fabs(edges[i] - edges[i - sign]) : 0;
    ms[0][threadIdx.x] = k < n ? most[i] : 0;
    __syncthreads();
    for (u32 step = 1; step < WIDTH; step *= 2) {
      double d = ds[now][threadIdx.x], m = ms[now][threadIdx.x];
      if (threadIdx.x >= step) {
        m = fmin(m, ms[now][threadIdx.x - step] + d);
        d += ds[now][threadIdx.x - step];
      }
      now ^= 1;
      ds[now][threadIdx.x] = d;
      ms[now][threadIdx.x] = m;
      __syncthreads();
    }
    if (k < n) most[i] = fmin(ms[now][threadIdx.x], carry + ds[now][threadIdx.x]);
    carry = fmin(ms[now][WIDTH - 1], carry + ds[now][WIDTH - 1]);
    __syncthreads();
  }
}

// Cuts a bin into pieces whose widths quadruple from both ends; writes where they begin unless `pieces` is null; returns
// their number.
__device__ u32 cut(double a, double b, double left, double right, double* pieces) {
  const double sign = b < a ? -1 : 1;
  u32 n = 1, m = 0;
  double ends[MOST_PIECES / 2];
  if (pieces) pieces[0] = a;
  while (fabs(b - a) > MOST_WIDER * fmin(left, right) && n + m < MOST_PIECES) {
    if (left <= right) {
      a += sign * left;
      left *= WIDER;
      if (pieces) pieces[n] = a;
      n++;
    } else {
      if (m == MOST_PIECES / 2) break;
      b -= sign * right;
      right *= WIDER;
      ends[m++] = b;
    }
  }
  if (pieces)
    for (u32 i = 0; i < m; i++) pieces[n + i] = ends[m - 1 - i];
  return n + m;
}

extern "C" __global__ void __launch_bounds__(WIDTH) refine(Refine t) {
  const u32 bins = t.bins, axis = blockIdx.x;
  const double* edges = t.edges + axis * (bins + 1);
  double* refined = t.refined + axis * (bins + 1);
  const u64 own = 4ull * (bins + 1) + 2ull * MOST_PIECES * bins + 1;
  double* weights = t.scratch + axis * own;
  double* parts = weights + bins + 1;
  double* most = parts + bins + 1;
  double* first = most + bins + 1;  // where the pieces of each bin begin
  double* pieces = first + bins + 1;
  double* sums = pieces + (u64)MOST_PIECES * bins + 1;

  for (u32 i = threadIdx.x; i < bins; i += WIDTH) {
    const u32 low = i > 0 ? i - 1 : 0, high = i + 1 < bins ? i + 1 : i;
    double a = 0, b = 0, c = 0;
    for (u32 d = t.shared ? 0 : axis; d < (t.shared ? t.axes : axis + 1); d++) {
      const u64* h = t.histogram + (u64)d * bins;
      a += (double)h[low], b += (double)h[i], c += (double)h[high];
    }
    most[i] = sums[i] = (a + 6 * b + c) / 8;
  }
  __syncthreads();
  if (!t.shared)
    for (u32 i = threadIdx.x; i < bins; i += WIDTH) t.histogram[(u64)axis * bins + i] = 0;
  const double total = scan(sums, bins);
  if (!(total > 0)) {
    for (u32 i = threadIdx.x; i <= bins; i += WIDTH) refined[i] = edges[i];
    return;
  }
  for (u32 i = threadIdx.x; i < bins; i += WIDTH) {
    const double x[1] = {most[i] / total};
    const double damped = integrand(x, t.params);
    weights[i] = t.root ? __dsqrt_rn(damped) : damped;
  }
  __syncthreads();
  const double all = scan(weights, bins);
  equalParts(edges, weights, bins, all, bins, parts);

  const double length = fabs(edges[bins] - edges[0]);
  for (u32 i = threadIdx.x; i <= bins; i += WIDTH) {
    const u32 l = i > 0 ? i - 1 : 0, r = i < bins ? i : bins - 1;
    most[i] = fmax(NARROWEST * length, fmin(fabs(parts[l + 1] - parts[l]), fabs(parts[r + 1] - parts[r])));
  }
  __syncthreads();
  spread(most, parts, bins + 1, 1);
  spread(most, parts, bins + 1, -1);
  for (u32 i = threadIdx.x; i < bins; i += WIDTH)
    first[i] = cut(parts[i], parts[i + 1], most[i], most[i + 1], nullptr);
  __syncthreads();
  const u32 n = (u32)scan(first, bins);
  for (u32 i = threadIdx.x; i < bins; i += WIDTH)
    cut(parts[i], parts[i + 1], most[i], most[i + 1], pieces + (i == 0 ? 0 : (u32)first[i - 1]));
  __syncthreads();
  if (threadIdx.x == 0) pieces[n] = parts[bins];
  __syncthreads();
  for (u32 i = threadIdx.x; i < n; i += WIDTH)
    sums[i] = (1 - t.floor) / n + t.floor * fabs(pieces[i + 1] - pieces[i]) / length;
  __syncthreads();
  const double whole = scan(sums, n);
  equalParts(pieces, sums, n, whole, bins, refined);
}
