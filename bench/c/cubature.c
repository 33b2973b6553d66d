/*
 * Cuba's Cuhre and Johnson's hcubature on the benchmark's integrands, written in straightforward C, over the unit
 * cube. Both come from the library of Debian's r-cran-cubature, which runs without R being initialised as long as it
 * has nothing to print. Built by the harness with -O3 -march=native; the harness decides what to run.
 *
 * Commands on stdin, one answer line each:
 *   cuhre NAME RELTOL MAXEVAL FLAGS
 *   hcubature NAME RELTOL MAXEVAL FLAGS      flags mean nothing here
 *     -> seconds, evaluations, value, error, 1 when converged; or "unknown" when there is no such integrand
 */
#include <cuba.h>
#include <cubature.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define IN static inline double

static inline double square(double t) { return t * t; }

/* n is a constant wherever this is inlined: what remains are the multiplications */
static inline double power(double t, int n) {
  double p = 1;
  for (; n; n >>= 1, t *= t)
    if (n & 1) p *= t;
  return p;
}

/* m-Cubes and PAGANI */
IN f1(const double *x, int d) {
  double s = 0;
  for (int i = 0; i < d; i++) s += (i + 1) * x[i];
  return cos(s);
}
IN f2(const double *x, int d) {
  double p = 1; /* one division, not d */
  for (int i = 0; i < d; i++) p *= 1.0 / 2500 + square(x[i] - 0.5);
  return 1 / p;
}
IN f3(const double *x, int d) {
  double s = 1;
  for (int i = 0; i < d; i++) s += (i + 1) * x[i];
  return 1 / power(s, d + 1);
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
  for (int i = 0; i < d; i++) s += square(x[i]);
  return s;
}
IN f7(const double *x, int d) { return power(norm2(x, d), 11); }
IN f8(const double *x, int d) {
  double s = norm2(x, d);
  return power(s, 7) * sqrt(s);
}

/* every integrand at its dimensions, in the shapes the two call: the dimensions are constants, for the compiler to
   unroll; Cuhre counts on its own, hcubature does not */
#define EACH(DO)                                                                                             \
  DO(f1, 5) DO(f1, 6) DO(f1, 8) DO(f2, 3) DO(f2, 6) DO(f3, 3) DO(f3, 5) DO(f3, 8) DO(f4, 3) DO(f4, 5)         \
  DO(f4, 8) DO(f5, 5) DO(f5, 8) DO(f6, 6) DO(f7, 8) DO(f8, 8)

#define CALLS(NAME, D)                                                                                       \
  static int cuhre_##NAME##_##D(const int *dims, const double *x, const int *components, double *y, void *data) { \
    *y = NAME(x, D);                                                                                         \
    return 0;                                                                                                \
  }                                                                                                          \
  static int hcubature_##NAME##_##D(unsigned dims, const double *x, void *count, unsigned components, double *y) { \
    ++*(size_t *)count;                                                                                      \
    *y = NAME(x, D);                                                                                         \
    return 0;                                                                                                \
  }
EACH(CALLS)

#define ROW(NAME, D) {#NAME "_" #D, D, cuhre_##NAME##_##D, hcubature_##NAME##_##D},
typedef struct {
  const char *name;
  int dims;
  integrand_t cuhre;
  integrand hcubature;
} Integrand;
static const Integrand INTEGRANDS[] = {EACH(ROW)};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static void say(double seconds, size_t evaluations, double value, double error, int converged) {
  printf("%.9g %zu %.17g %.17g %d\n", seconds, evaluations, value, error, converged);
}

static void run_cuhre(const Integrand *f, double tolerance, double most, int flags) {
  /* counts are ints, and a bisection goes beyond the limit by two rules: stay clear of INT_MAX */
  int limit = fmin(most, 2e9), regions, evaluations, fail;
  double value, error, prob, start = now();
  Cuhre(f->dims, 1, f->cuhre, NULL, 1, tolerance, 1e-200, flags, 0, limit, 0, NULL, NULL, &regions, &evaluations,
        &fail, &value, &error, &prob);
  say(now() - start, evaluations, value, error, fail == 0);
}

static void run_hcubature(const Integrand *f, double tolerance, double most) {
  static const double low[8], high[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  size_t evaluations = 0, limit = fmax(1, fmin(most, 1e18)); /* 0 would be no limit */
  double value, error, start = now();
  int fail = hcubature(1, f->hcubature, &evaluations, f->dims, low, high, limit, 0, tolerance, ERROR_INDIVIDUAL,
                       &value, &error);
  double seconds = now() - start;
  /* running into the limit is no failure to it; below the limit it stops for convergence alone, though the error,
     summed anew at the end, may differ from the one it judged by a rounding */
  int converged = !fail && (evaluations < limit || error <= tolerance * fabs(value));
  say(seconds, evaluations, value, error, converged);
}

int main(void) {
  static char line[256], method[16], name[64];
  double tolerance, most;
  int flags;
  while (fgets(line, sizeof line, stdin)) {
    const Integrand *f = NULL;
    if (sscanf(line, "%15s %63s %lf %lf %d", method, name, &tolerance, &most, &flags) == 5)
      for (size_t k = 0; k < sizeof INTEGRANDS / sizeof *INTEGRANDS; k++)
        if (!strcmp(INTEGRANDS[k].name, name)) f = INTEGRANDS + k;
    if (f && !strcmp(method, "cuhre")) run_cuhre(f, tolerance, most, flags & ~3); /* the low bits print */
    else if (f && !strcmp(method, "hcubature")) run_hcubature(f, tolerance, most);
    else puts("unknown");
    fflush(stdout);
  }
  return 0;
}
