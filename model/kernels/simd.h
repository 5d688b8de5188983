// Sixteen floats. Included by each kernels_*.cc, which is compiled for one instruction set and
// defines COBRA_KERNELS_TARGET, the namespace of all that is compiled there: inline functions of
// the standard library must not be instantiated in these files, since the linker could give the
// rest of the program those of another instruction set.
#include <stddef.h>
#include <stdint.h>
#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace cobra::kernels::COBRA_KERNELS_TARGET {

inline constexpr int kLanes = 16;

#if defined(__AVX512F__)

struct F16 {
  __m512 v;
};
inline F16 Load(const float* p) { return {_mm512_loadu_ps(p)}; }
inline void Store(float* p, F16 a) { _mm512_storeu_ps(p, a.v); }
inline F16 Set(float a) { return {_mm512_set1_ps(a)}; }
inline F16 Add(F16 a, F16 b) { return {_mm512_add_ps(a.v, b.v)}; }
inline F16 Sub(F16 a, F16 b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline F16 Mul(F16 a, F16 b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline F16 Div(F16 a, F16 b) { return {_mm512_div_ps(a.v, b.v)}; }
inline F16 Fma(F16 a, F16 b, F16 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
inline F16 Max(F16 a, F16 b) { return {_mm512_max_ps(a.v, b.v)}; }
inline F16 Min(F16 a, F16 b) { return {_mm512_min_ps(a.v, b.v)}; }
inline F16 Round(F16 a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
// 2^a of whole numbers within a float's range of exponents.
inline F16 PowerOfTwo(F16 a) {
  const __m512i exponent = _mm512_add_epi32(_mm512_cvtps_epi32(a.v), _mm512_set1_epi32(127));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23))};
}

#elif defined(__AVX2__) && defined(__FMA__)

struct F16 {
  __m256 low, high;
};
inline F16 Load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
inline void Store(float* p, F16 a) {
  _mm256_storeu_ps(p, a.low);
  _mm256_storeu_ps(p + 8, a.high);
}
inline F16 Set(float a) { return {_mm256_set1_ps(a), _mm256_set1_ps(a)}; }
inline F16 Add(F16 a, F16 b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
inline F16 Sub(F16 a, F16 b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
inline F16 Mul(F16 a, F16 b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
inline F16 Div(F16 a, F16 b) { return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)}; }
inline F16 Fma(F16 a, F16 b, F16 c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
inline F16 Max(F16 a, F16 b) { return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)}; }
inline F16 Min(F16 a, F16 b) { return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)}; }
inline __m256 Round(__m256 a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline F16 Round(F16 a) { return {Round(a.low), Round(a.high)}; }
inline __m256 PowerOfTwo(__m256 a) {
  const __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(a), _mm256_set1_epi32(127));
  return _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
}
inline F16 PowerOfTwo(F16 a) { return {PowerOfTwo(a.low), PowerOfTwo(a.high)}; }

#elif defined(COBRA_KERNELS_NEON)

struct F16 {
  float32x4_t v[4];
};
template <typename Operation>
inline F16 Each(Operation operation) {
  return {operation(0), operation(1), operation(2), operation(3)};
}
inline F16 Load(const float* p) {
  return Each([&](int i) { return vld1q_f32(p + 4 * i); });
}
inline void Store(float* p, F16 a) {
  for (int i = 0; i < 4; ++i) vst1q_f32(p + 4 * i, a.v[i]);
}
inline F16 Set(float a) {
  return Each([&](int) { return vdupq_n_f32(a); });
}
inline F16 Add(F16 a, F16 b) {
  return Each([&](int i) { return vaddq_f32(a.v[i], b.v[i]); });
}
inline F16 Sub(F16 a, F16 b) {
  return Each([&](int i) { return vsubq_f32(a.v[i], b.v[i]); });
}
inline F16 Mul(F16 a, F16 b) {
  return Each([&](int i) { return vmulq_f32(a.v[i], b.v[i]); });
}
inline F16 Div(F16 a, F16 b) {
  return Each([&](int i) { return vdivq_f32(a.v[i], b.v[i]); });
}
inline F16 Fma(F16 a, F16 b, F16 c) {
  return Each([&](int i) { return vfmaq_f32(c.v[i], a.v[i], b.v[i]); });
}
// As on x86, `b` if one of the two is NaN: vmaxq_f32 would give NaN.
inline F16 Max(F16 a, F16 b) {
  return Each([&](int i) { return vbslq_f32(vcgtq_f32(a.v[i], b.v[i]), a.v[i], b.v[i]); });
}
inline F16 Min(F16 a, F16 b) {
  return Each([&](int i) { return vbslq_f32(vcltq_f32(a.v[i], b.v[i]), a.v[i], b.v[i]); });
}
inline F16 Round(F16 a) {
  return Each([&](int i) { return vrndnq_f32(a.v[i]); });
}
inline F16 PowerOfTwo(F16 a) {
  return Each([&](int i) {
    const int32x4_t exponent = vaddq_s32(vcvtq_s32_f32(a.v[i]), vdupq_n_s32(127));
    return vreinterpretq_f32_s32(vshlq_n_s32(exponent, 23));
  });
}

#else

struct F16 {
  float v[kLanes];
};
template <typename Operation>
inline F16 Each(Operation operation) {
  F16 out;
  for (int i = 0; i < kLanes; ++i) out.v[i] = operation(i);
  return out;
}
// Where the processor has no fused multiply-add, the product is rounded first, and the last bits
// differ.
inline float Fused(float a, float b, float c) {
#ifdef __FP_FAST_FMAF
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
inline F16 Load(const float* p) {
  return Each([&](int i) { return p[i]; });
}
inline void Store(float* p, F16 a) {
  for (int i = 0; i < kLanes; ++i) p[i] = a.v[i];
}
inline F16 Set(float a) {
  return Each([&](int) { return a; });
}
inline F16 Add(F16 a, F16 b) {
  return Each([&](int i) { return a.v[i] + b.v[i]; });
}
inline F16 Sub(F16 a, F16 b) {
  return Each([&](int i) { return a.v[i] - b.v[i]; });
}
inline F16 Mul(F16 a, F16 b) {
  return Each([&](int i) { return a.v[i] * b.v[i]; });
}
inline F16 Div(F16 a, F16 b) {
  return Each([&](int i) { return a.v[i] / b.v[i]; });
}
inline F16 Fma(F16 a, F16 b, F16 c) {
  return Each([&](int i) { return Fused(a.v[i], b.v[i], c.v[i]); });
}
inline F16 Max(F16 a, F16 b) {
  return Each([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}
inline F16 Min(F16 a, F16 b) {
  return Each([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
}
// Adding and taking away 1.5 * 2^23 leaves a whole number, rounded to the nearest one, if it is
// below 2^22.
inline F16 Round(F16 a) {
  return Each([&](int i) { return (a.v[i] + 12582912.0f) - 12582912.0f; });
}
inline F16 PowerOfTwo(F16 a) {
  return Each([&](int i) {
    const uint32_t bits = static_cast<uint32_t>(static_cast<int32_t>(a.v[i]) + 127) << 23;
    float power;
    __builtin_memcpy(&power, &bits, sizeof(power));
    return power;
  });
}

#endif

}  // namespace cobra::kernels::COBRA_KERNELS_TARGET
