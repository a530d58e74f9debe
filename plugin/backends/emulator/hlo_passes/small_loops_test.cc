// Tests that small loops run on one thread and compute the same as XLA's split loops.
#include "plugin/backends/emulator/hlo_passes/small_loops.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::emulator {
namespace small_loops_test {

using xla::XlaOp;

XlaOp Rounded(XlaOp value) { return xla::ConvertElementType(xla::ConvertElementType(value, xla::BF16), xla::F32); }

// A dozen roundings. Each step multiplies the previous result by the next array of `others`, adds a constant and
// rounds.
XlaOp ManyRoundings(XlaOp x, absl::Span<const XlaOp> others) {
  for (int i = 0; i < 12; ++i) x = Rounded(x * others[i % others.size()] + xla::ScalarLike(x, 0.1f * i));
  return xla::Tanh(x);
}

constexpr int kArrays = 5;

std::vector<XlaOp> Arrays(xla::XlaBuilder* builder, const xla::Shape& shape) {
  std::vector<XlaOp> arrays;
  for (int i = 0; i < kArrays; ++i) arrays.push_back(xla::Parameter(builder, i, shape, absl::StrCat("x", i)));
  return arrays;
}

xla::XlaComputation Roundings(int64_t rows, int64_t columns) {
  xla::XlaBuilder builder("roundings");
  const std::vector<XlaOp> arrays = Arrays(&builder, xla::ShapeUtil::MakeShape(xla::F32, {rows, columns}));
  xla::Tuple(&builder, {ManyRoundings(arrays[0], absl::MakeSpan(arrays).subspan(1))});
  return builder.Build().value();
}

// The roundings in a loop of three iterations, which carries the arrays.
xla::XlaComputation LoopOfRoundings(int64_t rows, int64_t columns) {
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {rows, columns});
  std::vector<xla::Shape> shapes(kArrays, shape);
  shapes.push_back(xla::ShapeUtil::MakeShape(xla::S32, {}));
  const xla::Shape state = xla::ShapeUtil::MakeTupleShape(shapes);
  xla::XlaBuilder builder("loop"), condition("condition"), body("body");
  xla::Lt(xla::GetTupleElement(xla::Parameter(&condition, 0, state, "state"), kArrays),
          xla::ConstantR0<int32_t>(&condition, 3));
  const XlaOp carried = xla::Parameter(&body, 0, state, "state");
  std::vector<XlaOp> values;
  for (int i = 0; i <= kArrays; ++i) values.push_back(xla::GetTupleElement(carried, i));
  values[0] = ManyRoundings(values[0], absl::MakeSpan(values).subspan(1, kArrays - 1));
  values[kArrays] = values[kArrays] + xla::ConstantR0<int32_t>(&body, 1);
  xla::Tuple(&body, values);
  std::vector<XlaOp> first = Arrays(&builder, shape);
  first.push_back(xla::ConstantR0<int32_t>(&builder, 0));
  const XlaOp last = xla::While(condition.Build().value(), body.Build().value(), xla::Tuple(&builder, first));
  xla::Tuple(&builder, {xla::GetTupleElement(last, 0)});
  return builder.Build().value();
}

// Number of loops that are split over threads.
int64_t SplitLoops(const xla::HloModule& module) {
  int64_t calls = 0;
  for (const xla::HloComputation* computation : module.computations()) {
    for (const xla::HloInstruction* instruction : computation->instructions()) {
      calls += instruction->opcode() == xla::HloOpcode::kCall;
    }
  }
  return calls;
}

int64_t SplitLoopsLeft(const xla::XlaComputation& computation) {
  const std::unique_ptr<xla::HloModule> module = AfterXlaPasses(computation);
  EXPECT_GT(SplitLoops(*module), 0);
  EXPECT_TRUE(JoinSmallLoops(module.get()).ok());
  return SplitLoops(*module);
}

// Skipped if XLA's passes split no loops: on a single thread, and in releases that split them when they generate code.
class SmallLoopsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (SplitLoops(*AfterXlaPasses(Roundings(256, 1024))) == 0) GTEST_SKIP() << "XLA's passes split no loops";
  }
};

TEST_F(SmallLoopsTest, RunOnOneThread) {
  EXPECT_EQ(SplitLoopsLeft(Roundings(16, 64)), 0);
  EXPECT_EQ(SplitLoopsLeft(LoopOfRoundings(16, 64)), 0);
}

TEST_F(SmallLoopsTest, LeavesLargeOnes) {
  EXPECT_GT(SplitLoopsLeft(Roundings(256, 1024)), 0);
  EXPECT_GT(SplitLoopsLeft(LoopOfRoundings(256, 1024)), 0);
}

TEST_F(SmallLoopsTest, LeavesLoopsOfSingleElements) {
  xla::XlaBuilder builder("powers");
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F64, {256, 8});
  const XlaOp x = xla::Parameter(&builder, 0, shape, "x");
  XlaOp value = x;
  for (int i = 0; i < 16; ++i) value = xla::Pow(value, x) * x + x;
  xla::Tuple(&builder, {value});
  EXPECT_GT(SplitLoopsLeft(builder.Build().value()), 0);
}

TEST_F(SmallLoopsTest, ComputeTheSame) {
  for (const int64_t columns : {1, 3, 64, 65}) {
    SCOPED_TRACE(columns);
    for (const xla::XlaComputation& computation : {Roundings(16, columns), LoopOfRoundings(16, columns)}) {
      const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
      // The evaluator rounds between a product and a sum, which may result in a different bfloat16 number.
      ExpectSameAsEvaluator(computation, arguments, 0, 0.02);
      EXPECT_EQ(ResultOf(computation, arguments), RunJit(computation, arguments)[0]);
    }
  }
}

}  // namespace small_loops_test
}  // namespace hpu::emulator
