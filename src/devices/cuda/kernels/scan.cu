// Sums over the threads of a block of WIDTH; in front of kernels that need them.

#define WIDTH 1024

typedef unsigned int u32;
typedef unsigned long long u64;

// The sum up to each thread, its own number included, and all of it; added in one order.
template <typename N>
__device__ __forceinline__ N upTo(N own, N& all) {
  __shared__ N warps[33];
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  N sum = own;
  for (u32 step = 1; step < 32; step *= 2) {
    const N other = __shfl_up_sync(0xffffffffu, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) warps[warp + 1] = sum;
  if (threadIdx.x == 0) warps[0] = 0;
  __syncthreads();
  if (threadIdx.x == 0)
    for (u32 w = 1; w <= WIDTH / 32; w++) warps[w] += warps[w - 1];
  __syncthreads();
  all = warps[WIDTH / 32];
  const N result = warps[warp] + sum;
  __syncthreads();
  return result;
}

// The sum before each thread.
__device__ __forceinline__ u64 before(u64 own, u64& all) { return upTo(own, all) - own; }

