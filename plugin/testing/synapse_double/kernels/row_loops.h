// Inner loops of products and convolutions over contiguous rows, for the vector units of the processor.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_ROW_LOOPS_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_ROW_LOOPS_H_

#include <cstdint>

namespace hpu::synapse_double {

// sum[i] += factor * x[i]. The rows do not overlap.
void AddScaledRow(int64_t count, double factor, const double* x, double* sum);

// sum[i] += factor * x[i] for kScaledRows factors and rows. Row r begins at x + r * stride. Reads and writes `sum`
// once.
inline constexpr int64_t kScaledRows = 4;
void AddScaledRows(int64_t count, const double* factors, const double* x, int64_t stride, double* sum);

// The sum of x[i] * y[i], in any order.
double DotOfRows(int64_t count, const double* x, const double* y);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_ROW_LOOPS_H_
