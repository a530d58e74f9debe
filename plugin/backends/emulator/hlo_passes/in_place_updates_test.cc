// Tests that updates of variables in place compute the same as updates in other memory.
#include "plugin/backends/emulator/hlo_passes/in_place_updates.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_input_output_alias_config.h"

namespace hpu::emulator {
namespace in_place_updates_test {

using xla::XlaBuilder;
using xla::XlaOp;

constexpr int64_t kSide = 96;

// Maps the variables' values to their new values, followed by other results.
using Body = std::function<std::vector<XlaOp>(XlaBuilder*, const std::vector<XlaOp>&)>;

xla::XlaComputation Program(int variables, bool in_place, const Body& body) {
  XlaBuilder builder("updates");
  std::vector<XlaOp> values;
  for (int i = 0; i < variables; ++i) {
    values.push_back(
        xla::Parameter(&builder, i, xla::ShapeUtil::MakeShape(xla::F32, {kSide, kSide}), absl::StrCat("v", i)));
  }
  xla::Tuple(&builder, body(&builder, values));
  for (int i = 0; in_place && i < variables; ++i) {
    builder.SetUpAlias({i}, i, {}, xla::HloInputOutputAliasConfig::kMayAlias);
  }
  return builder.Build().value();
}

struct Copies {
  int64_t before;
  int64_t after;
};

// Number of copied arguments after XLA's passes, and after this pass.
Copies CopiesOf(const xla::XlaComputation& computation) {
  const std::unique_ptr<xla::HloModule> module = AfterXlaPasses(computation);
  const auto count = [&module] {
    int64_t copies = 0;
    for (const xla::HloInstruction* instruction : module->entry_computation()->instructions()) {
      const bool copy = instruction->opcode() == xla::HloOpcode::kCopy;
      copies += copy && instruction->operand(0)->opcode() == xla::HloOpcode::kParameter;
    }
    return copies;
  };
  const int64_t before = count();
  EXPECT_TRUE(UpdateInPlace(module.get()).ok());
  return {before, count()};
}

void ExpectSameInPlace(int variables, const Body& body) {
  const xla::XlaComputation apart = Program(variables, /*in_place=*/false, body);
  const std::vector<xla::Literal> arguments = ArgumentsOf(apart);
  const auto run = [&arguments](const xla::XlaComputation& computation) {
    auto recipe = CompileRecipe(ProgramOf(computation));
    EXPECT_TRUE(recipe.ok()) << recipe.status();
    return recipe.ok() ? RunRecipe(**recipe, arguments) : std::vector<std::string>();
  };
  EXPECT_TRUE(run(Program(variables, /*in_place=*/true, body)) == run(apart));
}

XlaOp Less(XlaOp variable, XlaOp gradient) {
  return variable - gradient * xla::ConstantR0<float>(variable.builder(), 0.125f);
}

TEST(InPlaceUpdates, OtherReadersRunFirst) {
  const Body body = [](XlaBuilder*, const std::vector<XlaOp>& v) {
    const XlaOp gradient = xla::Tanh(v[1]);
    const XlaOp late = xla::Exp(xla::Dot(xla::Dot(gradient, v[0]), v[0]));
    return std::vector<XlaOp>{Less(v[0], gradient), Less(v[1], v[0]), late};
  };
  const Copies copies = CopiesOf(Program(2, /*in_place=*/true, body));
  EXPECT_GT(copies.before, 0);
  EXPECT_EQ(copies.after, 0);
  ExpectSameInPlace(2, body);
}

// A reader of one variable's old value needs the other variable's new value.
TEST(InPlaceUpdates, ReadersOfOtherUpdatesRunInBetween) {
  for (const int first : {0, 1}) {
    const Body body = [first](XlaBuilder*, const std::vector<XlaOp>& v) {
      const XlaOp updated = Less(v[first], xla::Dot(v[first], v[first]));
      const XlaOp late = xla::Dot(updated, v[1 - first]);
      std::vector<XlaOp> results(2);
      results[first] = updated;
      results[1 - first] = Less(v[1 - first], xla::Tanh(v[1 - first]));
      results.push_back(late);
      return results;
    };
    EXPECT_EQ(CopiesOf(Program(2, /*in_place=*/true, body)).after, 0);
    ExpectSameInPlace(2, body);
  }
}

TEST(InPlaceUpdates, ReadersOfTheNewValueKeepTheCopy) {
  const Body body = [](XlaBuilder*, const std::vector<XlaOp>& v) {
    const XlaOp updated = Less(v[0], xla::Dot(v[0], v[0]));
    return std::vector<XlaOp>{updated, xla::Dot(xla::Dot(updated, updated), v[0])};
  };
  EXPECT_GT(CopiesOf(Program(1, /*in_place=*/true, body)).after, 0);
  ExpectSameInPlace(1, body);
}

TEST(InPlaceUpdates, SwappedVariablesAreCopied) {
  const Body body = [](XlaBuilder*, const std::vector<XlaOp>& v) {
    return std::vector<XlaOp>{Less(v[1], v[0]), Less(v[0], v[1])};
  };
  const Copies copies = CopiesOf(Program(2, /*in_place=*/true, body));
  EXPECT_GT(copies.after, 0);
  EXPECT_LT(copies.after, 2);
  ExpectSameInPlace(2, body);
}

TEST(InPlaceUpdates, OtherElementsAreNotOverwritten) {
  for (const Body& body : {Body([](XlaBuilder*, const std::vector<XlaOp>& v) {
                             return std::vector<XlaOp>{Less(xla::Transpose(v[0], {1, 0}), v[0]), xla::Dot(v[0], v[0])};
                           }),
                           Body([](XlaBuilder*, const std::vector<XlaOp>& v) {
                             return std::vector<XlaOp>{Less(v[0], xla::Rev(v[0], {0})), xla::Dot(v[0], v[0])};
                           }),
                           Body([](XlaBuilder*, const std::vector<XlaOp>& v) {
                             return std::vector<XlaOp>{xla::Dot(v[0], v[0]), xla::Exp(v[0])};
                           })}) {
    EXPECT_EQ(CopiesOf(Program(1, /*in_place=*/true, body)).after, 1);
    ExpectSameInPlace(1, body);
  }
}

TEST(InPlaceUpdates, RandomPrograms) {
  for (uint32_t seed = 0; seed < 16; ++seed) {
    SCOPED_TRACE(seed);
    const Body body = [seed](XlaBuilder*, const std::vector<XlaOp>& v) {
      Dice dice(seed);
      std::vector<XlaOp> made = v;
      const auto any = [&] { return made[dice.Roll(0, static_cast<int64_t>(made.size()) - 1)]; };
      for (int i = 0; i < 12; ++i) {
        switch (dice.Roll(0, 4)) {
          case 0:
            made.push_back(xla::Tanh(xla::Dot(any(), any())));
            break;
          case 1:
            made.push_back(xla::Transpose(any(), {1, 0}));
            break;
          default:
            made.push_back(Less(any(), any()));
        }
      }
      std::vector<XlaOp> results;
      for (const XlaOp& variable : v) results.push_back(dice.Roll(0, 2) == 0 ? any() : Less(variable, any()));
      results.push_back(made.back());
      return results;
    };
    ExpectSameInPlace(4, body);
  }
}

}  // namespace in_place_updates_test
}  // namespace hpu::emulator
