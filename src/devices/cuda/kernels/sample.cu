
// One iteration of stratified sampling through a map; the counterpart of devices/cpu/kernel.ts, with the same points.
// sample-pieces.cu and sample-leaf.cu or, for several results, several-leaf.cu stand in front of it.
//
// The work is a list of pieces (tasks/pieces.ts): a piece is a run of at most PIECE samples of one cube, with its own mean
// and variance, weighted by its share of the cube's samples. A team of lanes of a warp shares a piece, and then takes the
// next one of its warp's leaf; so lanes rarely wait for each other, however different the cubes are. Each group of the task
// has 2^leafBits leaves; a leaf has an equal part of the group's pieces, rounded up so that every team has the same number
// of them. A warp that is done with a leaf takes another. There are as many blocks as the card runs at a time; each of them
// copies the map to shared memory once, and adds its histogram to that in the card's memory once.
//
// Sums are added in an order that depends on the task alone: over the lanes of a team, the pieces of a team, the teams of
// a leaf; and over leaves as a binary tree (tasks/tree-sum.ts), by the block that ends last. Groups of the task are whole
// subtrees of it.
//
// The histogram adds integers, w² scaled and rounded. Its counters are 64 bits wide, kept in shared memory as two words:
// additions of 32 bits are native there, and the carry is rare.
//
// Products and sums that decide a bin are not fused: each is rounded.
//
// A task may be a part of an iteration, the leaves from `firstLeaf` on. The sums of a leaf do not depend on which card runs
// it; the host then reads the sums of leaves and goes on with the tree.
//
// Warps read the stop flag now and then. After a stop the sums are not used.

#define LATE 20000000    // nanoseconds between looks at the stop flag, which is in the host's memory

__device__ __forceinline__ u64 nanoseconds() {
  u64 now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

template <bool ADAPT>
__device__ __forceinline__ void sampleLeaves(const SampleTask& t) {
  extern __shared__ __align__(16) double shared[];
  __shared__ bool last;
  const u32 edgesOf = t.bins + 1;
  const double* edges = t.edges;
  for (u32 i = threadIdx.x; i <= PIECE; i += blockDim.x) reciprocals[i] = __ddiv_rn(1.0, (double)i);
#if LATTICE
  u32* low = (u32*)shared;  // not used: lattices do not adapt
#if SHARED_EDGES
  // pairs of numbers, each REPLICAS times
  for (u32 i = threadIdx.x; i < 2 * REPLICAS * DIMS * edgesOf; i += blockDim.x)
    shared[i] = t.edges[i / (2 * REPLICAS) * 2 + i % 2];
  edges = shared;
#endif
#elif SHARED_EDGES
  for (u32 i = threadIdx.x; i < DIMS * edgesOf; i += blockDim.x) shared[i] = t.edges[i];
  edges = shared;
  u32* low = (u32*)(shared + DIMS * edgesOf);
#else
  u32* low = (u32*)shared;
#endif
  u32* high = low + DIMS * t.bins;
#if SHARED_HISTOGRAM
  if (ADAPT)
    for (u32 i = threadIdx.x; i < 2 * DIMS * t.bins; i += blockDim.x) low[i] = 0;
#endif
  __syncthreads();

  const u32 warps = blockDim.x / 32, lane = threadIdx.x % 32;
  u64 looked = nanoseconds();
  for (u32 leaf = blockIdx.x * warps + threadIdx.x / 32; leaf < t.leaves;) {
    Own own = {};
    const u32 number = t.firstLeaf + leaf, group = number >> t.leafBits, teams = 32 / t.team;
    const u32* starts = t.groupStarts + 2 * (u64)group;  // piece and cube of this group and of the next one
    const u32 first = t.count ? firstOfGroup(t, group) : starts[0];
    const u32 last = t.count ? firstOfGroup(t, group + 1) : starts[2];
    // An equal part of the group's pieces, rounded up to the same number for every team. Leaves start at multiples of the
    // number of teams, but for the first of a group: the cubes of a round then mostly have about the same number of samples
    // (else the linear integrand in 10 dimensions takes 4 % more steps).
    const u32 origin = first - first % teams, mask = (1u << t.leafBits) - 1;
    const u32 part = ((last - origin) >> t.leafBits) + (((last - origin) & mask) != 0);
    const u32 size = (part + teams - 1) / teams * teams;
    const u32 start = origin + (number & mask) * size, begin = max(first, start), end = min(last, start + size);
    bool whole = true;
    if (begin < end) {
      const u32 from = t.count ? 0 : cubeOf(t, begin, starts[1], min(t.cubes, starts[3] + 1));
      whole = sampleLeaf<ADAPT>(t, edges, low, high, begin, end, from, own);
    }
    putLeaf(t.sums + SUMS * (u64)leaf, own);
    __syncwarp();
    u32 next = ALL;
    if (lane == 0) {
      __threadfence();
      const u64 now = nanoseconds();
      const bool late = now - looked > LATE;
      if (late) looked = now;
      if (whole && !(late && stopped(t.params))) next = gridDim.x * warps + (u32)atomicAdd(&t.result->taken, 1ull);
    }
    leaf = __shfl_sync(ALL, next, 0);
  }

  __syncthreads();
#if SHARED_HISTOGRAM
  if (ADAPT)
    for (u32 i = threadIdx.x; i < DIMS * t.bins; i += blockDim.x) {
      const u64 own64 = ((u64)high[i] << 32) + low[i];
      if (own64) atomicAdd(t.histogram + i, own64);
    }
#endif
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(&t.result->blocks, 1ull) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  addLeaves(t);
}

extern "C" __global__ void __launch_bounds__(THREADS) sampleFrozen(SampleTask t) { sampleLeaves<false>(t); }

extern "C" __global__ void evaluate(const double* points, double* values, u64 n, const double* params) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x[DIMS];
#pragma unroll
  for (int d = 0; d < DIMS; d++) x[d] = points[d * n + i];
  values[i] = integrand(x, params);
}
