/*
 * GSL's VEGAS on the benchmark's integrands, written in straightforward C, over the unit cube.
 * Built by the harness with -O3 -march=native; the harness decides what to run.
 *
 * Commands on stdin, one answer line each:
 *   new NAME SEED            a fresh grid for this integrand    -> "ok", or "unknown" when there is no such integrand
 *   run STAGE CALLS ITERATIONS   iterations of so many calls; stage 0 forgets all, 1 keeps the grid only
 *                                -> seconds, evaluations, value, error, chi2/dof
 * VEGAS rounds the calls down to a multiple of its boxes, by up to a quarter in 8 dimensions: the evaluations are
 * what it really makes.
 */
#include <gsl/gsl_monte_vegas.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define IN static inline double

static inline double square(double t) { return t * t; }

/* m-Cubes */
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

/* cuVegas */
IN roos_arnold(const double *x, int d) {
  double p = 1;
  for (int i = 0; i < d; i++) p *= fabs(4 * x[i] - 2);
  return p;
}
IN gaussian(const double *x, int d) {
  const double variance = 0.01 * 0.01;
  double s = 0;
  for (int i = 0; i < d; i++) s += square(x[i] - 0.5);
  return exp(-s / (2 * variance)) / pow(2 * M_PI * variance, d / 2.0);
}

/* every integrand at its dimensions, in the shape GSL calls: the dimensions are constants, for the compiler to unroll */
#define EACH(DO) \
  DO(f2, 6) DO(f3, 3) DO(f4, 5) DO(f4, 8) DO(f5, 8) DO(f6, 6) DO(roos_arnold, 10) DO(gaussian, 4)

#define CALL(NAME, D) \
  static double NAME##_##D(double *x, size_t dim, void *params) { return NAME(x, D); }
EACH(CALL)

#define ROW(NAME, D) {#NAME "_" #D, D, NAME##_##D},
static const struct {
  const char *name;
  size_t dims;
  double (*f)(double *, size_t, void *);
} INTEGRANDS[] = {EACH(ROW)};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

/* runs a stage and says what came of it */
static void run(gsl_monte_vegas_state *vegas, gsl_monte_function *f, gsl_rng *random, int stage, size_t calls,
                size_t iterations) {
  static double low[10], high[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  gsl_monte_vegas_params params;
  gsl_monte_vegas_params_get(vegas, &params);
  params.stage = stage;
  params.iterations = iterations;
  gsl_monte_vegas_params_set(vegas, &params);
  double value, error, start = now();
  gsl_monte_vegas_integrate(f, low, high, f->dim, calls, random, vegas, &value, &error);
  double seconds = now() - start;
  double evaluations = (double)iterations * vegas->calls_per_box * pow(vegas->boxes, f->dim);
  printf("%.9g %.0f %.17g %.17g %.9g\n", seconds, evaluations, value, error, gsl_monte_vegas_chisq(vegas));
}

int main(void) {
  static char line[256], name[64];
  gsl_rng *random = gsl_rng_alloc(gsl_rng_default);
  gsl_monte_vegas_state *vegas = NULL;
  gsl_monte_function function = {NULL, 0, NULL};
  unsigned long seed;
  size_t calls, iterations;
  int stage;
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "new %63s %lu", name, &seed) == 2) {
      if (vegas) gsl_monte_vegas_free(vegas);
      vegas = NULL;
      for (size_t k = 0; k < sizeof INTEGRANDS / sizeof *INTEGRANDS; k++) {
        if (strcmp(INTEGRANDS[k].name, name)) continue;
        function.f = INTEGRANDS[k].f;
        function.dim = INTEGRANDS[k].dims;
        vegas = gsl_monte_vegas_alloc(function.dim);
        gsl_rng_set(random, seed);
      }
      puts(vegas ? "ok" : "unknown");
    } else if (sscanf(line, "run %d %zu %zu", &stage, &calls, &iterations) == 3 && vegas) {
      run(vegas, &function, random, stage, calls, iterations);
    } else {
      puts("what?");
    }
    fflush(stdout);
  }
  return 0;
}
