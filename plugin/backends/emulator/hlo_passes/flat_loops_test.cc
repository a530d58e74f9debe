// Tests that flattened loops compute the same as the original loops, in the same number of parts.
#include "plugin/backends/emulator/hlo_passes/flat_loops.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/backends/emulator/hlo_passes/small_loops.h"
#include "plugin/backends/emulator/threads/compute_pool.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/service/cpu/backend_config.pb.h"

namespace hpu::emulator {
namespace flat_loops_test {

using xla::HloOpcode;
using xla::XlaOp;

XlaOp Rounded(XlaOp value) { return xla::ConvertElementType(xla::ConvertElementType(value, xla::BF16), xla::F32); }

enum class Of { kArrays, kReshapes, kBytes, kConversion, kFeatures };

// Elementwise work on two arrays. kFeatures also adds a vector along the last dimension.
xla::XlaComputation Elementwise(const std::vector<int64_t>& dims, Of of) {
  xla::XlaBuilder builder("elementwise");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, dims), "x");
  const XlaOp y = xla::Parameter(&builder, 1, xla::ShapeUtil::MakeShape(xla::F32, dims), "y");
  XlaOp value;
  switch (of) {
    case Of::kArrays:
      value = xla::Select(xla::Gt(x, y), xla::Tanh(Rounded(x * y)) + xla::ScalarLike(x, 0.5f), xla::Exp(y));
      break;
    case Of::kReshapes: {
      std::vector<int64_t> more = dims;
      more.insert(more.begin(), 1);
      value = xla::Reshape(Rounded(xla::Reshape(x, more) + xla::Reshape(y, more)), dims) * x;
      break;
    }
    case Of::kBytes:
      value = xla::ConvertElementType(xla::Gt(x, y), xla::U8);
      break;
    case Of::kConversion:
      value = xla::ConvertElementType(x, xla::BF16);
      break;
    case Of::kFeatures: {
      const int64_t last = dims.size() - 1;
      const XlaOp z = xla::Parameter(&builder, 2, xla::ShapeUtil::MakeShape(xla::F32, {dims[last]}), "z");
      value = xla::Add(x * y, z, {last});
      break;
    }
  }
  xla::Tuple(&builder, {value});
  return builder.Build().value();
}

struct Loops {
  int64_t of_rows = 0;         // elementwise loops over one dimension
  int64_t of_arrays = 0;       // elementwise loops over several dimensions
  std::vector<int64_t> parts;  // parts of split loops
};

Loops LoopsOf(const xla::HloModule& module) {
  Loops loops;
  for (const xla::HloComputation* computation : module.MakeNonfusionComputations()) {
    for (const xla::HloInstruction* instruction : computation->instructions()) {
      if (SplitLoop(*instruction) != nullptr) {
        const auto config = SplitLoop(*instruction)->backend_config<xla::cpu::BackendConfig>().value();
        int64_t parts = 1;
        for (const int64_t of_dimension : config.outer_dimension_partitions()) parts *= of_dimension;
        loops.parts.push_back(parts);
      }
      const bool is_loop = instruction->opcode() == HloOpcode::kFusion || instruction->opcode() == HloOpcode::kConvert;
      if (!is_loop) continue;
      ++(instruction->shape().dimensions_size() == 1 ? loops.of_rows : loops.of_arrays);
    }
  }
  return loops;
}

Loops LoopsAfterwards(const xla::XlaComputation& computation) {
  const std::unique_ptr<xla::HloModule> module = AfterXlaPasses(computation);
  const Loops before = LoopsOf(*module);
  EXPECT_EQ(before.of_rows, 0);
  EXPECT_GT(before.of_arrays, 0);
  EXPECT_TRUE(FlattenLoops(module.get()).ok());
  const Loops after = LoopsOf(*module);
  EXPECT_EQ(before.parts, after.parts);
  EXPECT_EQ(before.of_arrays, after.of_rows + after.of_arrays);
  return after;
}

TEST(FlatLoops, HaveOneDimension) {
  for (const Of of : {Of::kArrays, Of::kReshapes, Of::kBytes, Of::kConversion}) {
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{20, 3}, {4, 5, 7, 3}, {64, 1}, {2, 127}}) {
      SCOPED_TRACE(testing::PrintToString(dims) + std::to_string(static_cast<int>(of)));
      EXPECT_EQ(LoopsAfterwards(Elementwise(dims, of)).of_arrays, 0);
    }
  }
}

TEST(FlatLoops, StaySplit) {
  if (ComputePool::DefaultThreads() < 2) GTEST_SKIP() << "requires at least two threads";
  for (const Of of : {Of::kArrays, Of::kReshapes}) {
    const Loops loops = LoopsAfterwards(Elementwise({300, 200, 3}, of));
    EXPECT_EQ(loops.of_arrays, 0);
    if (loops.parts.empty()) GTEST_SKIP() << "XLA of this release splits loops when it generates code";
    ASSERT_EQ(loops.parts.size(), 1);
    EXPECT_GT(loops.parts[0], 1);
  }
}

TEST(FlatLoops, LeaveUnsupportedUnchanged) {
  for (const Loops& loops : {LoopsAfterwards(Elementwise({20, 128}, Of::kArrays)),    // long rows
                             LoopsAfterwards(Elementwise({1, 20}, Of::kConversion)),  // one row
                             LoopsAfterwards(Elementwise({20, 16}, Of::kFeatures))}) {
    EXPECT_EQ(loops.of_rows, 0);
  }
}

TEST(FlatLoops, LeaveArraysWithoutElements) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{0, 3}, {4, 0}}) {
    const xla::XlaComputation computation = Elementwise(dims, Of::kArrays);
    EXPECT_EQ(ResultOf(computation, ArgumentsOf(computation)), "");
  }
}

TEST(FlatLoops, ComputeTheSame) {
  for (const Of of : {Of::kArrays, Of::kReshapes, Of::kBytes, Of::kConversion, Of::kFeatures}) {
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{20, 3}, {4, 5, 7, 3}, {300, 201, 3}, {71, 127}}) {
      SCOPED_TRACE(testing::PrintToString(dims) + std::to_string(static_cast<int>(of)));
      const xla::XlaComputation computation = Elementwise(dims, of);
      const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
      EXPECT_EQ(ResultOf(computation, arguments), RunJit(computation, arguments)[0]);
    }
  }
}

// Elementwise work in a loop that carries the array and updates it in place.
TEST(FlatLoops, ComputeTheSameInALoop) {
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {50, 5});
  const xla::Shape state = xla::ShapeUtil::MakeTupleShape({shape, xla::ShapeUtil::MakeShape(xla::S32, {})});
  xla::XlaBuilder builder("loop"), condition("condition"), body("body");
  xla::Lt(xla::GetTupleElement(xla::Parameter(&condition, 0, state, "state"), 1),
          xla::ConstantR0<int32_t>(&condition, 3));
  const XlaOp carried = xla::Parameter(&body, 0, state, "state");
  const XlaOp array = xla::GetTupleElement(carried, 0);
  xla::Tuple(&body, {Rounded(array * array) + xla::ScalarLike(array, 0.25f),
                     xla::GetTupleElement(carried, 1) + xla::ConstantR0<int32_t>(&body, 1)});
  const XlaOp x = xla::Parameter(&builder, 0, shape, "x");
  const XlaOp last = xla::While(condition.Build().value(), body.Build().value(),
                                xla::Tuple(&builder, {x, xla::ConstantR0<int32_t>(&builder, 0)}));
  xla::Tuple(&builder, {xla::GetTupleElement(last, 0)});
  const xla::XlaComputation computation = builder.Build().value();
  const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  EXPECT_EQ(ResultOf(computation, arguments), RunJit(computation, arguments)[0]);
}

}  // namespace flat_loops_test
}  // namespace hpu::emulator
