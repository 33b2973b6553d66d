/*
 * The catalogue's integrands in straightforward C: what a careful person writes, with the C library's functions
 * and its pow where the papers have a power.
 * Built by the harness with -O3 -march=native; points come in batches of N, coordinate-major.
 *
 * Commands on stdin, one answer line each:
 *   load NAME FILE   takes the points of FILE          -> "ok", or "unknown" when there is no such integrand
 *   run REPEATS      evaluates the batch that often    -> seconds, and the sum of the values of the last time
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 1024 };
#define IN static inline double
#define PI M_PI

static inline double square(double t) { return t * t; }

/* The inverse of erf by Wichura's algorithm AS 241 (PPND16), which a normal quantile needs: 1e-16. */
static double ratio(const double *p, const double *q, double r) {
  double a = p[7], b = q[7];
  for (int k = 6; k >= 0; k--) {
    a = a * r + p[k];
    b = b * r + q[k];
  }
  return a / b;
}

static double erfinv(double y) {
  static const double A[] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                             1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                             3.3430575583588128105e4, 2.5090809287301226727e3};
  static const double B[] = {1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
                             2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
                             5.2264952788528545610e3};
  static const double C[] = {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
                             3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
                             2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static const double D[] = {1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
                             1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
                             1.05075007164441684324e-9};
  static const double E[] = {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
                             2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                             2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static const double F[] = {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                             7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
                             2.04426310338993978564e-15};
  double q = y / 2;
  if (fabs(q) <= 0.425) return q * ratio(A, B, 0.180625 - q * q) / M_SQRT2;
  double r = sqrt(-log((1 - fabs(y)) / 2));
  double z = r <= 5 ? ratio(C, D, r - 1.6) : ratio(E, F, r - 5);
  return (q < 0 ? -z : z) / M_SQRT2;
}

/* m-Cubes and PAGANI */
IN f1(const double *x, int d) {
  double s = 0;
  for (int i = 0; i < d; i++) s += (i + 1) * x[i];
  return cos(s);
}
IN f2(const double *x, int d) {
  double p = 1;
  for (int i = 0; i < d; i++) p *= 1 / (1.0 / 2500 + square(x[i] - 0.5));
  return p;
}
IN f3(const double *x, int d) {
  double s = 1;
  for (int i = 0; i < d; i++) s += (i + 1) * x[i];
  return pow(s, -d - 1);
}
IN f4(const double *x, int d) {
  double s = 0;
  for (int i = 0; i < d; i++) s += square(x[i] - 0.5);
  return exp(-625 * s);
}
IN f5(const double *x, int d) {
  double s = 0;
  for (int i = 0; i < d; i++) s += fabs(x[i] - 0.5);
  return exp(-10 * s);
}
IN f6(const double *x, int d) {
  double s = 0;
  for (int i = 0; i < d; i++) {
    if (x[i] >= (4 + i) / 10.0) return 0;
    s += (i + 5) * x[i];
  }
  return exp(s);
}
IN norm2(const double *x, int d) {
  double s = 0;
  for (int i = 0; i < d; i++) s += x[i] * x[i];
  return s;
}
IN f7(const double *x, int d) { return pow(norm2(x, d), 11); }
IN f8(const double *x, int d) { return pow(norm2(x, d), 7.5); }

/* cuVegas */
IN sine_exponential(const double *x, int d) { return sin(x[0]) + exp(x[1]); }
IN linear(const double *x, int d) {
  double s = 0;
  for (int i = 0; i < d; i++) s += x[i];
  return s;
}
IN cosine(const double *x, int d) {
  double p = 1;
  for (int i = 0; i < d; i++) p *= cos(x[i]);
  return p;
}
IN exponential(const double *x, int d) { return exp(norm2(x, d)); }
IN roos_arnold(const double *x, int d) {
  double p = 1;
  for (int i = 0; i < d; i++) p *= fabs(4 * x[i] - 2);
  return p;
}
IN morokoff_caflisch(const double *x, int d) {
  double p = pow(1 + 1.0 / d, d);
  for (int i = 0; i < d; i++) p *= pow(x[i], 1.0 / d);
  return p;
}
IN gaussian(const double *x, int d) {
  const double variance = 0.01 * 0.01;
  double s = 0;
  for (int i = 0; i < d; i++) s += square(x[i] - 0.5);
  return exp(-s / (2 * variance)) / pow(2 * PI * variance, d / 2.0);
}
IN ridge(const double *x, int d) {
  double sum = 0;
  for (int i = 0; i < 1000; i++) {
    double s = 0;
    for (int j = 0; j < d; j++) s += square(x[j] - i / 999.0);
    sum += exp(-100 * s);
  }
  return 10 / (PI * PI) * sum;
}

/* the applications of cuVegas */
static const double S0 = 100, K = 100, R = 0.05, SIGMA = 0.2, T = 1;
IN asian_printed(const double *x, int d) {
  double z = 0;
  for (int i = 0; i < d; i++) z += erfinv(2 * x[i] - 1) * M_SQRT2;
  double S = S0 * exp((R - SIGMA * SIGMA / 2) * T + SIGMA * sqrt(T) * z);
  return exp(-R * T) * fmax(S - K, 0);
}
IN asian_arithmetic(const double *x, int d) {
  const double dt = T / d;
  double S = S0, sum = 0;
  for (int i = 0; i < d; i++) {
    S *= exp((R - SIGMA * SIGMA / 2) * dt + SIGMA * sqrt(dt) * M_SQRT2 * erfinv(2 * x[i] - 1));
    sum += S;
  }
  return sum / d > K ? exp(-R * T) * (sum / d - K) : 0;
}
IN asian_geometric(const double *x, int d) {
  const double dt = T / d;
  double logS = log(S0), sum = 0;
  for (int i = 0; i < d; i++) {
    logS += (R - SIGMA * SIGMA / 2) * dt + SIGMA * sqrt(2 * dt) * erfinv(2 * x[i] - 1);
    sum += logS;
  }
  return exp(-R * T) * fmax(exp(sum / d) - K, 0);
}
IN path_integral(const double *x, int d) {
  const double x0 = 0.5, a = 4.0 / (d + 1);
  double S = 0, from = x0;
  for (int j = 0; j <= d; j++) {
    double to = j < d ? x[j] : x0;
    S += square(to - from) / (2 * a) + a * from * from / 2;
    from = to;
  }
  return pow(1 / (2 * PI * a), (d + 1) / 2.0) * exp(-S);
}

/* ZMCintegral */
IN fA(const double *x, int d) { return sin(x[0] + x[1] + x[2] + x[3] + x[4] + x[5]); }
IN fB(const double *x, int d) {
  const double sigma = 0.01;
  return pow(sqrt(2 * PI) * sigma, -d) * exp(-norm2(x, d) / (2 * sigma * sigma));
}

/* the hard ones */
IN oscillating(const double *x, int d) {
#include "oscillating.inc"
}

static double Z[40], MASS[21], RADIUS[16], ANGLE[11], SPECTRUM[40], RESPONSE[21 * 16], BEAM[11];
static const int COUNTS[11] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
static void make_tables(void) {
  for (int i = 0; i < 40; i++) Z[i] = 0.1 * pow(30, i / 39.0), SPECTRUM[i] = Z[i] * Z[i] * exp(-Z[i]);
  for (int i = 0; i < 21; i++) MASS[i] = 13 + i / 10.0;
  for (int i = 0; i < 16; i++) RADIUS[i] = 0.25 + i / 20.0;
  for (int i = 0; i < 11; i++) ANGLE[i] = -0.5 + i / 10.0, BEAM[i] = 1 + cos(5 * ANGLE[i]);
  for (int i = 0; i < 21; i++)
    for (int j = 0; j < 16; j++)
      RESPONSE[i * 16 + j] = (1 + RADIUS[j] * RADIUS[j]) / (1 + square(MASS[i] - 14) + RADIUS[j]);
}
/* the cell of x among n knots, and how far into it x lies; x beyond the last knots stays at them */
static inline int cell(const double *knots, int n, double x, double *t) {
  int low = 0, high = n - 1;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (knots[middle] <= x) low = middle;
    else high = middle;
  }
  *t = fmin(fmax((x - knots[low]) / (knots[low + 1] - knots[low]), 0), 1);
  return low;
}
static inline double lerp(double a, double b, double t) { return a + t * (b - a); }
static inline double table1(const double *knots, int n, const double *values, double x) {
  double t;
  int i = cell(knots, n, x, &t);
  return lerp(values[i], values[i + 1], t);
}
IN tabulated(const double *x, int d) {
  double decay = 0, t, u;
  for (int k = 0; k < 6; k++) decay += 1.0 / (k + 1) * exp(-(0.5 + k * k) * x[4]);
  int i = cell(MASS, 21, x[1], &t), j = cell(RADIUS, 16, x[2], &u);
  const double *row = RESPONSE + i * 16 + j;
  double response = lerp(lerp(row[0], row[1], u), lerp(row[16], row[17], u), t);
  double beam = x[3] < ANGLE[0] || x[3] > ANGLE[10] ? 0 : table1(ANGLE, 11, BEAM, x[3]);
  return table1(Z, 40, SPECTRUM, x[0]) * response * beam * decay * COUNTS[(int)(x[5] * 11)];
}

IN escape(const double *c, int d) {
  double x = 0, y = 0;
  int n = 0;
  while (n < 200 && x * x + y * y <= 4) {
    double t = x * x - y * y + c[0];
    y = 2 * x * y + c[1];
    x = t;
    n++;
  }
  return n;
}
IN incomplete_gamma(const double *p, int d) {
  double a = p[0], x = p[1];
  if (x <= 0) return 0;
  double front = exp(a * log(x) - x - lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < 1000; n++) {
      term *= x / (a + n);
      sum += term;
      if (term < sum * 1e-17) break;
    }
    return front * sum;
  }
  double b = x + 1 - a, c = 1e300, e = 1 / b, h = e;
  for (int n = 1; n < 1000; n++) {
    double an = -n * (n - a);
    b += 2;
    e = 1 / (an * e + b);
    c = b + an / c;
    h *= c * e;
    if (fabs(c * e - 1) < 3e-16) break;
  }
  return 1 - front * h;
}
IN skipping(const double *x, int d) {
  double power = 1, sum = 0;
  for (int n = 1;; n++) {
    power *= x[0];
    if (n % 3 == 0) continue;
    double term = power / ((double)n * n);
    if (term <= 1e-17) break;
    sum += term;
  }
  return sum;
}
IN branches(const double *p, int d) {
  const double edge = 0.25;
  double x = p[0], y = p[1], z = p[2], r2 = x * x + y * y + z * z;
  if (r2 > 1) {
    if (x > 0 && y > 0) return 0;
    return z > 0 || x < -0.5 ? log(r2) : -1;
  }
  if (r2 < edge * edge) return 1 / (edge + r2);
  if (x < y) {
    if (y < z) return sin(x + 2 * y);
    if (x < z) return sin(2 * x + z);
  } else {
    for (int i = 0; i < 3; i++)
      if (i * x > z) return exp(-i * r2);
  }
  return sqrt(1 - r2);
}
IN special(const double *x, int d) {
  return erf(3 * x[0] - 1) * erfc(x[1]) + erfinv(0.9 * x[2]) * lgamma(0.5 + 4 * x[3]) + j0(10 * x[0]) * j1(7 * x[2]);
}

/* every integrand at its dimensions, as a loop over a batch */
#define EACH(DO)                                                                                                  \
  DO(f1, 5) DO(f1, 6) DO(f1, 8) DO(f2, 3) DO(f2, 6) DO(f3, 3) DO(f3, 5) DO(f3, 8) DO(f4, 3) DO(f4, 5) DO(f4, 8)   \
  DO(f5, 5) DO(f5, 8) DO(f6, 6) DO(f7, 8) DO(f8, 8) DO(sine_exponential, 2) DO(linear, 10) DO(cosine, 10)         \
  DO(exponential, 10) DO(roos_arnold, 10) DO(morokoff_caflisch, 8) DO(gaussian, 4) DO(ridge, 4)                   \
  DO(asian_printed, 16) DO(asian_arithmetic, 16) DO(asian_geometric, 16) DO(path_integral, 7) DO(fA, 6) DO(fB, 9) \
  DO(oscillating, 10) DO(tabulated, 6) DO(escape, 2) DO(incomplete_gamma, 2) DO(skipping, 1) DO(branches, 3)      \
  DO(special, 4)

#define BATCH(NAME, D)                                            \
  static void NAME##_##D(const double *points, double *out) {     \
    for (int i = 0; i < N; i++) {                                 \
      double x[D];                                                \
      for (int axis = 0; axis < D; axis++) x[axis] = points[axis * N + i]; \
      out[i] = NAME(x, D);                                        \
    }                                                             \
  }
EACH(BATCH)

#define ROW(NAME, D) {#NAME "_" #D, D, NAME##_##D},
static const struct {
  const char *name;
  int dims;
  void (*batch)(const double *, double *);
} INTEGRANDS[] = {EACH(ROW)};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(void) {
  static double points[16 * N], out[N];
  static char line[4096], name[64], file[4096];
  void (*batch)(const double *, double *) = NULL;
  int repeats;
  make_tables();
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "load %63s %4095[^\n]", name, file) == 2) {
      batch = NULL;
      for (size_t k = 0; k < sizeof INTEGRANDS / sizeof *INTEGRANDS; k++) {
        if (strcmp(INTEGRANDS[k].name, name)) continue;
        FILE *f = fopen(file, "rb");
        size_t want = (size_t)INTEGRANDS[k].dims * N;
        if (f && fread(points, sizeof(double), want, f) == want) batch = INTEGRANDS[k].batch;
        if (f) fclose(f);
      }
      puts(batch ? "ok" : "unknown");
    } else if (sscanf(line, "run %d", &repeats) == 1 && batch) {
      double start = now();
      for (int r = 0; r < repeats; r++) batch(points, out);
      double seconds = now() - start, sum = 0;
      for (int i = 0; i < N; i++) sum += out[i];
      printf("%.9g %.17g\n", seconds, sum);
    } else {
      puts("what?");
    }
    fflush(stdout);
  }
  return 0;
}
