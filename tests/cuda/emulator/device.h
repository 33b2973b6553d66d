// CUDA C++ as g++ understands it: what NVRTC knows without any include. Goes in front of a kernel text.
//
// A thread is a fiber; it leaves the processor only in the calls that go through `services`: barriers, warp
// operations, __nanosleep. Device memory is the host's. What is not emulated: inline PTX (but see nvrtc.cpp), kernels
// that wait for a block which has not started, and casts of numbers that do not fit: those saturate on a GPU.
#pragma once
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS  // C's own math.h: that of C++ takes as long to compile as a small kernel
#include <math.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <stdio.h>
#include <string.h>

#include <type_traits>
#include <utility>

#include "module.h"

#define __CUDA_ARCH__ 900
#define __CUDACC_RTC__ 1
#define __device__
#define __host__
#define __constant__
#define __global__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
// blocks run one after another, so one copy does; in a section of its own, so that it can be spoilt before each block
#define __shared__ static __attribute__((section("emulator_shared")))
#define __restrict__ __restrict
#undef assert
#define assert(x) ((x) ? (void)0 : emulator::services->fault(710, "assert(" #x ")"))

struct uint3 { unsigned x, y, z; };
struct dim3 : uint3 {
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : uint3{x, y, z} {}
};
#define VECTORS(T, name)                                                                       \
  struct name##2 { T x, y; };                                                                  \
  struct name##4 { T x, y, z, w; };                                                            \
  static inline name##2 make_##name##2(T x, T y) { return {x, y}; }                            \
  static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
VECTORS(int, int)
VECTORS(unsigned, uint)
VECTORS(float, float)
VECTORS(double, double)
VECTORS(unsigned long long, ulonglong)
#undef VECTORS

static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static const int warpSize = 32;

namespace emulator {

static const Services* services;
static char* dynamicShared;
extern "C" char __start_emulator_shared[] __attribute__((weak, visibility("hidden")));
extern "C" char __stop_emulator_shared[] __attribute__((weak, visibility("hidden")));

/** What `extern __shared__ T name[]` becomes: T* const name = emulator::Dynamic(). */
struct Dynamic {
  template <class T>
  operator T*() const { return (T*)dynamicShared; }
};

template <class... A>
struct Signature {
  static constexpr unsigned sizes[] = {sizeof(A)..., 0};
};
template <class... A>
constexpr const unsigned* sizesOf(void (*)(A...)) { return Signature<A...>::sizes; }
template <class... A, size_t... I>
void spread(void (*f)(A...), void** p, std::index_sequence<I...>) { f(*(A*)p[I]...); }
template <class... A>
void callWith(void (*f)(A...), void** p) { spread(f, p, std::index_sequence_for<A...>()); }

template <class T>
using Same = typename std::enable_if<true, T>::type;  // not deduced
template <class T, class... Known>
constexpr bool oneOf = (std::is_same<T, Known>::value || ...);

template <class To, class From>
inline To bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "");
  To y;
  memcpy(&y, &x, sizeof y);
  return y;
}
static inline unsigned lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

}  // namespace emulator

// Barriers and warps

static inline void __syncthreads() { emulator::services->meet(0); }
static inline int __syncthreads_count(int p) { return emulator::services->meet(p != 0); }
static inline int __syncthreads_or(int p) { return emulator::services->meet(p != 0) != 0; }
static inline int __syncthreads_and(int p) { return emulator::services->meet(p == 0) == 0; }
static inline unsigned __ballot_sync(unsigned mask, int p) { return emulator::services->vote(mask, p != 0); }
static inline void __syncwarp(unsigned mask = 0xffffffffu) { __ballot_sync(mask, 0); }
static inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
static inline int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, !p) == 0; }
// a GPU may split a warp as it likes: a thread alone is always a right answer
static inline unsigned __activemask() { return 1u << emulator::lane(); }

template <class T>
inline T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  static_assert(emulator::oneOf<T, int, unsigned, long, unsigned long, long long, unsigned long long, float, double>,
                "no __shfl for this type");
  const unsigned own = emulator::lane(), first = own & ~(width - 1u);
  emulator::u64 word = 0;
  memcpy(&word, &value, sizeof value);
  word = emulator::services->shuffle(mask, word, first + (from & (width - 1)));
  memcpy(&value, &word, sizeof value);
  return value;
}
// from a thread outside its part of the warp a thread gets its own
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const unsigned own = emulator::lane() & (width - 1u);
  return __shfl_sync(mask, value, own + by < (unsigned)width ? own + by : own, width);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const unsigned own = emulator::lane() & (width - 1u);
  return __shfl_sync(mask, value, own >= by ? own - by : own, width);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32) {
  const unsigned own = emulator::lane(), from = own ^ with;
  return __shfl_sync(mask, value, (from | (width - 1u)) <= (own | (width - 1u)) ? from : own, 32);
}

static inline void __nanosleep(unsigned) { emulator::services->pause(); }
static inline long long clock64() { return emulator::services->nanoseconds(); }
static inline void __trap() { emulator::services->fault(719, "__trap"); }

// Memory. The host may look at it at any time, so atomics are real ones.

static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __threadfence(); }
static inline void __threadfence_system() { __threadfence(); }
template <class T>
inline T __ldg(const T* p) { return *p; }
template <class T>
inline T __ldcg(const T* p) { return *(const volatile T*)p; }

// shared memory is memory like all of it
static inline size_t __cvta_generic_to_shared(const void* p) { return (size_t)p; }
static inline void* __cvta_shared_to_generic(size_t p) { return (void*)p; }

namespace emulator {
template <class T, class F>
inline T update(T* p, F f) {
  T old;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  for (;;) {
    T next = f(old);
    if (__atomic_compare_exchange(p, &old, &next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return old;
  }
}
}  // namespace emulator
#define ATOMIC(name, becomes, ...)                                                              \
  template <class T>                                                                           \
  inline T name(T* p, emulator::Same<T> v) {                                                   \
    static_assert(emulator::oneOf<T, __VA_ARGS__>, "no " #name " for this type");              \
    return emulator::update(p, [=](T old) -> T { return becomes; });                           \
  }                                                                                            \
  template <class T>                                                                           \
  inline T name##_system(T* p, emulator::Same<T> v) { return name(p, v); }                     \
  template <class T>                                                                           \
  inline T name##_block(T* p, emulator::Same<T> v) { return name(p, v); }
ATOMIC(atomicAdd, old + v, int, unsigned, unsigned long long, float, double)
ATOMIC(atomicSub, old - v, int, unsigned)
ATOMIC(atomicExch, v, int, unsigned, unsigned long long, float)
ATOMIC(atomicMin, old < v ? old : v, int, unsigned, long long, unsigned long long)
ATOMIC(atomicMax, old > v ? old : v, int, unsigned, long long, unsigned long long)
ATOMIC(atomicAnd, old & v, int, unsigned, unsigned long long)
ATOMIC(atomicOr, old | v, int, unsigned, unsigned long long)
ATOMIC(atomicXor, old ^ v, int, unsigned, unsigned long long)
ATOMIC(atomicInc, old >= v ? 0 : old + 1, unsigned)
#undef ATOMIC
template <class T>
inline T atomicCAS(T* p, emulator::Same<T> expected, emulator::Same<T> v) {
  static_assert(emulator::oneOf<T, int, unsigned, unsigned long long, unsigned short>, "no atomicCAS for this type");
  return emulator::update(p, [=](T old) -> T { return old == expected ? v : old; });
}
template <class T>
inline T atomicCAS_system(T* p, emulator::Same<T> expected, emulator::Same<T> v) { return atomicCAS(p, expected, v); }

// Integers and bits

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
// the upper word, as the card's
static inline double __rsqrt_approx(double x) {
  const double y = 1 / sqrt(x);
  unsigned long long bits;
  memcpy(&bits, &y, 8);
  bits &= ~0xffffffffull;
  double upper;
  memcpy(&upper, &bits, 8);
  return upper;
}
// byte i of the result is the byte of y:x that nibble i of the selector names
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  const unsigned long long all = (unsigned long long)y << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; i++) result |= (unsigned)(all >> 8 * (s >> 4 * i & 7) & 255) << 8 * i;
  return result;
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
static inline double __longlong_as_double(long long x) { return emulator::bits<double>(x); }
static inline long long __double_as_longlong(double x) { return emulator::bits<long long>(x); }
static inline float __int_as_float(int x) { return emulator::bits<float>(x); }
static inline int __float_as_int(float x) { return emulator::bits<int>(x); }
static inline float __uint_as_float(unsigned x) { return emulator::bits<float>(x); }
static inline unsigned __float_as_uint(float x) { return emulator::bits<unsigned>(x); }
static inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
static inline int __double2loint(double x) { return (int)__double_as_longlong(x); }
static inline double __hiloint2double(int hi, int lo) {
  return __longlong_as_double((long long)((unsigned long long)(unsigned)hi << 32 | (unsigned)lo));
}

// Conversions saturate; NaN is 0, or the least number of 64 bits
#define CONVERSIONS(T, name, least, beyond, nan)                                               \
  static inline T emulator_##name(double x) {                                                  \
    return x != x ? (T)nan : x < least ? (T)least : x >= beyond ? (T)((T)0 - 1 < (T)0 ? ~(T)least : ~(T)0) : (T)x; \
  }                                                                                            \
  static inline T __double2##name##_rn(double x) { return emulator_##name(rint(x)); }          \
  static inline T __double2##name##_rz(double x) { return emulator_##name(trunc(x)); }         \
  static inline T __double2##name##_rd(double x) { return emulator_##name(floor(x)); }         \
  static inline T __double2##name##_ru(double x) { return emulator_##name(ceil(x)); }
CONVERSIONS(int, int, -2147483648.0, 2147483648.0, 0)
CONVERSIONS(unsigned, uint, 0.0, 4294967296.0, 0)
CONVERSIONS(long long, ll, -9223372036854775808.0, 9223372036854775808.0, (1ull << 63))
CONVERSIONS(unsigned long long, ull, 0.0, 18446744073709551616.0, (1ull << 63))
#undef CONVERSIONS
static inline double __uint2double_rn(unsigned x) { return x; }
static inline double __int2double_rn(int x) { return x; }
static inline double __ull2double_rn(unsigned long long x) { return (double)x; }
static inline double __ll2double_rn(long long x) { return (double)x; }

// Arithmetic

static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dadd_rd(double a, double b) {  // by what the sum rounds off, which is exact (Knuth's two-sum)
  const volatile double sum = a + b;
  const volatile double of = sum - a, lost = (a - (sum - of)) + (b - of);
  return lost < 0 ? nextafter(sum, -INFINITY) : sum;
}
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double x) { return sqrt(x); }
static inline double __drcp_rn(double x) { return 1 / x; }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

// as in CUDA's headers: the wider of two types, unsigned before signed
template <class A, class B, class T = typename std::common_type<A, B>::type>
inline T min(A a, B b) {
  if constexpr (std::is_floating_point<T>::value) return a != a ? b : b != b ? a : (T)a < (T)b ? (T)a : (T)b;
  else return (T)a < (T)b ? (T)a : (T)b;
}
template <class A, class B, class T = typename std::common_type<A, B>::type>
inline T max(A a, B b) {
  if constexpr (std::is_floating_point<T>::value) return a != a ? b : b != b ? a : (T)a > (T)b ? (T)a : (T)b;
  else return (T)a > (T)b ? (T)a : (T)b;
}

static inline double rsqrt(double x) { return 1 / sqrt(x); }
static inline double rcbrt(double x) { return 1 / cbrt(x); }
static inline double sinpi(double x) {
  const double r = remainder(x, 2);
  return r == rint(r) ? copysign(0.0, x) : sin(M_PI * (fabs(r) > 0.5 ? copysign(1, r) - r : r));
}
static inline double cospi(double x) {
  const double r = fabs(remainder(x, 2));
  return r == 0.5 ? 0 : r < 0.25 ? cos(M_PI * r) : sin(M_PI * (0.5 - r));
}
static inline void sincospi(double x, double* s, double* c) {
  *s = sinpi(x);
  *c = cospi(x);
}
/** Halley's method on erf or, where that is close to 1, on erfc. */
static inline double erfinv(double x) {
  const double a = fabs(x);
  if (!(a < 1)) return a == 1 ? copysign(HUGE_VAL, x) : NAN;
  if (a < 1e-9) return x * 0.88622692545275801365;
  double y = a > 0.5 ? sqrt(-log(1 - a)) : a;
  for (int i = 0; i < 20; i++) {
    const double slope = 1.12837916709551257390 * exp(-y * y);
    const double step = (a > 0.5 ? (1 - a) - erfc(y) : erf(y) - a) / slope;
    y -= step / (1 + y * step);  // the second derivative is −2y times the first
    if (fabs(step) <= 2e-16 * y) break;
  }
  return copysign(y, x);
}
