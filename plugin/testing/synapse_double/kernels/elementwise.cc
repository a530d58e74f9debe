#include "plugin/testing/synapse_double/kernels/elementwise.h"

namespace hpu::synapse_double {

ElementType ComputeTypeOf(const KernelContext& context, size_t begin, size_t end) {
  bool all_unsigned = true;
  for (size_t i = begin; i < end; ++i) {
    if (!context.has_input(i)) continue;
    const ElementType type = context.input(i).type;
    if (IsFloat(type)) return type;
    all_unsigned = all_unsigned && IsUnsigned(type);
  }
  return all_unsigned ? ElementType::kU64 : ElementType::kI64;
}

bool BroadcastSizes(KernelContext* context, size_t begin, size_t end, Sizes* sizes) {
  sizes->clear();
  for (size_t i = begin; i < end; ++i) {
    if (!context->has_input(i)) continue;
    const Sizes& other = context->input(i).sizes;
    if (other.size() > sizes->size()) sizes->resize(other.size(), 1);
    for (size_t d = 0; d < other.size(); ++d) {
      int64_t& size = (*sizes)[d];
      if (size == 1) size = other[d];
      if (!context->Require(other[d] == size || other[d] == 1, "input ", i, ": sizes ", TextOf(other),
                            " do not broadcast to ", TextOf(*sizes))) {
        return false;
      }
    }
  }
  return context->RequireSizes(context->output(0), *sizes, "output 0");
}

}  // namespace hpu::synapse_double
