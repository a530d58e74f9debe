// Tests of padding against XLA.
#include "plugin/backends/emulator/hlo_passes/padding_pass.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <numeric>

#include "plugin/backends/emulator/codegen/recipe_harness.h"
#include "plugin/backends/emulator/hlo_passes/kernel_harness.h"
#include "plugin/backends/emulator/kernels/padding.h"
#include "xla/client/lib/constants.h"
#include "xla/client/xla_builder.h"

namespace hpu::emulator {
namespace padding_pass_test {

using xla::XlaOp;
using Dims = std::vector<int64_t>;

struct Edges {
  Dims low, high;
  int64_t interior = 0;
};

XlaOp Padded(XlaOp x, XlaOp value, const Edges& edges) {
  xla::PaddingConfig config;
  for (size_t i = 0; i < edges.low.size(); ++i) {
    auto* dimension = config.add_dimensions();
    dimension->set_edge_padding_low(edges.low[i]);
    dimension->set_edge_padding_high(edges.high[i]);
    dimension->set_interior_padding(edges.interior);
  }
  return xla::Pad(x, value, config);
}

// Pads one argument by another one.
xla::XlaComputation PaddedBy(const Dims& dims, const Edges& edges, xla::PrimitiveType type = xla::F32,
                             XlaOp (*before)(XlaOp) = nullptr, XlaOp (*behind)(XlaOp) = nullptr) {
  xla::XlaBuilder builder("padding");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(type, dims), "x");
  const XlaOp value = xla::Parameter(&builder, 1, xla::ShapeUtil::MakeShape(type, {}), "value");
  const XlaOp y = Padded(before == nullptr ? x : before(x), value, edges);
  xla::Tuple(&builder, {behind == nullptr ? y : behind(y)});
  return builder.Build().value();
}

class PaddingPassTest : public testing::TestWithParam<int> {};

TEST_P(PaddingPassTest, EqualsXla) {
  Dice dice(GetParam());
  constexpr xla::PrimitiveType kTypes[] = {xla::F32, xla::BF16, xla::S32, xla::PRED,
                                           xla::S8,  xla::F64,  xla::C64, xla::C128};
  const xla::PrimitiveType type = kTypes[GetParam() % 8];
  Dims dims;
  Edges edges;
  for (int64_t rank = dice.Roll(1, 4); rank > 0; --rank) {
    dims.push_back(dice.Roll(8, rank < 3 ? 40 : 12));
    const bool plain = dice.Roll(0, 2) == 0;
    edges.low.push_back(plain ? 0 : dice.Roll(-3, 6));
    edges.high.push_back(plain ? 0 : dice.Roll(-3, 6));
  }
  edges.low.back() = dice.Roll(-9, 300);
  edges.high.back() = dice.Roll(256, 300);
  if (dims.size() == 1) dims[0] = 17 << 10;
  dims[0] += 4 * 1024 / std::accumulate(dims.begin() + 1, dims.end(), int64_t{1}, std::multiplies<>());
  const xla::XlaComputation computation = PaddedBy(dims, edges, type);
  SCOPED_TRACE(testing::PrintToString(dims) + testing::PrintToString(edges.low) + testing::PrintToString(edges.high));
  ExpectSameAsEvaluator(computation, ArgumentsOf(computation), 1, 0);
}

INSTANTIATE_TEST_SUITE_P(Random, PaddingPassTest, testing::Range(0, 40));

TEST(PaddingPass, EqualsXlaWithoutKernels) {
  for (const xla::PrimitiveType type : {xla::F32, xla::BF16, xla::S32}) {
    const xla::XlaComputation rows = PaddedBy({300, 200}, {{0, 4}, {0, 4}}, type);
    ExpectSameWithKernels(rows, ArgumentsOf(rows), 1, 0);
    const xla::XlaComputation image = PaddedBy({2, 24, 24, 64}, {{0, 1, 1, 0}, {0, 1, 1, 0}}, type);
    ExpectSameWithKernels(image, ArgumentsOf(image), 1, 0);
  }
}

TEST(PaddingPass, KeepsAllBitsOfNumbers) {
  const xla::XlaComputation computation = PaddedBy({4096}, {{7}, {9000}});
  std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  Dice dice(1);
  SetSpecialNumbers(&arguments[0], &dice);
  for (const float value : {0.0f, -0.0f, std::numeric_limits<float>::quiet_NaN()}) {
    arguments[1] = xla::LiteralUtil::CreateR0<float>(value);
    ExpectSameAsEvaluator(computation, arguments, 1, 0);
  }
}

TEST(PaddingPass, EqualsDefinitionInAnyNumberOfDimensions) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    Padding padding{2, {}};
    int64_t elements = 1, result_elements = 1;
    for (int64_t rank = dice.Roll(1, 4); rank > 0; --rank) {
      const int64_t size = dice.Roll(1, 9), low = dice.Roll(-10, 10);
      padding.dimensions.push_back({size, dice.Roll(0, 1) == 0 ? size : dice.Roll(1, 12), dice.Roll(0, 1) * low});
      elements *= size;
      result_elements *= padding.dimensions.back().result;
    }
    std::vector<uint16_t> x(elements), want(result_elements, 0xfffe);
    std::iota(x.begin(), x.end(), 0);
    for (int64_t i = 0; i < elements; ++i) {
      int64_t rest = i, to = 0, stride = 1;
      bool inside = true;
      for (size_t d = padding.dimensions.size(); d-- > 0;) {
        const Padding::Dimension& dimension = padding.dimensions[d];
        const int64_t index = rest % dimension.operand + dimension.low;
        inside = inside && index >= 0 && index < dimension.result;
        to += index * stride;
        stride *= dimension.result;
        rest /= dimension.operand;
      }
      if (inside) want[to] = x[i];
    }
    const std::vector<uint16_t> value = {0xfffe};
    for (const Padding& kernel : {padding, padding.Simplified()}) {
      const std::string got = RunKernel(kernel.Spec(), {BytesOf(x), BytesOf(value)}, 2 * result_elements);
      EXPECT_EQ(ElementsOf<uint16_t>(got), want) << testing::PrintToString(kernel.Spec().parameters);
    }
  }
}

TEST(PaddingPass, MakesRowsAsLongAsCanBe) {
  const Padding image{4, {{1, 1, 0}, {8, 8, 0}, {24, 26, 1}, {24, 26, 1}, {8, 8, 0}, {8, 8, 0}}};
  EXPECT_EQ(image.Simplified().Spec().parameters, (Dims{4, 8, 8, 0, 24, 26, 1, 1536, 1664, 64}));
  EXPECT_EQ((Padding{4, {{5, 5, 0}, {6, 6, 0}}}).Simplified().Spec().parameters, (Dims{4, 30, 30, 0}));
  EXPECT_EQ((Padding{4, {{1, 1, 0}}}).Simplified().Spec().parameters, (Dims{4, 1, 1, 0}));
}

TEST(PaddingPass, RefusesOtherParameters) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max(), kMin = std::numeric_limits<int64_t>::min();
  const auto is_made = [](const Padding& padding) { return MakeKernel(padding.Spec()).ok(); };
  EXPECT_TRUE(is_made({4, {{5, 7, 1}}}));
  EXPECT_TRUE(is_made({16, {{5, 7, -100}}}));
  EXPECT_FALSE(is_made({4, {}})) << "a scalar";
  EXPECT_FALSE(is_made({3, {{5, 7, 1}}})) << "elements of 3 bytes";
  EXPECT_FALSE(is_made({32, {{5, 7, 1}}})) << "elements of 32 bytes";
  EXPECT_FALSE(is_made({0, {{5, 7, 1}}})) << "elements of no bytes";
  EXPECT_FALSE(is_made({4, {{0, 7, 1}}})) << "nothing to pad";
  EXPECT_FALSE(is_made({4, {{5, 0, 1}}})) << "no result";
  EXPECT_FALSE(is_made({4, {{5, 7, kMax}}})) << "beyond all memory";
  EXPECT_FALSE(is_made({4, {{5, 7, kMin}}})) << "before all memory";
  EXPECT_FALSE(is_made({4, {{kMax / 2, 7, 1}, {4, 7, 1}}})) << "more than memory";
  EXPECT_FALSE(is_made({4, {{4, kMax / 2, 1}, {4, 7, 1}}})) << "more than memory";
  EXPECT_FALSE(MakeKernel({(Padding{4, {}}).Spec().name, {4, 5, 7}}).ok()) << "half a dimension";
}

TEST(PaddingPass, LeavesTheRest) {
  const auto twice = [](XlaOp x) { return x + x; };
  const auto kernels = [](const xla::XlaComputation& computation) { return KernelsOf(computation).size(); };
  EXPECT_EQ(kernels(PaddedBy({64, 64}, {{0, 4}, {0, 4}})), 1);
  EXPECT_EQ(kernels(PaddedBy({64, 64}, {{0, 4}, {0, 4}}, xla::F32, twice)), 0) << "fused with what is before it";
  EXPECT_EQ(kernels(PaddedBy({64, 64}, {{0, 4}, {0, 4}}, xla::F32, nullptr, twice)), 0) << "fused with what is behind";
  EXPECT_EQ(kernels(PaddedBy({64, 64}, {{0, 4}, {0, 4}, 1})), 0) << "interior padding";
  EXPECT_EQ(kernels(PaddedBy({0, 64}, {{99, 4}, {0, 4}})), 0) << "nothing to pad";
  EXPECT_EQ(kernels(PaddedBy({64, 64}, {{0, -64}, {0, 0}})), 0) << "no result";
  EXPECT_EQ(kernels(PaddedBy({32, 64}, {{0, 1}, {0, 1}})), 0) << "little";
  EXPECT_EQ(kernels(PaddedBy({5000, 3}, {{0, 0}, {0, 1}})), 0) << "short rows";
  EXPECT_EQ(kernels(PaddedBy({1}, {{0}, {0}})), 0) << "one element";
}

}  // namespace padding_pass_test
}  // namespace hpu::emulator
