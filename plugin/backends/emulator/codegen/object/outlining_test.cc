// Tests of Outline: programs with outlined functions return the same results as XLA's own executable.
#include "plugin/backends/emulator/codegen/object/outlining.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/codegen/compiler.h"
#include "plugin/backends/emulator/codegen/recipe_payload.h"
#include "plugin/backends/emulator/kernels/compiler_target.h"
#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/ir/hlo_input_output_alias_config.h"

namespace hpu::emulator {
namespace outlining_test {

using xla::XlaBuilder;
using xla::XlaOp;

constexpr int kLayers = 10;

xla::Shape Floats(std::vector<int64_t> dims) { return xla::ShapeUtil::MakeShape(xla::F32, dims); }

XlaOp Layer(XlaOp x, XlaOp weights) { return xla::Tanh(xla::Dot(x, weights)) + x; }

// Identical layers, then an elementwise function of another shape, a reduction with two results and a transposition.
xla::XlaComputation Network() {
  XlaBuilder builder("network");
  XlaOp x = xla::Parameter(&builder, 0, Floats({24, 16}), "x");
  XlaOp weights = xla::Parameter(&builder, 1, Floats({16, 16}), "weights");
  for (int i = 0; i < kLayers; ++i) x = Layer(x, weights);
  XlaOp wide = xla::Exp(xla::ConcatInDim(&builder, {x, x}, 0));
  xla::Tuple(&builder, {x, xla::ArgMax(wide, xla::S32, 1), xla::Transpose(wide, {1, 0})});
  return builder.Build().value();
}

// Updates of variables of two shapes.
xla::XlaComputation Updates(bool in_place) {
  XlaBuilder builder("updates");
  std::vector<XlaOp> results;
  XlaOp step = xla::Parameter(&builder, 0, Floats({}), "step");
  for (int i = 0; i < 2 * kLayers; ++i) {
    const xla::Shape shape = Floats({i % 2 == 0 ? 1000 : 40, 9});
    XlaOp variable = xla::Parameter(&builder, 1 + 2 * i, shape, absl::StrCat("variable", i));
    XlaOp gradient = xla::Parameter(&builder, 2 + 2 * i, shape, absl::StrCat("gradient", i));
    results.push_back(variable * xla::ConstantR0<float>(&builder, 0.9f) - gradient * step);
  }
  xla::Tuple(&builder, results);
  for (int i = 0; in_place && i < 2 * kLayers; ++i) {
    builder.SetUpAlias({i}, 1 + 2 * i, {}, xla::HloInputOutputAliasConfig::kMayAlias);
  }
  return builder.Build().value();
}

// A loop that carries a matrix through layers and a branch.
xla::XlaComputation Loop() {
  XlaBuilder builder("loop");
  const xla::Shape matrix = Floats({16, 16});
  const xla::Shape state = xla::ShapeUtil::MakeTupleShape({xla::ShapeUtil::MakeShape(xla::S32, {}), matrix, matrix});
  std::unique_ptr<XlaBuilder> condition = builder.CreateSubBuilder("condition");
  XlaOp carried = xla::Parameter(condition.get(), 0, state, "state");
  xla::Lt(xla::GetTupleElement(carried, 0), xla::ConstantR0<int32_t>(condition.get(), 3));
  std::unique_ptr<XlaBuilder> body = builder.CreateSubBuilder("body");
  carried = xla::Parameter(body.get(), 0, state, "state");
  const XlaOp count = xla::GetTupleElement(carried, 0);
  const XlaOp weights = xla::GetTupleElement(carried, 2);
  XlaOp x = xla::GetTupleElement(carried, 1);
  for (int i = 0; i < kLayers; ++i) x = Layer(x, weights);
  std::unique_ptr<XlaBuilder> same = builder.CreateSubBuilder("same"), other = builder.CreateSubBuilder("other");
  const XlaOp y = xla::Parameter(same.get(), 0, matrix, "y");
  Layer(y, y);
  xla::Transpose(xla::Sqrt(xla::Abs(xla::Parameter(other.get(), 0, matrix, "y"))), {1, 0});
  x = xla::Conditional(xla::Eq(count, xla::ConstantR0<int32_t>(body.get(), 1)), x, same->Build().value(), x,
                       other->Build().value());
  xla::Tuple(body.get(), {count + xla::ConstantR0<int32_t>(body.get(), 1), x, weights});
  const XlaOp done =
      xla::While(condition->Build().value(), body->Build().value(),
                 xla::Tuple(&builder, {xla::ConstantR0<int32_t>(&builder, 0), xla::Parameter(&builder, 0, matrix, "x"),
                                       xla::Parameter(&builder, 1, matrix, "weights")}));
  xla::Tuple(&builder, {xla::GetTupleElement(done, 1), xla::GetTupleElement(done, 2)});
  return builder.Build().value();
}

// Layers that add the product of their input and a vector of three constants.
xla::XlaComputation Constants() {
  XlaBuilder builder("constants");
  XlaOp x = xla::Parameter(&builder, 0, Floats({24, 3}), "x");
  const XlaOp weights = xla::Parameter(&builder, 1, Floats({3, 3}), "weights");
  for (int i = 0; i < kLayers; ++i) {
    const XlaOp constants = xla::ConstantR2<float>(&builder, {{static_cast<float>(i)}, {2}, {3}});
    x = Layer(x, weights) + xla::Dot(x, constants);
  }
  xla::Tuple(&builder, {x});
  return builder.Build().value();
}

std::vector<std::string> Computed(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments) {
  auto recipe = CompileRecipe(ProgramOf(computation));
  EXPECT_TRUE(recipe.ok()) << recipe.status();
  return recipe.ok() ? RunRecipe(**recipe, arguments) : std::vector<std::string>();
}

size_t FunctionsOf(const xla::XlaComputation& computation) {
  auto parts = CompileParts(ProgramOf(computation));
  EXPECT_TRUE(parts.ok()) << parts.status();
  return parts.ok() ? parts->functions.size() : 0;
}

void ExpectSameAsJit(const xla::XlaComputation& computation) {
  cts::ScopedVariable no_kernels("HPU_EMULATOR_KERNELS", "off");
  const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  EXPECT_GT(FunctionsOf(computation), 0);
  EXPECT_TRUE(Computed(computation, arguments) == RunJit(computation, arguments));
}

TEST(OutliningTest, EqualInstructionsShareAFunction) {
  const size_t functions = FunctionsOf(Network());
  EXPECT_GT(functions, 1);
  EXPECT_LT(functions, kLayers);
}

// A module that only calls functions compiles quickly, so the computations of outlined instructions must leave it.
TEST(OutliningTest, CalledComputationsLeaveTheModule) {
  XlaBuilder builder("calls");
  XlaOp x = xla::Parameter(&builder, 0, Floats({16, 16}), "x");
  for (int i = 0; i < 2 * kLayers; ++i) {
    const std::unique_ptr<XlaBuilder> layer = builder.CreateSubBuilder("layer");
    xla::Tanh(xla::Parameter(layer.get(), 0, Floats({16, 16}), "x"));
    x = xla::Call(&builder, layer->Build().value(), {x});
  }
  xla::Tuple(&builder, {x});
  const xla::XlaComputation computation = builder.Build().value();
  const xla::HloModuleConfig config(computation.GetProgramShape().value());
  const std::unique_ptr<xla::HloModule> module = xla::HloModule::CreateFromProto(computation.proto(), config).value();
  ASSERT_GT(module->computation_count(), 1);
  ASSERT_TRUE(Outline(module.get(), /*first_number=*/0).ok());
  EXPECT_EQ(module->computation_count(), 1);
}

TEST(OutliningTest, SmallProgramsAreNotOutlined) {
  XlaBuilder builder("small");
  XlaOp x = xla::Parameter(&builder, 0, Floats({16, 16}), "x");
  xla::Tuple(&builder, {Layer(x, x)});
  EXPECT_EQ(FunctionsOf(builder.Build().value()), 0);
}

TEST(OutliningTest, ComputesLikeXla) { ExpectSameAsJit(Network()); }

TEST(OutliningTest, ComputesLoopsAndBranchesLikeXla) { ExpectSameAsJit(Loop()); }

// Constants may have any address, but functions expect operands at the start of a cache line and may fault otherwise.
TEST(OutliningTest, OutlinesSmallConstants) {
  const xla::XlaComputation computation = Constants();
  cts::ScopedVariable no_kernels("HPU_EMULATOR_KERNELS", "off");
  auto parts = CompileParts(ProgramOf(computation));
  ASSERT_TRUE(parts.ok()) << parts.status();
  const bool taken = std::any_of(parts->functions.begin(), parts->functions.end(), [](const FunctionParts& function) {
    const auto& arguments = function.table.arguments;
    return std::any_of(arguments.begin(), arguments.end(), [](const auto& argument) { return argument.bytes == 12; });
  });
  EXPECT_TRUE(taken);
  ExpectSameAsJit(computation);
}

TEST(OutliningTest, UpdatesInPlace) {
  const std::vector<xla::Literal> arguments = ArgumentsOf(Updates(/*in_place=*/false));
  EXPECT_LT(FunctionsOf(Updates(/*in_place=*/true)), kLayers);
  EXPECT_TRUE(Computed(Updates(/*in_place=*/true), arguments) == Computed(Updates(/*in_place=*/false), arguments));
  ExpectSameAsJit(Updates(/*in_place=*/false));
}

TEST(OutliningTest, IsDeterministic) {
  auto one = CompileParts(ProgramOf(Network())), two = CompileParts(ProgramOf(Network()));
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_TRUE(SerializeParts(*one, "") == SerializeParts(*two, ""));
}

TEST(OutliningTest, RoundTripsThroughDisk) { ExpectSameFromDisk(Network()); }

TEST(CompileEffortTest, EachEffortIsADistinctTargetWithEqualResults) {
  const xla::XlaComputation computation = Network();
  const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  const std::vector<std::string> expected = Computed(computation, arguments);
  std::set<std::string> targets;
  for (const char* effort : {"0", "1", "2", "3"}) {
    cts::ScopedVariable scope("HPU_COMPILE_EFFORT", effort);
    EXPECT_TRUE(targets.insert(CompilerTarget()).second) << effort;
    const std::vector<std::string> results = Computed(computation, arguments);
    ASSERT_EQ(results.size(), expected.size());
    EXPECT_TRUE(results[1] == expected[1]) << effort;
    for (size_t i = 0; i < expected[0].size(); i += sizeof(float)) {
      float value, wanted;
      std::memcpy(&value, &results[0][i], sizeof(float));
      std::memcpy(&wanted, &expected[0][i], sizeof(float));
      EXPECT_NEAR(value, wanted, 1e-5 * std::max(1.0f, std::abs(wanted))) << effort;
    }
  }
}

}  // namespace outlining_test
}  // namespace hpu::emulator
