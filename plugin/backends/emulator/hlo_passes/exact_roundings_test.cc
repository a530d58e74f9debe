// Tests that roundings of bfloat16 numbers are removed, other roundings stay, and results do not change.
#include "plugin/backends/emulator/hlo_passes/exact_roundings.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace exact_roundings_test {

using xla::XlaOp;

constexpr int64_t kRows = 6, kColumns = 50;

XlaOp Rounded(XlaOp value) { return xla::ConvertElementType(xla::ConvertElementType(value, xla::BF16), xla::F32); }
XlaOp Zeros(XlaOp like) { return xla::ZerosLike(like); }

struct Case {
  std::string name;
  std::function<XlaOp(XlaOp x, XlaOp y)> function;
  int before;  // roundings to bfloat16 inside fusions
  int after;
};

void PrintTo(const Case& c, std::ostream* stream) { *stream << c.name; }

// A program whose result is `function` of two matrices.
xla::XlaComputation Program(const std::function<XlaOp(XlaOp x, XlaOp y)>& function) {
  xla::XlaBuilder builder("program");
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {kRows, kColumns});
  const XlaOp x = xla::Parameter(&builder, 0, shape, "x"), y = xla::Parameter(&builder, 1, shape, "y");
  xla::Tuple(&builder, {function(x, y)});
  return builder.Build().value();
}

int RoundingsOf(const xla::HloModule& module) {
  int count = 0;
  for (const xla::HloComputation* computation : module.computations()) {
    for (const xla::HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == xla::HloOpcode::kConvert && instruction->shape().element_type() == xla::BF16 &&
          instruction->operand(0)->shape().element_type() == xla::F32) {
        ++count;
      }
    }
  }
  return count;
}

std::vector<Case> Cases() {
  const auto product = [](XlaOp x, XlaOp y) { return Rounded(x * y); };
  const auto constant = [](float number) {
    return [number](XlaOp x, XlaOp y) {
      return Rounded(xla::Select(xla::Gt(x, y), Rounded(x * y), xla::FullLike(x, number))) + y;
    };
  };
  return {
      {"Maximum", [=](XlaOp x, XlaOp y) { return Rounded(xla::Max(product(x, y), Zeros(x))) + y; }, 2, 1},
      {"Minimum", [=](XlaOp x, XlaOp y) { return Rounded(xla::Min(product(x, y), Rounded(x))) + y; }, 3, 2},
      {"Negation", [=](XlaOp x, XlaOp y) { return Rounded(xla::Neg(xla::Abs(product(x, y)))) + y; }, 2, 1},
      {"Slice",
       [=](XlaOp x, XlaOp y) {
         return Rounded(xla::SliceInDim(product(x, y), 3, 40, 1, 1)) * xla::SliceInDim(y, 0, 37, 1, 1);
       },
       2, 1},
      {"Broadcast",
       [=](XlaOp x, XlaOp y) {
         const XlaOp row = Rounded(xla::Reshape(xla::SliceInDim(x, 0, 1, 1, 0), {kColumns}));
         return Rounded(xla::BroadcastInDim(row, {kRows, kColumns}, {1})) * y;
       },
       1, 1},
      {"RoundConstant", constant(0.5f), 2, 1},
      {"OtherConstant", constant(0.1f), 2, 2},
      {"Stored",
       [=](XlaOp x, XlaOp y) { return xla::ConvertElementType(xla::Max(product(x, y), Zeros(x)), xla::BF16); }, 2, 1},
      {"StoredAndUsed",
       [=](XlaOp x, XlaOp y) {
         const XlaOp stored = xla::ConvertElementType(xla::Max(product(x, y), Zeros(x)), xla::BF16);
         return xla::Select(xla::Gt(xla::ConvertElementType(stored, xla::F32), y), stored, xla::Rev(stored, {0}));
       },
       4, 1},
      {"Sum", [=](XlaOp x, XlaOp y) { return Rounded(Rounded(x) + Rounded(y)) * y; }, 3, 3},
      {"MaximumOfOthers", [=](XlaOp x, XlaOp y) { return Rounded(xla::Max(x, Rounded(y))) + y; }, 2, 2},
      {"Flags", [=](XlaOp x, XlaOp y) { return Rounded(xla::ConvertElementType(xla::Gt(x, y), xla::F32)) * y; }, 1, 0},
  };
}

class ExactRoundingsTest : public testing::TestWithParam<Case> {};

TEST_P(ExactRoundingsTest, RemovesExactRoundings) {
  const xla::XlaComputation computation = Program(GetParam().function);
  const std::unique_ptr<xla::HloModule> module = AfterXlaPasses(computation);
  EXPECT_EQ(RoundingsOf(*module), GetParam().before) << module->ToString();
  ASSERT_TRUE(OmitExactRoundings(module.get()).ok());
  EXPECT_EQ(RoundingsOf(*module), GetParam().after) << module->ToString();
}

TEST_P(ExactRoundingsTest, KeepsTheValues) {
  const xla::XlaComputation computation = Program(GetParam().function);
  ExpectSameAsEvaluator(computation, ArgumentsOf(computation), 0, 0);
  std::vector<xla::Literal> special = ArgumentsOf(computation);
  Dice dice(5);
  for (xla::Literal& argument : special) SetSpecialNumbers(&argument, &dice);
  ExpectSameAsEvaluator(computation, special, 0, 1e-30);
}

INSTANTIATE_TEST_SUITE_P(All, ExactRoundingsTest, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<Case>& info) { return info.param.name; });

TEST(ExactRoundings, OfArraysWithoutElements) {
  xla::XlaBuilder builder("empty");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {0, 3}), "x");
  xla::Tuple(&builder, {Rounded(xla::Max(Rounded(x), Zeros(x)))});
  const xla::XlaComputation computation = builder.Build().value();
  ExpectSameAsXla(computation, ArgumentsOf(computation), 0);
}

}  // namespace exact_roundings_test
}  // namespace hpu::emulator
