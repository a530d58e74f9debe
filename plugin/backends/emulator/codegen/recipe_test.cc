// Tests of EmulatorRecipe: results that share memory, threads, alignment, errors, other processes.
#include "plugin/backends/emulator/codegen/recipe.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "plugin/backends/emulator/codegen/compiler.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/ir/hlo_input_output_alias_config.h"
#include "xla/service/custom_call_status_internal.h"
#include "xla/service/custom_call_target_registry.h"

namespace hpu::emulator {
namespace recipe_test {

using xla::XlaBuilder;
using xla::XlaOp;

xla::Shape Floats(std::vector<int64_t> dims) { return xla::ShapeUtil::MakeShape(xla::F32, dims); }

std::shared_ptr<const EmulatorRecipe> Compiled(const xla::XlaComputation& computation) {
  auto recipe = CompileRecipe(ProgramOf(computation));
  EXPECT_TRUE(recipe.ok()) << recipe.status();
  return recipe.ok() ? *recipe : nullptr;
}

// (a + b, a * b)
xla::XlaComputation SumAndProduct(int64_t size) {
  XlaBuilder builder("sum_and_product");
  XlaOp a = xla::Parameter(&builder, 0, Floats({size}), "a");
  XlaOp b = xla::Parameter(&builder, 1, Floats({size}), "b");
  xla::Tuple(&builder, {a + b, a * b});
  return builder.Build().value();
}

std::vector<float> FloatsIn(absl::string_view bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(RecipeTest, DescribesItself) {
  XlaBuilder builder("typed");
  XlaOp a = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::BF16, {2, 3}), "a");
  XlaOp b = xla::Parameter(&builder, 1, xla::ShapeUtil::MakeShape(xla::PRED, {}), "b");
  xla::Tuple(&builder, {xla::Not(b), a + a});
  builder.SetUpAlias({1}, 0, {}, xla::HloInputOutputAliasConfig::kMayAlias);
  auto recipe = Compiled(builder.Build().value());
  ASSERT_NE(recipe, nullptr);
  EXPECT_EQ(recipe->name(), "test");
  ASSERT_EQ(recipe->arguments().size(), 2);
  EXPECT_EQ(recipe->arguments()[0].dtype, hal::DataType::kBFloat16);
  EXPECT_EQ(recipe->arguments()[0].dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(recipe->arguments()[0].bytes, 12);
  ASSERT_EQ(recipe->results().size(), 2);
  EXPECT_EQ(recipe->results()[0].spec.dtype, hal::DataType::kBool);
  EXPECT_EQ(recipe->results()[0].spec.bytes, 1);
  EXPECT_EQ(recipe->results()[0].aliased_argument, -1);
  EXPECT_EQ(recipe->results()[1].aliased_argument, 0);
}

TEST(RecipeTest, UpdatesInPlace) {
  XlaBuilder builder("update");
  XlaOp variable = xla::Parameter(&builder, 0, Floats({1000}), "variable");
  XlaOp gradient = xla::Parameter(&builder, 1, Floats({1000}), "gradient");
  // The old value is also a result, so the code must read the variable before it overwrites the variable.
  xla::Tuple(&builder, {variable - gradient, variable});
  xla::XlaComputation plain = builder.Build().value();
  XlaBuilder aliased_builder("update");
  variable = xla::Parameter(&aliased_builder, 0, Floats({1000}), "variable");
  gradient = xla::Parameter(&aliased_builder, 1, Floats({1000}), "gradient");
  xla::Tuple(&aliased_builder, {variable - gradient, variable});
  aliased_builder.SetUpAlias({0}, 0, {}, xla::HloInputOutputAliasConfig::kMayAlias);
  xla::XlaComputation aliased = aliased_builder.Build().value();

  std::vector<xla::Literal> arguments = ArgumentsOf(plain);
  auto recipe = Compiled(aliased);
  ASSERT_NE(recipe, nullptr);
  EXPECT_EQ(recipe->results()[0].aliased_argument, 0);
  EXPECT_TRUE(RunRecipe(*recipe, arguments) == RunJit(plain, arguments));
}

TEST(RecipeTest, SwapsInPlace) {
  XlaBuilder builder("swap");
  XlaOp a = xla::Parameter(&builder, 0, Floats({100}), "a");
  XlaOp b = xla::Parameter(&builder, 1, Floats({100}), "b");
  xla::Tuple(&builder, {b, a});
  builder.SetUpAlias({0}, 0, {}, xla::HloInputOutputAliasConfig::kMayAlias);
  builder.SetUpAlias({1}, 1, {}, xla::HloInputOutputAliasConfig::kMayAlias);
  xla::XlaComputation computation = builder.Build().value();
  std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  auto recipe = Compiled(computation);
  ASSERT_NE(recipe, nullptr);
  std::vector<std::string> got = RunRecipe(*recipe, arguments);
  EXPECT_TRUE(got[0] == BytesOf(arguments[1]));
  EXPECT_TRUE(got[1] == BytesOf(arguments[0]));
}

// Simulates an alias that the compiler did not use: the result is computed in the workspace and copied to the
// argument's memory.
TEST(RecipeTest, AliasIgnoredByTheCode) {
  xla::XlaComputation computation = SumAndProduct(50);
  auto parts = CompileParts(ProgramOf(computation));
  ASSERT_TRUE(parts.ok()) << parts.status();
  parts->table.results[0].aliased_argument = 0;
  for (BufferSlot& slot : parts->slots) {
    if (slot.source != BufferSlot::Source::kResult || slot.value != 0) continue;
    slot.source = BufferSlot::Source::kWorkspace;
    slot.value = AlignUp(parts->workspace_bytes);
    parts->workspace_bytes = slot.value + slot.bytes;
  }
  auto recipe = EmulatorRecipe::Create("moved", *std::move(parts));
  ASSERT_TRUE(recipe.ok()) << recipe.status();
  std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  EXPECT_TRUE(RunRecipe(**recipe, arguments) == RunJit(computation, arguments));
}

// Results that begin in the middle of a cache line: the rest of the line may belong to another buffer.
TEST(RecipeTest, WritesNothingBesideResults) {
  auto recipe = Compiled(SumAndProduct(5));
  ASSERT_NE(recipe, nullptr);
  std::vector<xla::Literal> arguments = ArgumentsOf(SumAndProduct(5));
  const std::vector<std::string> want = RunRecipe(*recipe, arguments);
  TestBuffer inputs(128), outputs(128), workspace(recipe->workspace_bytes());
  std::memcpy(inputs.data(), arguments[0].untyped_data(), 20);
  std::memcpy(static_cast<char*>(inputs.data()) + 32, arguments[1].untyped_data(), 20);
  const std::string before(static_cast<char*>(outputs.data()), 128);
  char* const out = static_cast<char*>(outputs.data());
  ComputePool pool(1);
  ASSERT_TRUE(
      recipe->Run({inputs.data(), static_cast<char*>(inputs.data()) + 32}, {out + 16, out + 48}, workspace.data(), pool)
          .ok());
  EXPECT_EQ(std::string(out, 128),
            before.substr(0, 16) + want[0] + before.substr(36, 12) + want[1] + before.substr(68));
}

TEST(RecipeTest, AcceptsUnalignedPointers) {
  auto recipe = Compiled(SumAndProduct(100));
  ASSERT_NE(recipe, nullptr);
  std::vector<xla::Literal> arguments = ArgumentsOf(SumAndProduct(100));
  std::vector<std::string> want = RunRecipe(*recipe, arguments);
  std::vector<std::vector<char>> memory(4, std::vector<char>(404 + 4));
  std::vector<void*> inputs = {memory[0].data() + 4, memory[1].data()};
  std::vector<void*> outputs = {memory[2].data(), memory[3].data() + 4};
  for (int i = 0; i < 2; ++i) std::memcpy(inputs[i], arguments[i].untyped_data(), 400);
  TestBuffer workspace(recipe->workspace_bytes());
  ComputePool pool(2);
  ASSERT_TRUE(recipe->Run(inputs, outputs, workspace.data(), pool).ok());
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(want[i] == absl::string_view(static_cast<char*>(outputs[i]), 400));
}

TEST(RecipeTest, FlushesDenormalsOnEveryThread) {
  XlaBuilder builder("tiny");
  XlaOp a = xla::Parameter(&builder, 0, Floats({1 << 20}), "a");
  xla::Tuple(&builder, {a * xla::ConstantR0<float>(&builder, 0.25f)});
  auto recipe = Compiled(builder.Build().value());
  ASSERT_NE(recipe, nullptr);
  std::vector<xla::Literal> arguments;
  arguments.push_back(xla::Literal(Floats({1 << 20})));
  arguments[0].PopulateWithValue(1.5e-38f);  // a quarter of this value is denormal
  for (float value : FloatsIn(RunRecipe(*recipe, arguments)[0])) ASSERT_EQ(value, 0);
}

TEST(RecipeTest, AcceptsFourHundredArguments) {
  constexpr int kArguments = 400;
  XlaBuilder builder("many");
  std::vector<XlaOp> results;
  for (int i = 0; i < kArguments; ++i) {
    XlaOp parameter = xla::Parameter(&builder, i, Floats({i % 3}), absl::StrCat("p", i));
    results.push_back(i % 2 == 0 ? parameter : parameter + xla::ConstantR0<float>(&builder, i));
  }
  xla::Tuple(&builder, results);
  xla::XlaComputation computation = builder.Build().value();
  std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  auto recipe = Compiled(computation);
  ASSERT_NE(recipe, nullptr);
  EXPECT_TRUE(RunRecipe(*recipe, arguments) == RunJit(computation, arguments));
}

TEST(RecipeTest, RunsOnFourThreadsAtOnce) {
  XlaBuilder builder("parallel");
  XlaOp a = xla::Parameter(&builder, 0, Floats({200, 200}), "a");
  xla::Tuple(&builder, {xla::Tanh(xla::Dot(xla::Tanh(xla::Dot(a, a)), a))});
  xla::XlaComputation computation = builder.Build().value();
  auto recipe = Compiled(computation);
  ASSERT_NE(recipe, nullptr);
  std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  ComputePool pool(2);
  const std::vector<std::string> want = RunRecipe(*recipe, arguments, pool);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int run = 0; run < 50; ++run) EXPECT_TRUE(RunRecipe(*recipe, arguments, pool) == want);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(RecipeTest, CompilesOnFourThreadsAtOnceToEqualBytes) {
  std::vector<hal::Program> programs;
  std::vector<std::string> want;
  for (int i = 0; i < 4; ++i) {
    programs.push_back(ProgramOf(SumAndProduct(1000 + i)));
    want.push_back(CompileRecipe(programs[i]).value()->Serialize().value());
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int run = 0; run < 5; ++run) EXPECT_TRUE(CompileRecipe(programs[i]).value()->Serialize().value() == want[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(RecipeTest, IsTheOnlyReplica) {
  XlaBuilder builder("replica");
  xla::Tuple(&builder, {xla::ReplicaId(&builder)});
  auto recipe = Compiled(builder.Build().value());
  ASSERT_NE(recipe, nullptr);
  EXPECT_EQ(RunRecipe(*recipe, {})[0], std::string(4, '\0'));
}

void Fail(void*, const void**, const char*, size_t, XlaCustomCallStatus* status) { status->message = "out of ink"; }
XLA_CPU_REGISTER_CUSTOM_CALL_TARGET_WITH_SYM("hpu_test_fail", Fail);

xla::XlaComputation CallOf(const std::string& target) {
  XlaBuilder builder("call");
  xla::Tuple(&builder, {xla::CustomCall(&builder, target, {}, Floats({}), /*opaque=*/"", /*has_side_effect=*/false,
                                        /*output_operand_aliasing=*/{}, /*literal=*/nullptr,
                                        xla::CustomCallSchedule::SCHEDULE_NONE,
                                        xla::CustomCallApiVersion::API_VERSION_STATUS_RETURNING_UNIFIED)});
  return builder.Build().value();
}

TEST(RecipeTest, ReportsACustomCallThatFails) {
  auto recipe = Compiled(CallOf("hpu_test_fail"));
  ASSERT_NE(recipe, nullptr);
  TestBuffer result(4), workspace(recipe->workspace_bytes());
  ComputePool pool(1);
  absl::Status status = recipe->Run({}, {result.data()}, workspace.data(), pool);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(absl::StrContains(status.message(), "out of ink")) << status;
}

TEST(RecipeTest, NamesUnresolvedSymbols) {
  auto recipe = CompileRecipe(ProgramOf(CallOf("hpu_test_missing")));
  EXPECT_EQ(recipe.status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StrContains(recipe.status().message(), "hpu_test_missing")) << recipe.status();
}

TEST(RecipeTest, RefusesInvalidPrograms) {
  EXPECT_EQ(CompileRecipe({"text", "no proto at all"}).status().code(), absl::StatusCode::kInvalidArgument);
  XlaBuilder builder("no tuple");
  xla::Parameter(&builder, 0, Floats({1}), "a");
  auto recipe = CompileRecipe(ProgramOf(builder.Build().value()));
  EXPECT_EQ(recipe.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(recipe.status().message(), "tuple")) << recipe.status();
}

TEST(RecipeTest, RefusesAnotherNumberOfArguments) {
  auto recipe = Compiled(SumAndProduct(10));
  ASSERT_NE(recipe, nullptr);
  ComputePool pool(1);
  EXPECT_EQ(recipe->Run({}, {}, nullptr, pool).code(), absl::StatusCode::kInvalidArgument);
}

// Child process of LoadsInAnotherProcess. RECIPE_TEST_DIRECTORY is the directory for the recipe and the result.
TEST(RecipeProcessTest, Child) {
  const char* given = std::getenv("RECIPE_TEST_DIRECTORY");
  if (given == nullptr) GTEST_SKIP() << "runs as the child of LoadsInAnotherProcess";
  const std::string directory = given;
  std::stringstream bytes;
  bytes << std::ifstream(directory + "/recipe", std::ios::binary).rdbuf();
  auto recipe = LoadRecipe("child", bytes.str());
  ASSERT_TRUE(recipe.ok()) << recipe.status();
  const std::string sum = RunRecipe(**recipe, ArgumentsOf(SumAndProduct(77)))[0];
  std::ofstream(directory + "/result", std::ios::binary) << sum;
}

TEST(RecipeProcessTest, LoadsInAnotherProcess) {
  std::string directory = testing::TempDir() + "/recipe_XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  auto recipe = Compiled(SumAndProduct(77));
  ASSERT_NE(recipe, nullptr);
  std::ofstream(directory + "/recipe", std::ios::binary) << recipe->Serialize().value();
  const std::string executable = testing::internal::GetArgvs()[0];
  const std::string command = absl::StrCat("RECIPE_TEST_DIRECTORY=", directory, " '", executable,
                                           "' --gtest_filter=RecipeProcessTest.Child"
                                           " >",
                                           directory, "/log 2>&1");
  EXPECT_EQ(std::system(command.c_str()), 0) << "see " << directory << "/log";
  std::stringstream result;
  result << std::ifstream(directory + "/result", std::ios::binary).rdbuf();
  EXPECT_TRUE(result.str() == RunRecipe(*recipe, ArgumentsOf(SumAndProduct(77)))[0]);
}

}  // namespace recipe_test
}  // namespace hpu::emulator
