// Loops of elementwise kernels, with broadcasting.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_ELEMENTWISE_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_ELEMENTWISE_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "plugin/testing/synapse_double/kernels/dense_array.h"
#include "plugin/testing/synapse_double/kernels/kernel.h"

namespace hpu::synapse_double {

// The type in which inputs [begin, end) are computed: a float type if any is, unsigned if all are, else signed.
ElementType ComputeTypeOf(const KernelContext& context, size_t begin, size_t end);

// The sizes to which inputs [begin, end) broadcast. Fails if they do not, or if output 0 has other sizes.
bool BroadcastSizes(KernelContext* context, size_t begin, size_t end, Sizes* sizes);

// Input `i` in the compute type, broadcast.
template <typename T>
DenseArray<T> LoadBroadcast(const KernelContext& context, size_t i, const Sizes& sizes) {
  return Load<T>(context.input(i)).BroadcastTo(sizes);
}

// output 0 = op(input 0), in the input's compute type.
template <typename Op>
void ComputeUnary(KernelContext& context, const Op& op) {
  Sizes sizes;
  if (!BroadcastSizes(&context, 0, 1, &sizes)) return;
  WithComputeType(context.input(0).type, [&](auto zero) {
    using T = decltype(zero);
    const DenseArray<T> x = Load<T>(context.input(0));
    using Result = std::decay_t<decltype(op(zero))>;
    DenseArray<Result> y(sizes);
    for (int64_t i = 0; i < y.count(); ++i) y[i] = op(x[i]);
    Store(y, context.output(0));
  });
}

// As ComputeUnary; fails unless the input has a float type.
template <typename Op>
void ComputeFloatUnary(KernelContext& context, const Op& op) {
  if (!context.Require(IsFloat(context.input(0).type), "input 0: expected a float type, found ",
                       SuffixOf(context.input(0).type))) {
    return;
  }
  ComputeUnary(context, [&](auto x) { return static_cast<double>(op(static_cast<double>(x))); });
}

// output 0 = op(input 0, input 1)
template <typename Op>
void ComputeBinary(KernelContext& context, const Op& op) {
  Sizes sizes;
  if (!BroadcastSizes(&context, 0, 2, &sizes)) return;
  WithComputeType(ComputeTypeOf(context, 0, 2), [&](auto zero) {
    using T = decltype(zero);
    const DenseArray<T> a = LoadBroadcast<T>(context, 0, sizes);
    const DenseArray<T> b = LoadBroadcast<T>(context, 1, sizes);
    using Result = std::decay_t<decltype(op(zero, zero))>;
    DenseArray<Result> y(sizes);
    for (int64_t i = 0; i < y.count(); ++i) y[i] = op(a[i], b[i]);
    Store(y, context.output(0));
  });
}

// As ComputeBinary; fails unless an input has a float type.
template <typename Op>
void ComputeFloatBinary(KernelContext& context, const Op& op) {
  if (!context.Require(IsFloat(ComputeTypeOf(context, 0, 2)), "expected a float type, found ",
                       SuffixOf(context.input(0).type))) {
    return;
  }
  ComputeBinary(
      context, [&](auto a, auto b) { return static_cast<double>(op(static_cast<double>(a), static_cast<double>(b))); });
}

// Integer arithmetic modulo 2^64, and float arithmetic.
template <typename T>
T AddWrapped(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  return a + b;
}
template <typename T>
T SubtractWrapped(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  return a - b;
}
template <typename T>
T MultiplyWrapped(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  return a * b;
}

// Extrema. If an operand is NaN, the result is NaN, or the other operand if `lose_nan`.
template <typename T>
T Maximum(T a, T b, bool lose_nan) {
  if (a != a) return lose_nan ? b : a;
  if (b != b) return lose_nan ? a : b;
  return a > b ? a : b;
}
template <typename T>
T Minimum(T a, T b, bool lose_nan) {
  if (a != a) return lose_nan ? b : a;
  if (b != b) return lose_nan ? a : b;
  return a < b ? a : b;
}

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_ELEMENTWISE_H_
