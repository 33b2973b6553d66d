// Regions in lists, and the pool of regions of a run of PAGANI: what the host hands to kernels. In front of regions.cu, which
// has the integrand, and of pool.cu, which has not: it is compiled once for a number of dimensions.

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
  const double* generators;  // `points` numbers an axis
  const double* weights;     // `points` numbers a rule
  const double* pairs;       // candidates: scale, norm; PAIRS lists of CANDIDATES, filled up with zeros
  const double* centres;     // `count` numbers an axis
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

struct Pool {
  RegionTask t;      // its lists have `stride` numbers an axis
  u64 stride;
  u64 count, n;      // regions, and how many of them are halved
  u64 nodes, roots;  // of the tree of halvings
  u32 rootLevel, look;
  double threshold, unit;
  double weight;     // of differences in the two-level error
  Found* found;
  unsigned char* flags;
  unsigned short* depths;
  u32* nodeOf;           // of each region
  u32* child;            // of each node: its first child, 0 for a leaf
  unsigned char* split;  // along which axis
  u32* regionOf;         // of each leaf
  u32* buckets;
  u32* list;             // selected regions
  u64* blocks;
  double* parentValues;
  double* parentErrors;
  double* sums;          // eight a block
  u64* best;             // of each region that others look at: the largest neighbour, their sum, and whose face
  u64* around;
  u64* face;
};
