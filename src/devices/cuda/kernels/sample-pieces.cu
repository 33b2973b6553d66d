// What samples are made of, for sample.cu: pieces of cubes and where they lie, places of random bits, counters of 64 bits.

#define PHILOX_CALLS ((DIMS + 3) / 4)
#define ALL 0xffffffffu

struct __align__(16) Two { double first, second; };  // read at once

__device__ __forceinline__ void count64(u32* low, u32* high, u64 increment) {
  const u32 part = (u32)increment, old = atomicAdd(low, part);
  const u32 carry = (u32)(increment >> 32) + (old + part < old);
  if (carry) atomicAdd(high, carry);
}

// PACKED: no axis has more than 256 strata, and two axes share a register, whose upper half is that of 2^20 as a float64.
#if PACKED
#define STRATA_WORDS ((DIMS + 1) / 2)
#else
#define STRATA_WORDS DIMS
#endif

// The piece of a team.
struct Piece {
  u32 item;             // its number
  u32 samples;          // samples of the piece, and of its cube
  u32 ofCube;
  u64 start;            // its first sample
  u32 k[STRATA_WORDS];  // the strata of its cube; of a lattice, the words of its first sample
#if PACKED
  u32 above = ALL;      // the number of its cube without the first four axes
#endif
};

// k + u along an axis, where k is the stratum, and u the middle of one of 2^32 parts of the unit interval.
__device__ __forceinline__ double place(const Piece& p, int d, u32 word) {
#if PACKED || !MANY_STRATA
  // as bits, 2^20 + k + word/2^32: conversions of integers take four times as long
#if PACKED
  const u32 high = __byte_perm(p.k[d / 2], 0, 0x3240 | d % 2);
#else
  const u32 high = 0x41300000 | p.k[d];
#endif
  return __hiloint2double(high, word) - 0x1.fffffffffffffp19;
#else
  return (double)p.k[d] + ((double)word + 0.5) * 0x1p-32;
#endif
}

__device__ __forceinline__ void toPiece(Piece& p, const SampleTask& t, u32 item, u32 cube, u32 index) {
  p.item = item;
  p.ofCube = t.count ? t.count : t.counts[cube];
  u32 first = 0;
  p.samples = p.ofCube;
  if (p.ofCube > PIECE) {
    first = startOf(p.ofCube, index);
    p.samples = startOf(p.ofCube, index + 1) - first;
  }
  p.start = (t.count ? (u64)cube * t.count : (u64)t.firstSample[cube]) + first;
#if LATTICE
#pragma unroll
  for (int d = 0; d < DIMS; d++) p.k[d] = t.lattice.shifts[cube * DIMS + d] + (u32)p.start * t.lattice.steps[d];
#else
  u32 rest = cube;
#pragma unroll
  for (int d = 0; d < DIMS; d++) {
#if PACKED
    if (d == 4) {
      // successive pieces of a team are in cubes near each other, which mostly differ along the first four axes alone
      if (rest == p.above) break;
      p.above = rest;
    }
#endif
    u32 quotient = __umulhi(rest, t.inverses[d]);  // the quotient, or one less
    u32 k = rest - quotient * t.strata[d];
    if (k >= t.strata[d]) k -= t.strata[d], quotient++;
#if PACKED
    p.k[d / 2] = d % 2 ? p.k[d / 2] | k << 8 : k | 0x41300000;
#else
    p.k[d] = k;
#endif
    rest = quotient;
  }
#endif
}

// The steps of a team on its piece. Teams are powers of two.
__device__ __forceinline__ u32 stepsOf(const Piece& p, const SampleTask& t) {
  return (p.samples + t.team - 1) >> (31 - __clz(t.team));
}

// The first piece of a group, where every cube has the same count.
__device__ __forceinline__ u32 firstOfGroup(const SampleTask& t, u32 group) {
  const u64 sample = (u64)group << t.groupBits, cube = sample >> 32 ? sample / t.count : (u64)((u32)sample / t.count);
  if (cube >= t.cubes) return t.cubes * t.pieces;
  const u32 off = (u32)(sample - cube * t.count);
  return (u32)cube * t.pieces + (t.pieces == 1 ? (off > 0) : pieceFrom(t.count, off));
}

// The last cube from `first` to `end` − 1 whose first piece is at most `item`.
__device__ __forceinline__ u32 cubeOf(const SampleTask& t, u32 item, u32 first, u32 end) {
  while (end - first > 1) {
    const u32 middle = first + (end - first) / 2;
    if (t.firstPiece[middle] <= item) first = middle;
    else end = middle;
  }
  return first;
}

// The cube of a piece, for a few successive pieces, one per team; all lanes search together. `from` is the cube of the piece
// before them.
__device__ __forceinline__ u32 cubeNear(const SampleTask& t, u32 item, u32 from) {
  const u32 at = from + 1 + threadIdx.x % 32;
  const u32 begin = at < t.cubes ? t.firstPiece[at] : ALL;
  u32 n = 0;  // how many of the next 32 cubes begin at or before the piece
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    if (__shfl_sync(ALL, begin, n + step - 1) <= item) n += step;
  return from + n + (__shfl_sync(ALL, begin, n) <= item);
}

// A table of 1/n, since a division takes 25 instructions.
__shared__ double reciprocals[PIECE + 1];

__device__ __forceinline__ double reciprocal(u32 n) {
  return n <= PIECE ? reciprocals[n] : __ddiv_rn(1.0, (double)n);
}

// The next piece of a leaf for each team that asks for one: its number, its cube and its place there. `next` is the first one that no
// team has had, `from` the cube of the last one that a team has.
__device__ __forceinline__ u32 nextPiece(const SampleTask& t, u32 asking, u32 leader, u32& next, u32& from, u32& cube, u32& index) {
  const u32 item = next + __popc(asking & ((1u << leader) - 1));
  if (t.count) {
    cube = t.pieces == 1 ? item : item / t.pieces;
    index = item - cube * t.pieces;
  } else {
    cube = cubeNear(t, item, from);
    from = __shfl_sync(ALL, cube, 31 - __clz(asking));
    index = cube < t.cubes ? item - t.firstPiece[cube] : 0;
  }
  next += __popc(asking);
  return item;
}

// Whether the histogram counts the samples of a piece; see tasks/counted.ts.
__device__ __forceinline__ bool isCounted(const SampleTask& t, const Piece& p) {
  return ((u32)p.start >> t.blockBits) * (u32)GOLDEN + t.iteration * (u32)PER_ITERATION <= t.limit;
}

// Adds a sample, which lies in these bins, to the histogram.
__device__ __forceinline__ void countIn(const SampleTask& t, u32* low, u32* high, const u32 bin[DIMS], u64 increment) {
  if (!increment) return;
#pragma unroll
  for (int d = 0; d < DIMS; d++) {
#if SHARED_HISTOGRAM
    count64(low + d * t.bins + bin[d], high + d * t.bins + bin[d], increment);
#else
    atomicAdd(t.histogram + d * t.bins + bin[d], increment);
#endif
  }
}

// The sums of all leaves, whose places these are, become the result, which is copied and cleared for the next launch.
__device__ __forceinline__ void report(const SampleTask& t, const double* sums, int integral, int variance, int increments,
                                       int concentration) {
  t.result->integral = __ldcg(sums + integral);
  t.result->variance = __ldcg(sums + variance);
  t.result->increments = __ldcg(sums + increments);
  t.result->concentration = __ldcg(sums + concentration);
  t.result->evaluations = t.totals ? t.totals[1] : t.samples;
  volatile u64* words = (volatile u64*)t.result;
  if (t.report)
    for (u32 i = 0; i < sizeof(SampleResult) / 8; i++) ((u64*)t.report)[i] = words[i], words[i] = 0;
}
