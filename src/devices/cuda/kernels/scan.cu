// Sums over the threads of a block of WIDTH threads. This text stands in front of kernels that need it.

// The sum up to each lane of a warp, its own number included.
template <typename N>
__device__ __forceinline__ N upToLane(N sum) {
  for (u32 step = 1; step < 32; step *= 2) {
    const N other = __shfl_up_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 >= step) sum += other;
  }
  return sum;
}

// The sum up to each thread, its own number included, and the total; added in one order. Every warp adds the sums of all
// WIDTH / 32 warps, one per lane.
template <typename N>
__device__ __forceinline__ N upTo(N own, N& all) {
  __shared__ N warps[WIDTH / 32];
  const u32 warp = threadIdx.x / 32;
  const N sum = upToLane(own);
  if (threadIdx.x % 32 == 31) warps[warp] = sum;
  __syncthreads();
  const N sums = upToLane(warps[threadIdx.x % 32]);
  __syncthreads();
  all = __shfl_sync(0xffffffffu, sums, 31);
  const N before = __shfl_sync(0xffffffffu, sums, warp ? warp - 1 : 0);
  return warp ? before + sum : sum;
}

// The sum up to each thread, without its own number.
__device__ __forceinline__ u64 before(u64 own, u64& all) { return upTo(own, all) - own; }

