// Code compiled for several levels of the processor's vector instructions, of which the best that it has is run.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_VECTORIZE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_VECTORIZE_H_

#include "plugin/backends/emulator/kernels/compiler_target.h"

namespace hpu::emulator {

// The AVX-512 that the target below names.
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

// What is to be compiled for each level: all that a vectorised function calls in its loops.
#define HPU_INLINE inline __attribute__((always_inline))

// Before a loop over a few elements, which compilers would else unroll before they can make vectors of it.
#define HPU_SIMD _Pragma("omp simd")

// Defines the function `name`, which takes a `const Arguments&` and calls `body`, which must be HPU_INLINE. Functions
// of other arguments may have the same name.
#define HPU_VECTORIZED(name, Arguments, body) HPU_VECTORIZED_AS(name, Arguments, body, body, body)

// The same for `body::Run<n>`, n being how many floats a register holds.
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
