// How the samples of cubes are cut into pieces; see tasks/pieces.ts. This text stands in front of kernels that need it.

__device__ __forceinline__ u32 piecesOf(u32 n) { return (n + PIECE - 1) / PIECE; }

// The first sample of the last piece of a cube with n samples. Where that piece would have a single sample, it takes two
// from the piece before.
__device__ __forceinline__ u32 lastStart(u32 n) {
  const u32 last = PIECE * (piecesOf(n) - 1);
  return n % PIECE == 1 && last > 0 ? last - 2 : last;
}

// The first sample of piece `index` of a cube with n samples; n behind the last piece.
__device__ __forceinline__ u32 startOf(u32 n, u32 index) {
  return index >= piecesOf(n) ? n : min(index * PIECE, lastStart(n));
}

// The first piece of a cube with n samples that does not begin before `sample`; the number of pieces when there is none.
__device__ __forceinline__ u32 pieceFrom(u32 n, u32 sample) {
  if (sample > lastStart(n)) return piecesOf(n);
  return min(piecesOf(n) - 1, (sample + PIECE - 1) / PIECE);
}
