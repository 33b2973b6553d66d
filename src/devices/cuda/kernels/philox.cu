// Philox4x32-10 with the keys of all rounds; see random/philox.ts.
__device__ __forceinline__ void philox(u32 c[4], const u32 keys[20]) {
#pragma unroll
  for (int round = 0; round < 10; round++) {
    const u64 a = (u64)0xd2511f53u * c[0], b = (u64)0xcd9e8d57u * c[2];
    c[0] = (u32)(b >> 32) ^ c[1] ^ keys[2 * round];
    c[1] = (u32)b;
    c[2] = (u32)(a >> 32) ^ c[3] ^ keys[2 * round + 1];
    c[3] = (u32)a;
  }
}

