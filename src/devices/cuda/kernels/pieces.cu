// How the samples of cubes are cut into pieces; see tasks/pieces.ts. In front of kernels that need it.

__device__ __forceinline__ u32 piecesOf(u32 n) { return (n + PIECE - 1) / PIECE; }

// Where the last piece of a cube of n samples begins; the piece before lends it two where it would have a single one.
__device__ __forceinline__ u32 lastStart(u32 n) {
  const u32 last = PIECE * (piecesOf(n) - 1);
  return n % PIECE == 1 && last > 0 ? last - 2 : last;
}

// Where a piece of a cube of n samples begins; behind the last one, n.
__device__ __forceinline__ u32 startOf(u32 n, u32 index) {
  return index >= piecesOf(n) ? n : min(index * PIECE, lastStart(n));
}

// The first piece of a cube of n samples that does not begin before a sample of it; their number when there is none.
__device__ __forceinline__ u32 pieceFrom(u32 n, u32 sample) {
  if (sample > lastStart(n)) return piecesOf(n);
  return min(piecesOf(n) - 1, (sample + PIECE - 1) / PIECE);
}
