#include "plugin/testing/synapse_double/kernels/row_loops.h"

// The other kernels are compiled with -O1, which does not vectorise.
#if defined(__x86_64__)
#define HPU_ROW_LOOP __attribute__((optimize("O3"), target_clones("avx2", "default")))
#else
#define HPU_ROW_LOOP __attribute__((optimize("O3")))
#endif

namespace hpu::synapse_double {

HPU_ROW_LOOP void AddScaledRow(int64_t count, double factor, const double* __restrict x, double* __restrict sum) {
  for (int64_t i = 0; i < count; ++i) sum[i] += factor * x[i];
}

HPU_ROW_LOOP void AddScaledRows(int64_t count, const double* factors, const double* __restrict x, int64_t stride,
                                double* __restrict sum) {
  static_assert(kScaledRows == 4, "the loop names each row");
  const double f0 = factors[0], f1 = factors[1], f2 = factors[2], f3 = factors[3];
  const double* const x1 = x + stride;
  const double* const x2 = x1 + stride;
  const double* const x3 = x2 + stride;
  for (int64_t i = 0; i < count; ++i) sum[i] += (f0 * x[i] + f1 * x1[i]) + (f2 * x2[i] + f3 * x3[i]);
}

HPU_ROW_LOOP double DotOfRows(int64_t count, const double* x, const double* y) {
  constexpr int64_t kLanes = 8;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += x[i + lane] * y[i + lane];
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  for (; i < count; ++i) sum += x[i] * y[i];
  return sum;
}

}  // namespace hpu::synapse_double
