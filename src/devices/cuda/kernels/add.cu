// Adds N numbers over the threads of a block; the first thread gets the sums.
template <int N>
__device__ void addUp(double (&a)[N]) {
  __shared__ double tree[N][32];
  for (int j = 0; j < N; j++) {
    for (int step = 16; step > 0; step /= 2) a[j] += __shfl_down_sync(0xffffffffu, a[j], step);
    if (threadIdx.x % 32 == 0) tree[j][threadIdx.x / 32] = a[j];
  }
  __syncthreads();
  if (threadIdx.x == 0)
    for (int j = 0; j < N; j++) {
      a[j] = 0;
      for (u32 w = 0; w < blockDim.x / 32; w++) a[j] += tree[j][w];
    }
  __syncthreads();
}

// Adds N numbers over all threads of all blocks, of which `ended` have ended; `sums` has room for N numbers per block.
// Returns true for one thread of the last block, which has the sums then.
template <int N>
__device__ bool addBlocks(double* sums, u64* ended, double (&a)[N], bool& last) {
  addUp(a);
  if (threadIdx.x == 0) {
    for (int j = 0; j < N; j++) sums[N * (u64)blockIdx.x + j] = a[j];
    __threadfence();
    last = atomicAdd(ended, 1ull) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return false;
  __threadfence();
  for (int j = 0; j < N; j++) a[j] = 0;
  for (u32 b = threadIdx.x; b < gridDim.x; b += blockDim.x)
    for (int j = 0; j < N; j++) a[j] += ((volatile double*)sums)[N * (u64)b + j];
  addUp(a);
  if (threadIdx.x == 0) *ended = 0;
  return threadIdx.x == 0;
}

