// Tests of transpositions against XLA.
#include "plugin/backends/emulator/hlo_passes/transposition_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "plugin/backends/emulator/kernels/transposition.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace transposition_pass_test {

using xla::XlaOp;

xla::XlaComputation Transposed(const std::vector<int64_t>& dims, const std::vector<int64_t>& order,
                               xla::PrimitiveType type, XlaOp (*after)(XlaOp) = nullptr) {
  xla::XlaBuilder builder("transposition");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(type, dims), "x");
  const XlaOp y = xla::Transpose(x, order);
  xla::Tuple(&builder, {after == nullptr ? y : after(y)});
  return builder.Build().value();
}

class TranspositionPassTest : public testing::TestWithParam<int> {};

TEST_P(TranspositionPassTest, EqualsXla) {
  Dice dice(GetParam());
  constexpr xla::PrimitiveType kTypes[] = {xla::F32, xla::BF16, xla::S32, xla::F64, xla::S64, xla::U16};
  std::vector<int64_t> dims, order;
  for (int64_t rank = dice.Roll(2, 5); rank > 0; --rank) dims.push_back(dice.Roll(1, rank < 4 ? 40 : 4));
  dims.back() = dice.Roll(2, 40);
  int64_t elements = 1;
  for (const int64_t size : dims) elements *= size;
  dims[0] *= (32 << 10) / elements + 1;
  order.resize(dims.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[dice.Roll(0, i)]);
  if (order.back() == static_cast<int64_t>(order.size()) - 1) std::swap(order.front(), order.back());
  if (dims[order.back()] == 1) ++dims[order.back()];
  SCOPED_TRACE(testing::PrintToString(dims) + testing::PrintToString(order));
  const xla::XlaComputation computation = Transposed(dims, order, kTypes[dice.Roll(0, 5)]);
  ExpectSameAsEvaluator(computation, ArgumentsOf(computation), 1, 0);
}

INSTANTIATE_TEST_SUITE_P(Random, TranspositionPassTest, testing::Range(0, 40));

TEST(TranspositionPass, EqualsXlaWithoutKernels) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{512, 256}, {20000, 3}, {3, 20000}, {129, 257}}) {
    for (const xla::PrimitiveType type : {xla::F32, xla::BF16}) {
      const xla::XlaComputation computation = Transposed(dims, {1, 0}, type);
      ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 0);
    }
  }
}

TEST(TranspositionPass, RefusesOtherParameters) {
  const auto is_made = [](const Transposition& transposition) { return MakeKernel(transposition.Spec()).ok(); };
  EXPECT_TRUE(is_made({4, {5, 6}, {1, 0}}));
  EXPECT_FALSE(is_made({4, {5, 6}, {1, 1}})) << "no order";
  EXPECT_FALSE(is_made({4, {5, 6}, {2, 0}})) << "beyond the array";
  EXPECT_FALSE(is_made({4, {5, -1}, {1, 0}})) << "a negative size";
  EXPECT_FALSE(is_made({3, {5, 6}, {1, 0}})) << "elements of 3 bytes";
  EXPECT_FALSE(MakeKernel({Transposition().Spec().name, {}}).ok()) << "no parameters";
  EXPECT_FALSE(MakeKernel({Transposition().Spec().name, {4, 5}}).ok()) << "no order";
}

TEST(TranspositionPass, LeavesTheRest) {
  const auto kernels = [](const xla::XlaComputation& computation) {
    const std::vector<KernelSpec> specs = KernelsOf(computation);
    return std::count_if(specs.begin(), specs.end(),
                         [](const KernelSpec& s) { return s.name == Transposition().Spec().name; });
  };
  EXPECT_EQ(kernels(Transposed({256, 256}, {1, 0}, xla::F32)), 1);
  EXPECT_EQ(kernels(Transposed({256, 256}, {1, 0}, xla::F32, [](XlaOp x) { return x + x; })), 1);
  EXPECT_EQ(kernels(Transposed({0, 256}, {1, 0}, xla::F32)), 0) << "no elements";
  EXPECT_EQ(kernels(Transposed({1, 1}, {1, 0}, xla::F32)), 0) << "one element";
  EXPECT_EQ(kernels(Transposed({100, 100}, {1, 0}, xla::F32)), 0) << "few elements";
  EXPECT_EQ(kernels(Transposed({16, 64, 64}, {1, 0, 2}, xla::F32)), 0) << "the last dimension stays";
  EXPECT_EQ(kernels(Transposed({256, 256, 1}, {2, 0, 1}, xla::F32)), 0) << "but for dimensions of one element";
  EXPECT_EQ(kernels(Transposed({512, 512}, {1, 0}, xla::PRED)), 0) << "bytes";
  const auto product = [](XlaOp x) { return xla::Dot(x, xla::Broadcast(xla::ScalarLike(x, 2), {256})); };
  EXPECT_EQ(kernels(Transposed({256, 256}, {1, 0}, xla::F32, product)), 0) << "a product by XLA";
  const auto sum = [](XlaOp x) {
    return xla::Reduce(x, xla::Zero(x.builder(), xla::F32), xla::CreateScalarAddComputation(xla::F32, x.builder()),
                       {1});
  };
  EXPECT_EQ(kernels(Transposed({256, 256}, {1, 0}, xla::F32, sum)), 0) << "a sum";
}

}  // namespace transposition_pass_test
}  // namespace hpu::emulator
