// Inner loops of products and convolutions over contiguous rows, for the vector units of the processor.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_ROW_LOOPS_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_ROW_LOOPS_H_

#include <cstdint>

namespace hpu::synapse_double {

// sum[i] += factor * x[i]. The rows do not overlap.
void AddScaledRow(int64_t count, double factor, const double* x, double* sum);

// The sum of x[i] * y[i], in any order.
double DotOfRows(int64_t count, const double* x, const double* y);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_ROW_LOOPS_H_
