// Operands and results of products, as the matrix engine takes them.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_PRODUCT_OPERAND_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_PRODUCT_OPERAND_H_

#include "plugin/testing/synapse_double/kernels/dense_array.h"
#include "plugin/testing/synapse_double/kernels/kernel.h"

namespace hpu::synapse_double {

// Loads an operand. With the switch flush_denormals, denormal numbers of f32 and bf16 become 0.
DenseArray<double> LoadOperand(const KernelContext& context, const TensorView& view);

// Stores a result. Flushes denormal numbers as LoadOperand does.
void StoreProduct(const KernelContext& context, DenseArray<double> product, const TensorView& view);

// Adds a bias to each row. Fails unless the bias has as many elements as a row.
bool AddBias(KernelContext* context, const TensorView& bias, DenseArray<double>* product);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_PRODUCT_OPERAND_H_
