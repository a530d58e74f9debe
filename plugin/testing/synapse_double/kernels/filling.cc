// Nodes without data operands: constant, range, memset.
#include <cmath>
#include <cstring>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/dense_array.h"
#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

template <typename T>
T ValueOf(synapse::fint_t value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<int64_t>(value.i));
  } else {
    return value.f;
  }
}

// Params of 4 bytes hold a float for float types, else an i32. Params of 8 bytes hold both halves of a 64-bit integer.
void Constant(KernelContext& context) {
  const TensorView& output = context.output(0);
  const bool is_wide = context.params_size() == sizeof(synapse::ns_ConstantKernel::Params_v2);
  if (!context.Require(!is_wide || BytesOf(output.type) == 8, "params of 8 bytes are for 64-bit types")) return;
  WithComputeType(output.type, [&](auto zero) {
    using T = decltype(zero);
    T value = ValueOf<T>(context.params<synapse::ns_ConstantKernel::Params>().constant);
    if (is_wide) {
      const auto params = context.params<synapse::ns_ConstantKernel::Params_v2>();
      value = static_cast<T>((uint64_t{static_cast<uint32_t>(params.const_high)} << 32) |
                             static_cast<uint32_t>(params.const_low));
    }
    Store(DenseArray<T>(output.sizes, value), output);
  });
}

void Range(KernelContext& context) {
  const TensorView& output = context.output(0);
  const auto params = context.params<synapse::ns_RangeKernel::Params>();
  if (!context.Require(output.rank() == 1, "output 0: expected rank 1, found ", TextOf(output.sizes))) return;
  WithComputeType(output.type, [&](auto zero) {
    using T = decltype(zero);
    const T start = ValueOf<T>(params.start);
    const T delta = ValueOf<T>(params.delta);
    if (!context.Require(delta != 0, "delta is 0")) return;
    const double length = static_cast<double>(ValueOf<T>(params.limit)) - static_cast<double>(start);
    const double count = std::ceil(length / static_cast<double>(delta));
    const bool fits = count <= static_cast<double>(output.sizes[0]);  // false for NaN
    if (!context.Require(fits, "output 0: expected ", count, " elements, found ", TextOf(output.sizes))) return;
    if (!context.RequireSizes(output, {static_cast<int64_t>(std::max(count, 0.0))}, "output 0")) return;
    DenseArray<T> y(output.sizes);
    for (int64_t i = 0; i < y.count(); ++i) y[i] = static_cast<T>(start + static_cast<T>(i) * delta);
    Store(y, output);
  });
}

// Writes zeros.
void Memset(KernelContext& context) {
  const TensorView& output = context.output(0);
  const size_t bytes = BytesOf(output.type);
  ForEachOffset(output.sizes, output.strides, [&](int64_t offset) { std::memset(output.At(offset), 0, bytes); });
}

}  // namespace

void AddFilling(KernelRegistry* registry) {
  registry->Add({"constant",
                 Suffix::kType,
                 {0, 1},
                 {1, 1},
                 {sizeof(synapse::ns_ConstantKernel::Params), sizeof(synapse::ns_ConstantKernel::Params_v2)},
                 Constant});
  registry->Add({"memset", Suffix::kNone, {0, 1}, {1, 1}, {0}, Memset});
  registry->Add({"range", Suffix::kType, {0, 0}, {1, 1}, {sizeof(synapse::ns_RangeKernel::Params)}, Range});
}

}  // namespace hpu::synapse_double
