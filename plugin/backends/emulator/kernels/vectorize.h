// Macros that compile a function for several vector instruction sets and run the best version for the target CPU.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_VECTORIZE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_VECTORIZE_H_

#include "plugin/backends/emulator/kernels/compiler_target.h"

namespace hpu::emulator {

// Whether the processor has the AVX-512 features of the target attribute below.
inline bool HasAvx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

template <typename Function>
Function BestOf(Function baseline, Function avx2, Function avx512) {
  if (IsTargetGeneric()) return baseline;
  if (HasAvx512()) return avx512;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2 : baseline;
}

}  // namespace hpu::emulator

// Required for all functions that a vectorised function calls in its loops, so that they are compiled for each
// instruction set.
#define HPU_INLINE inline __attribute__((always_inline))

// Placed before a loop over a few elements. Without it, compilers unroll the loop instead of vectorising it.
#define HPU_SIMD _Pragma("omp simd")

// Defines the function void name(const Arguments&), which calls `body`. `body` must be HPU_INLINE. `name` may be
// overloaded on Arguments.
#define HPU_VECTORIZED(name, Arguments, body) HPU_VECTORIZED_AS(name, Arguments, body, body, body)

// The same for `body::Run<n>`, where n is the number of floats in a register.
#define HPU_VECTORIZED_BY_REGISTERS(name, Arguments, body) \
  HPU_VECTORIZED_AS(name, Arguments, body::Run<4>, body::Run<8>, body::Run<16>)

#define HPU_VECTORIZED_AS(name, Arguments, baseline, avx2, avx512)                                             \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512"))) void name##Avx512( \
      const Arguments& arguments) {                                                                            \
    avx512(arguments);                                                                                         \
  }                                                                                                            \
  __attribute__((target("avx2,fma"))) void name##Avx2(const Arguments& arguments) { avx2(arguments); }         \
  void name##Baseline(const Arguments& arguments) { baseline(arguments); }                                     \
  void name(const Arguments& arguments) {                                                                      \
    using Function = void (*)(const Arguments&);                                                               \
    static const auto best = ::hpu::emulator::BestOf<Function>(&name##Baseline, &name##Avx2, &name##Avx512);   \
    best(arguments);                                                                                           \
  }

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_VECTORIZE_H_
