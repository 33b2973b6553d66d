// Regions in lists, and the pool of regions of a run of PAGANI: what the host hands to kernels. In front of regions.cu, which
// has the integrand, and of pool.cu and borders.cu, which have not: they are compiled once for a number of dimensions.

typedef unsigned int u32;
typedef unsigned long long u64;

struct RegionTask {
  double low[DIMS], high[DIMS];
  double mantissa;  // of the box's volume
  double ratio;     // of the two orbits' generators, squared
  double coefficients[3];
  int exponent;
  int graded;       // whether null rules are combined with these coefficients
  u32 points, count;
  const double* places;   // the VALUES coordinates that its points have, in half-widths
  const u32* words;       // which of them a point has: four axes a word, `room` words for each four
  const u32* ends;        // of runs: their points end there
  const double* weights;  // of the points of a run: 32 for each of the rules
  u64 room;               // `points` and as much as is read ahead
  const double* pairs;    // candidates: scale, norm; PAIRS lists of CANDIDATES, filled up with zeros
  const double* centres;  // `count` numbers an axis, unless it is of a pool
  const unsigned char* levels;
  const double* params;
  double* values;
  double* errors;
  unsigned char* axes;
  u64* wrong;  // how many values were not finite, and the first of them: region · points + point
};

struct Found {  // what the host reads
  double value, error, absolute, stuck;
  double before, after;
  u64 wrong, first;
  u64 stuckCount, positive, negative;
  u64 wanted;
  double threshold;
  u64 ended;  // blocks, of kernels that add up
};

// flags of a region
#define SETTLED 1  // no region beside it is much wider
#define CLEARED 2  // smaller ones beside it have looked at it
#define STUCK 4    // too small to be halved

struct Pool {
  RegionTask t;      // its lists have a region's axes side by side: a warp reads them
  u64 count, n;      // regions, and how many of them are halved
  u64 nodes, roots;  // of the tree of halvings
  u32 rootLevel, look;
  double threshold, unit;
  double weight;     // of differences in the two-level error
  Found* found;
  unsigned char* flags;
  unsigned short* depths;
  u32* nodeOf;           // of each region
  u64* tree;             // of halvings, a word a node; see innerNode
  u32* buckets;
  u32* list;             // selected regions
  u64* blocks;
  double* parentValues;
  double* parentErrors;
  double* sums;          // six a block
  u64* best;             // of each region that others look at: the largest neighbour, their sum, and whose face
  u64* around;
  u64* face;
  Found* report;         // a copy for the host, where there is a place
};

// A node of the tree of halvings: for a leaf its region, else its first child, and in the upper word the axis and the level.
__device__ __forceinline__ u64 innerNode(u32 child, u32 axis, u32 level) {
  return (u64)(level << 8 | (axis + 1)) << 32 | child;
}

#ifdef DEEP
// Whether a region is much smaller than in an even division, and may have wide ones beside it.
__device__ __forceinline__ bool isDeep(const Pool& p, u64 i) {
  const bool small = p.depths[i] >= DEEP + 64 - __clzll(p.count - 1);
  return small & (p.t.values[i] != 0) & !(p.flags[i] & SETTLED);
}
#endif
