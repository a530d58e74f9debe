// Tests of gathers of rows against XLA.
#include "plugin/backends/emulator/hlo_passes/row_gather_pass.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "plugin/backends/emulator/codegen/recipe_harness.h"
#include "plugin/backends/emulator/hlo_passes/kernel_harness.h"
#include "plugin/backends/emulator/kernels/row_gather.h"
#include "xla/client/lib/constants.h"
#include "xla/client/xla_builder.h"

namespace hpu::emulator {
namespace row_gather_pass_test {

using xla::XlaOp;
using Dims = std::vector<int64_t>;

// The indexed dimensions start at `begin`; the last dimension of `indices` holds one index for each, as in the
// lowerings of tf.gather and tf.gather_nd.
struct Case {
  Dims operand, indices;
  int64_t begin = 0;
  Dims order = {0};  // order of the vectors' components
  xla::PrimitiveType type = xla::F32, index_type = xla::S32;
  bool vectors = true;  // false: each number is a vector of one component
};

xla::XlaComputation Gathered(const Case& c, XlaOp (*before)(XlaOp) = nullptr, XlaOp (*behind)(XlaOp) = nullptr) {
  xla::XlaBuilder builder("gather");
  const auto rank = static_cast<int64_t>(c.operand.size()), count = static_cast<int64_t>(c.order.size());
  const auto indices_rank = static_cast<int64_t>(c.indices.size()) - (c.vectors ? 1 : 0);
  xla::GatherDimensionNumbers numbers;
  numbers.set_index_vector_dim(indices_rank);
  Dims slices = c.operand;
  for (int64_t i = 0; i < count; ++i) {
    numbers.add_collapsed_slice_dims(c.begin + i);
    numbers.add_start_index_map(c.begin + c.order[i]);
    slices[c.begin + i] = 1;
  }
  for (int64_t i = 0; i < rank - count; ++i) numbers.add_offset_dims(i < c.begin ? i : i + indices_rank);
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(c.type, c.operand), "x");
  const XlaOp y = xla::Parameter(&builder, 1, xla::ShapeUtil::MakeShape(c.index_type, c.indices), "indices");
  const XlaOp rows = xla::Gather(before == nullptr ? x : before(x), y, numbers, slices);
  xla::Tuple(&builder, {behind == nullptr ? rows : behind(rows)});
  return builder.Build().value();
}

// Includes indices outside the array, and the least and the greatest integers.
template <typename T>
void SetIndices(xla::Literal* indices, Dice* dice) {
  for (T& index : indices->data<T>()) index = static_cast<T>(dice->Roll(-3, 20));
  indices->data<T>()[0] = std::numeric_limits<T>::min();
  indices->data<T>()[indices->data<T>().size() - 1] = std::numeric_limits<T>::max();
}

std::vector<xla::Literal> ArgumentsFor(const Case& c, const xla::XlaComputation& computation, Dice* dice) {
  std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  if (c.index_type == xla::S32) {
    SetIndices<int32_t>(&arguments[1], dice);
  } else {
    SetIndices<int64_t>(&arguments[1], dice);
  }
  return arguments;
}

class RowGatherPassTest : public testing::TestWithParam<int> {};

TEST_P(RowGatherPassTest, EqualsXla) {
  Dice dice(GetParam());
  constexpr xla::PrimitiveType kTypes[] = {xla::F32, xla::BF16, xla::S32, xla::PRED,
                                           xla::S8,  xla::F64,  xla::C64, xla::C128};
  Case c;
  c.type = kTypes[GetParam() % 8];
  c.index_type = dice.Roll(0, 1) == 0 ? xla::S32 : xla::S64;
  c.begin = dice.Roll(0, 2);
  for (int64_t i = 0; i < c.begin; ++i) c.operand.push_back(dice.Roll(1, 3));
  c.order.resize(dice.Roll(1, 3));
  std::iota(c.order.begin(), c.order.end(), 0);
  if (dice.Roll(0, 1) == 0) std::swap(c.order.front(), c.order.back());
  for (size_t i = 0; i < c.order.size(); ++i) c.operand.push_back(dice.Roll(1, 20));
  c.operand.push_back(dice.Roll(1, 3));
  c.operand.push_back(dice.Roll(64, 80));
  for (int64_t rank = dice.Roll(0, 2); rank > 0; --rank) c.indices.push_back(dice.Roll(1, 2));
  c.indices.push_back(dice.Roll(256, 300));
  c.vectors = c.order.size() > 1 || dice.Roll(0, 1) == 0;
  if (c.vectors) c.indices.push_back(c.order.size());
  const xla::XlaComputation computation = Gathered(c);
  SCOPED_TRACE(testing::PrintToString(c.operand) + testing::PrintToString(c.indices));
  ExpectSameWithKernels(computation, ArgumentsFor(c, computation, &dice), 1, 0);
}

INSTANTIATE_TEST_SUITE_P(Random, RowGatherPassTest, testing::Range(0, 24));

TEST(RowGatherPass, CutsLongRows) {
  const Case c{{3, 100000}, {5, 1}};
  const xla::XlaComputation computation = Gathered(c);
  Dice dice(1);
  ExpectSameAsEvaluator(computation, ArgumentsFor(c, computation, &dice), 1, 0);
}

TEST(RowGatherPass, TakesOneRow) {
  const std::vector<int32_t> x = {1, 2, 3, 4, 5, 6}, index = {1};
  EXPECT_EQ(ElementsOf<int32_t>(RunKernel(RowGather{4, 1, 3, 8, 1, {{3, 1}}}.Spec(), {BytesOf(x), BytesOf(index)}, 8)),
            (std::vector<int32_t>{3, 4}));
}

TEST(RowGatherPass, RefusesOtherParameters) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const auto is_made = [](const RowGather& gather) { return MakeKernel(gather.Spec()).ok(); };
  EXPECT_TRUE(is_made({4, 2, 12, 64, 5, {{4, 3}, {3, 1}}}));
  EXPECT_FALSE(is_made({2, 2, 12, 64, 5, {{4, 3}, {3, 1}}})) << "numbers of 2 bytes";
  EXPECT_FALSE(is_made({4, 2, 11, 64, 5, {{4, 3}, {3, 1}}})) << "beyond the array";
  EXPECT_FALSE(is_made({4, 2, 12, 64, 5, {}})) << "no numbers";
  EXPECT_FALSE(is_made({4, 2, 12, 64, 5, {{0, 1}}})) << "no elements";
  EXPECT_FALSE(is_made({4, 2, 12, 64, 5, {{4, 0}}})) << "no stride";
  EXPECT_FALSE(is_made({4, 2, 12, 64, 5, {{4, kMax}}})) << "beyond all memory";
  EXPECT_FALSE(is_made({4, 0, 12, 64, 5, {{4, 1}}})) << "nothing";
  EXPECT_FALSE(is_made({4, 2, 12, 64, 0, {{4, 1}}})) << "no result";
  EXPECT_FALSE(is_made({4, 2, 12, kMax, 5, {{4, 1}}})) << "more than memory";
  EXPECT_FALSE(MakeKernel({(RowGather{4, 2, 12, 64, 5, {}}).Spec().name, {4, 2, 12, 64, 5, 3}}).ok())
      << "half a vector";
}

TEST(RowGatherPass, LeavesTheRest) {
  const auto twice = [](XlaOp x) { return x + x; };
  const auto kernels = [](const xla::XlaComputation& computation) { return KernelsOf(computation).size(); };
  const Case rows{{64, 64}, {256, 1}};
  EXPECT_EQ(kernels(Gathered(rows)), 1);
  EXPECT_EQ(kernels(Gathered(rows, twice)), 0) << "computed for each element that is taken";
  EXPECT_EQ(kernels(Gathered(rows, nullptr, twice)), 0) << "fused with what is behind";
  EXPECT_EQ(kernels(Gathered({{64, 64}, {8, 1}})), 0) << "little";
  EXPECT_EQ(kernels(Gathered({{64, 8}, {9999, 1}})), 0) << "short rows";
  EXPECT_EQ(kernels(Gathered({{64, 64}, {256, 1}, 1})), 0) << "single elements";
  EXPECT_EQ(kernels(Gathered({{64, 64}, {0, 1}})), 0) << "nothing";
}

}  // namespace row_gather_pass_test
}  // namespace hpu::emulator
