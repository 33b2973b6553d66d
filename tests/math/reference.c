/*
 * True values of the math library's functions, from MPFR.
 *
 * Usage: reference <function>. Reads float64 arguments on stdin (one a point, or two for the functions of two), writes
 * for each point the true value as two float64: hi, its rounding, and lo, what is left, in ulp of hi (2^-1074 among the
 * subnormals), so that it does not underflow. Where hi is infinite or NaN, lo is 0. Built and called by mpfr.ts.
 */
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

#define BITS 260

typedef int (*unary)(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int (*binary)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

static int log_abs_gamma(mpfr_t r, const mpfr_t x, mpfr_rnd_t rnd) {
  int sign;
  if (mpfr_integer_p(x) && mpfr_sgn(x) <= 0) {
    mpfr_set_inf(r, 1);
    return 0;
  }
  return mpfr_lgamma(r, &sign, x, rnd);
}

/* Halley's iteration on erf(y) = x, from the approximation of Winitzki. */
static int erf_inverse(mpfr_t y, const mpfr_t x, mpfr_rnd_t rnd) {
  if (mpfr_nan_p(x) || mpfr_cmpabs_ui(x, 1) > 0) {
    mpfr_set_nan(y);
    return 0;
  }
  if (mpfr_zero_p(x)) return mpfr_set(y, x, rnd);
  if (mpfr_cmpabs_ui(x, 1) == 0) {
    mpfr_set_inf(y, mpfr_sgn(x));
    return 0;
  }
  mpfr_t a, b, c, slope;
  mpfr_inits2(2 * BITS, a, b, c, slope, (mpfr_ptr)0);
  /* a = log(1 - x²), b = 2/(π·0.147) + a/2, y = sqrt(sqrt(b² - a/0.147) - b) */
  mpfr_sqr(a, x, rnd);
  mpfr_neg(a, a, rnd);
  mpfr_log1p(a, a, rnd);
  mpfr_const_pi(b, rnd);
  mpfr_mul_d(b, b, 0.147, rnd);
  mpfr_ui_div(b, 2, b, rnd);
  mpfr_div_ui(c, a, 2, rnd);
  mpfr_add(b, b, c, rnd);
  mpfr_sqr(c, b, rnd);
  mpfr_div_d(a, a, 0.147, rnd);
  mpfr_sub(c, c, a, rnd);
  mpfr_sqrt(c, c, rnd);
  mpfr_sub(c, c, b, rnd);
  mpfr_sqrt(c, c, rnd);
  mpfr_setsign(c, c, mpfr_signbit(x), rnd);
  for (int i = 0; i < 5; i++) {
    mpfr_sqr(slope, c, rnd);
    mpfr_exp(slope, slope, rnd);
    mpfr_const_pi(a, rnd);
    mpfr_sqrt(a, a, rnd);
    mpfr_mul(slope, slope, a, rnd);
    mpfr_div_ui(slope, slope, 2, rnd); /* dy/dx */
    mpfr_erf(a, c, rnd);
    mpfr_sub(a, a, x, rnd);
    mpfr_mul(a, a, slope, rnd); /* Newton's step */
    mpfr_mul(b, a, c, rnd);
    mpfr_add_ui(b, b, 1, rnd);
    mpfr_div(a, a, b, rnd);
    mpfr_sub(c, c, a, rnd);
  }
  mpfr_set(y, c, rnd);
  mpfr_clears(a, b, c, slope, (mpfr_ptr)0);
  return 0;
}

static const struct {
  const char *name;
  unary one;
  binary two;
} functions[] = {
    {"exp", mpfr_exp, 0},       {"exp2", mpfr_exp2, 0},         {"expm1", mpfr_expm1, 0},
    {"log", mpfr_log, 0},       {"log2", mpfr_log2, 0},         {"log10", mpfr_log10, 0},
    {"log1p", mpfr_log1p, 0},   {"pow", 0, mpfr_pow},           {"sin", mpfr_sin, 0},
    {"cos", mpfr_cos, 0},       {"tan", mpfr_tan, 0},           {"asin", mpfr_asin, 0},
    {"acos", mpfr_acos, 0},     {"atan", mpfr_atan, 0},         {"atan2", 0, mpfr_atan2},
    {"sinh", mpfr_sinh, 0},     {"cosh", mpfr_cosh, 0},         {"tanh", mpfr_tanh, 0},
    {"asinh", mpfr_asinh, 0},   {"acosh", mpfr_acosh, 0},       {"atanh", mpfr_atanh, 0},
    {"cbrt", mpfr_cbrt, 0},     {"hypot", 0, mpfr_hypot},       {"erf", mpfr_erf, 0},
    {"erfc", mpfr_erfc, 0},     {"erfinv", erf_inverse, 0},     {"lgamma", log_abs_gamma, 0},
    {"j0", mpfr_j0, 0},         {"j1", mpfr_j1, 0},
};

int main(int argc, char **argv) {
  if (argc != 2) return 1;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (strcmp(functions[i].name, argv[1]) != 0) continue;
    mpfr_t x, y, r;
    mpfr_inits2(53, x, y, (mpfr_ptr)0);
    mpfr_init2(r, BITS);
    double in[2], out[2];
    size_t size = functions[i].two ? 2 : 1;
    while (fread(in, sizeof *in, size, stdin) == size) {
      mpfr_set_d(x, in[0], MPFR_RNDN);
      if (functions[i].two) {
        mpfr_set_d(y, in[1], MPFR_RNDN);
        functions[i].two(r, x, y, MPFR_RNDN);
      } else {
        functions[i].one(r, x, MPFR_RNDN);
      }
      out[0] = mpfr_get_d(r, MPFR_RNDN);
      out[1] = 0;
      if (mpfr_number_p(r) && out[0] - out[0] == 0) {
        int exponent = -1021; /* frexp's, so that ulp(hi) = 2^(exponent - 53) */
        if (out[0] != 0) frexp(out[0], &exponent);
        if (exponent < -1021) exponent = -1021;
        mpfr_sub_d(r, r, out[0], MPFR_RNDN);
        mpfr_mul_2si(r, r, 53 - exponent, MPFR_RNDN);
        out[1] = mpfr_get_d(r, MPFR_RNDN);
      }
      fwrite(out, sizeof *out, 2, stdout);
    }
    return 0;
  }
  fprintf(stderr, "no function named %s\n", argv[1]);
  return 1;
}
