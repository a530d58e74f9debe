// Activations and their gradients. tanh_fwd and sigmoid_fwd are in unary.cc.
#include <cmath>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/elementwise.h"
#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

// x above the threshold, else the replacement value. NaN stays NaN, or is replaced with the switch LOSE_NAN.
void Relu(KernelContext& context) {
  const auto params = context.params<synapse::ns_ReluKernel::ParamsV2>();
  const bool lose_nan = context.switches().lose_nan_in_max_min;
  ComputeUnary(context, [&](auto x) {
    using T = decltype(x);
    constexpr bool kIsFloat = std::is_floating_point_v<T>;
    const T threshold = kIsFloat ? static_cast<T>(params.threshold.f) : static_cast<T>(params.threshold.i);
    const T replacement =
        kIsFloat ? static_cast<T>(params.replacementValue.f) : static_cast<T>(params.replacementValue.i);
    if (x != x) return lose_nan ? replacement : x;
    return x > threshold ? x : replacement;
  });
}

// dY, Y -> dX
void ReluGradient(KernelContext& context) {
  ComputeFloatBinary(context, [](double dy, double y) { return y > 0 ? dy : 0; });
}

void TanhGradient(KernelContext& context) {
  ComputeFloatBinary(context, [](double dy, double y) { return dy * (1 - y * y); });
}

void SigmoidGradient(KernelContext& context) {
  ComputeFloatBinary(context, [](double dy, double y) { return dy * y * (1 - y); });
}

void Elu(KernelContext& context) {
  const double alpha = context.params<synapse::ns_EluKernel::Params>({1}).alpha;
  ComputeFloatUnary(context, [&](double x) { return x > 0 ? x : alpha * std::expm1(x); });
}

void LeakyRelu(KernelContext& context) {
  const double alpha = context.params<synapse::ns_LeakyReluKernel::Params>().alpha;
  ComputeFloatUnary(context, [&](double x) { return x > 0 ? x : alpha * x; });
}

// dY, X -> dX
void LeakyReluGradient(KernelContext& context) {
  const double alpha = context.params<synapse::ns_LeakyReluKernel::Params>().alpha;
  ComputeFloatBinary(context, [&](double dy, double x) { return x > 0 ? dy : alpha * dy; });
}

// GELU's approximation is x/2 · (1 + tanh(u)), u = sqrt(2/π) · (x + 0.044715 x³).
constexpr double kCubic = 0.044715;

double TanhOfGelu(double x) { return std::tanh(std::sqrt(2 / M_PI) * (x + kCubic * x * x * x)); }

double NormalCdf(double x) { return std::erfc(-x / std::sqrt(2)) / 2; }

// X -> Y[, the tanh of the approximation]. Without `approximation`, Y is exact.
void Gelu(KernelContext& context) {
  const bool approximates = context.params<synapse::ns_GeluKernel::Params>().approximation;
  const DenseArray<double> x = Load<double>(context.input(0));
  if (!context.RequireSizes(context.output(0), x.sizes(), "output 0")) return;
  if (context.has_output(1) && !context.RequireSizes(context.output(1), x.sizes(), "output 1")) return;
  DenseArray<double> y(x.sizes());
  DenseArray<double> tanh(x.sizes());
  for (int64_t i = 0; i < x.count(); ++i) {
    tanh[i] = TanhOfGelu(x[i]);
    y[i] = approximates ? x[i] / 2 * (1 + tanh[i]) : x[i] * NormalCdf(x[i]);
  }
  Store(y, context.output(0));
  if (context.has_output(1)) Store(tanh, context.output(1));
}

// dY, X, the tanh of the approximation -> dX
void GeluGradient(KernelContext& context) {
  const Sizes& sizes = context.input(0).sizes;
  if (!context.RequireSizes(context.input(1), sizes, "input 1") ||
      !context.RequireSizes(context.input(2), sizes, "input 2") ||
      !context.RequireSizes(context.output(0), sizes, "output 0")) {
    return;
  }
  DenseArray<double> dx = Load<double>(context.input(0));
  const DenseArray<double> x = Load<double>(context.input(1));
  const DenseArray<double> tanh = Load<double>(context.input(2));
  for (int64_t i = 0; i < x.count(); ++i) {
    const double slope = std::sqrt(2 / M_PI) * (1 + 3 * kCubic * x[i] * x[i]);
    dx[i] *= (1 + tanh[i]) / 2 + x[i] / 2 * (1 - tanh[i] * tanh[i]) * slope;
  }
  Store(dx, context.output(0));
}

}  // namespace

void AddActivations(KernelRegistry* registry) {
  constexpr size_t kRelu = sizeof(synapse::ns_ReluKernel::Params);
  constexpr size_t kReluV2 = sizeof(synapse::ns_ReluKernel::ParamsV2);
  constexpr size_t kLeaky = sizeof(synapse::ns_LeakyReluKernel::Params);
  constexpr size_t kGelu = sizeof(synapse::ns_GeluKernel::Params);
  const auto add = [&](const char* stem, Arity inputs, Arity outputs, std::vector<size_t> params, Kernel kernel) {
    registry->Add({stem, Suffix::kType, inputs, outputs, std::move(params), kernel});
  };
  add("elu_fwd", {1, 1}, {1, 1}, {sizeof(synapse::ns_EluKernel::Params)}, Elu);
  add("gelu_bwd", {3, 3}, {1, 1}, {0}, GeluGradient);
  add("gelu_fwd", {1, 1}, {1, 2}, {kGelu}, Gelu);
  add("leakyrelu_bwd", {2, 2}, {1, 1}, {kLeaky}, LeakyReluGradient);
  add("leakyrelu_fwd", {1, 1}, {1, 1}, {kLeaky}, LeakyRelu);
  add("relu_bwd", {2, 2}, {1, 1}, {0}, ReluGradient);
  add("relu_fwd", {1, 1}, {1, 1}, {0, kRelu, kReluV2}, Relu);
  add("sigmoid_bwd", {2, 2}, {1, 1}, {0}, SigmoidGradient);
  add("tanh_bwd", {2, 2}, {1, 1}, {0}, TanhGradient);
}

}  // namespace hpu::synapse_double
