#include "plugin/backends/emulator/hlo_passes/element_choice_pass.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace element_choice_pass_test {

using xla::XlaOp;

struct Case {
  int64_t rows = 50;
  int64_t columns = 20;
  xla::PrimitiveType type = xla::F32;
  xla::PrimitiveType index = xla::S32;
  bool minimum = false;
  bool index_first = false;
  // Dimension of the compared iota, and whether masked elements have the identity's value. The pass matches only these
  // defaults.
  int64_t iota_dimension = 1;
  bool other_is_identity = true;
};

xla::XlaComputation Program(const Case& c) {
  xla::XlaBuilder builder("choice");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(c.type, {c.rows, c.columns}), "x");
  const XlaOp index = xla::Parameter(&builder, 1, xla::ShapeUtil::MakeShape(c.index, {c.rows}), "index");
  const XlaOp iota = xla::Iota(&builder, xla::ShapeUtil::MakeShape(c.index, {c.rows, c.columns}), c.iota_dimension);
  const XlaOp wide = xla::BroadcastInDim(index, {c.rows, c.columns}, {0});
  const XlaOp identity = c.minimum ? xla::MaxValue(&builder, c.type) : xla::MinValue(&builder, c.type);
  const XlaOp other = c.other_is_identity ? identity : xla::One(&builder, c.type);
  const XlaOp chosen = xla::Select(c.index_first ? xla::Eq(wide, iota) : xla::Eq(iota, wide), x,
                                   xla::Broadcast(other, {c.rows, c.columns}));
  xla::Tuple(&builder, {xla::Reduce(chosen, identity,
                                    c.minimum ? xla::CreateScalarMinComputation(c.type, &builder)
                                              : xla::CreateScalarMaxComputation(c.type, &builder),
                                    {1})});
  return builder.Build().value();
}

// Column indices, some of them before the first or after the last column; elements include infinities and NaN.
std::vector<xla::Literal> Arguments(const xla::XlaComputation& computation, const Case& c) {
  std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  Dice dice(3);
  for (int64_t row = 0; row < c.rows; ++row) {
    const int64_t column = dice.Roll(-3, c.columns + 3);
    if (c.index == xla::S64) {
      arguments[1].Set<int64_t>({row}, row % 7 == 0 ? column + (int64_t{1} << 32) : column);
    } else {
      arguments[1].Set<int32_t>({row}, static_cast<int32_t>(column));
    }
  }
  if (c.type == xla::F32) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (float& value : arguments[0].data<float>()) {
      const float values[] = {value, value, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), -0.0f};
      value = values[dice.Roll(0, 5)];
    }
  }
  return arguments;
}

bool HasGather(const Case& c) {
  const std::unique_ptr<xla::HloModule> module = ModuleOf(Program(c));
  EXPECT_TRUE(ReadChosenElements(module.get()).ok());
  for (const xla::HloInstruction* instruction : module->entry_computation()->instructions()) {
    if (instruction->opcode() == xla::HloOpcode::kGather) return true;
  }
  return false;
}

TEST(ElementChoicePass, ReturnsTheElements) {
  for (const xla::PrimitiveType type : {xla::F32, xla::BF16}) {
    for (const xla::PrimitiveType index : {xla::S32, xla::S64}) {
      for (const bool minimum : {false, true}) {
        for (const auto& [rows, columns] : {std::pair(50, 20), std::pair(1, 1), std::pair(7, 1)}) {
          const Case c{rows, columns, type, index, minimum, /*index_first=*/minimum};
          SCOPED_TRACE(testing::Message() << rows << " " << columns << " " << type << " " << index << " " << minimum);
          EXPECT_TRUE(HasGather(c));
          const xla::XlaComputation computation = Program(c);
          ExpectSameAsEvaluator(computation, Arguments(computation, c), 0, 0);
        }
      }
    }
  }
}

TEST(ElementChoicePass, LeavesUnsupportedUnchanged) {
  Case c;
  c.other_is_identity = false;
  EXPECT_FALSE(HasGather(c)) << "masked elements that are not the identity";
  c = {};
  c.iota_dimension = 0;
  EXPECT_FALSE(HasGather(c)) << "an iota over the rows";
  c = {};
  c.index = xla::U32;
  EXPECT_FALSE(HasGather(c)) << "unsigned indices";
  c = {};
  c.columns = 0;
  EXPECT_FALSE(HasGather(c)) << "no elements";
}

}  // namespace element_choice_pass_test
}  // namespace hpu::emulator
