#include "plugin/testing/synapse_double/kernels/product_operand.h"

namespace hpu::synapse_double {
namespace {

void Flush(const KernelContext& context, ElementType type, DenseArray<double>* array) {
  if (!context.switches().flush_denormals || type == ElementType::kF16) return;
  for (int64_t i = 0; i < array->count(); ++i) (*array)[i] = FlushDenormal((*array)[i]);
}

}  // namespace

DenseArray<double> LoadOperand(const KernelContext& context, const TensorView& view) {
  DenseArray<double> result = Load<double>(view);
  Flush(context, view.type, &result);
  return result;
}

void StoreProduct(const KernelContext& context, DenseArray<double> product, const TensorView& view) {
  Flush(context, view.type, &product);
  Store(product, view);
}

bool AddBias(KernelContext* context, const TensorView& bias, DenseArray<double>* product) {
  const int64_t columns = product->size(0);
  if (!context->Require(ElementCount(bias.sizes) == columns, "bias: expected ", columns, " elements, found ",
                        TextOf(bias.sizes))) {
    return false;
  }
  const DenseArray<double> values = LoadOperand(*context, bias);
  for (int64_t i = 0; i < product->count(); ++i) (*product)[i] += values[i % columns];
  return true;
}

}  // namespace hpu::synapse_double
