// Elementwise arithmetic of two operands, and clamp.
#include <cmath>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/elementwise.h"
#include "plugin/testing/synapse_double/kernels/families.h"
#include "plugin/testing/synapse_double/kernels/reduction.h"

namespace hpu::synapse_double {
namespace {

void Add(KernelContext& context) {
  ComputeBinary(context, [](auto a, auto b) { return AddWrapped(a, b); });
}

void Subtract(KernelContext& context) {
  ComputeBinary(context, [](auto a, auto b) { return SubtractWrapped(a, b); });
}

void Multiply(KernelContext& context) {
  ComputeBinary(context, [](auto a, auto b) { return MultiplyWrapped(a, b); });
}

void Divide(KernelContext& context) {
  ComputeFloatBinary(context, [](double a, double b) { return a / b; });
}

void Power(KernelContext& context) {
  ComputeFloatBinary(context, [](double a, double b) { return std::pow(a, b); });
}

void Atan2(KernelContext& context) {
  ComputeFloatBinary(context, [](double a, double b) { return std::atan2(a, b); });
}

void Max(KernelContext& context) {
  ComputeBinary(context, [&](auto a, auto b) { return Maximum(a, b, context.switches().lose_nan_in_max_min); });
}

void Min(KernelContext& context) {
  ComputeBinary(context, [&](auto a, auto b) { return Minimum(a, b, context.switches().lose_nan_in_max_min); });
}

template <typename T>
T BoundOf(synapse::fint_t bound) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<int64_t>(bound.i));
  } else {
    return bound.f;
  }
}

void Clamp(KernelContext& context) {
  const auto params = context.params<synapse::ns_ClampKernel::Params>();
  const bool lose_nan = context.switches().lose_nan_in_max_min;
  ComputeUnary(context, [&](auto x) {
    using T = decltype(x);
    return Minimum(Maximum(x, BoundOf<T>(params.lowerBound), lose_nan), BoundOf<T>(params.upperBound), lose_nan);
  });
}

// dY -> dA, dB: sums over the dimensions that the operand broadcast.
void AddGradient(KernelContext& context) {
  const DenseArray<double> gradient = Load<double>(context.input(0));
  for (size_t i = 0; i < context.output_count(); ++i) {
    if (!context.has_output(i)) continue;
    const TensorView& output = context.output(i);
    if (!context.Require(output.rank() <= gradient.sizes().size(), "output ", i, ": rank above dY's")) return;
    std::vector<bool> reduced(gradient.sizes().size());
    for (size_t d = 0; d < reduced.size(); ++d) {
      reduced[d] = SizeOf(output.sizes, d) == 1;
      if (!context.Require(reduced[d] || output.sizes[d] == gradient.size(d), "output ", i, ": sizes ",
                           TextOf(output.sizes), " do not broadcast to dY's ", TextOf(gradient.sizes()))) {
        return;
      }
    }
    Store(Reduce(gradient, reduced, 0.0, [](double a, double b) { return a + b; }), output);
  }
}

}  // namespace

void AddBinary(KernelRegistry* registry) {
  const auto add = [&](const char* stem, Kernel kernel) {
    registry->Add({stem, Suffix::kType, {2, 2}, {1, 1}, {0}, kernel});
  };
  add("add_fwd", Add);
  add("atan2_fwd", Atan2);
  add("div_fwd", Divide);
  add("max_fwd", Max);
  add("min_fwd", Min);
  add("mult_fwd", Multiply);
  add("pow_fwd", Power);
  add("sub_fwd", Subtract);
  registry->Add({"add_bwd", Suffix::kType, {1, 1}, {1, 2}, {0}, AddGradient});
  registry->Add({"clamp_pt_fwd", Suffix::kType, {1, 1}, {1, 1}, {sizeof(synapse::ns_ClampKernel::Params)}, Clamp});
}

}  // namespace hpu::synapse_double
