// pad_fwd: a constant around a tensor.
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/box_copy.h"
#include "plugin/testing/synapse_double/kernels/dense_array.h"
#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

constexpr size_t kMaxPaddedRank = 5;

// The pads before each of 5 dimensions come first, then the pads after each.
void Pad(KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  const auto params = context.params<synapse::ns_PadKernelEx::Params>();
  if (!context.Require(params.mode == 0, "mode ", params.mode, ": unknown")) return;
  if (!RequireSameType(&context, 0)) return;
  if (!context.Require(x.rank() <= kMaxPaddedRank, "input 0: rank above ", kMaxPaddedRank)) return;
  Sizes sizes = x.sizes;
  Box box = WholeBox(y);
  for (size_t d = 0; d < kMaxPaddedRank; ++d) {
    const int64_t before = params.pads[d];
    const int64_t after = params.pads[kMaxPaddedRank + d];
    if (!context.Require(d < x.rank() || (before == 0 && after == 0), "pads of dimension ", d, ", the rank is ",
                         x.rank())) {
      return;
    }
    if (d >= x.rank()) continue;
    sizes[d] += before + after;
    if (d < y.rank()) box.offset += before * y.strides[d];
  }
  if (!context.RequireSizes(y, sizes, "output 0")) return;
  WithComputeType(y.type, [&](auto zero) {
    using T = decltype(zero);
    const T value =
        std::is_integral_v<T> ? static_cast<T>(static_cast<int64_t>(params.value.i)) : static_cast<T>(params.value.f);
    Store(DenseArray<T>(sizes, value), y);
  });
  CopyBox(x, WholeBox(x), y, box, x.sizes);
}

}  // namespace

void AddPadding(KernelRegistry* registry) {
  registry->Add({"pad_fwd",
                 Suffix::kType,
                 {1, 1},
                 {1, 1},
                 {sizeof(synapse::ns_PadKernel::Params), sizeof(synapse::ns_PadKernelEx::Params)},
                 Pad});
}

}  // namespace hpu::synapse_double
