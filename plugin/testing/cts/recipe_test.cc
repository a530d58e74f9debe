// Tests of recipes: compiling, saving, loading, launching.
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"
#include "plugin/hal/device_traits.h"
#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/cts/programs.h"

namespace hpu::cts {
namespace recipe_test {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

using Floats = std::vector<float>;

std::vector<uint8_t> Bytes(const Floats& values) {
  const auto* data = reinterpret_cast<const uint8_t*>(values.data());
  return std::vector<uint8_t>(data, data + values.size() * sizeof(float));
}

class RecipeTest : public CtsTest {
 protected:
  std::shared_ptr<const hal::Recipe> Compile(const hal::Program& program) { return Value(device().Compile(program)); }

  // Device memory with these values.
  std::unique_ptr<hal::Memory> Device(const Floats& values) {
    auto memory = Memory(values.size() * sizeof(float));
    Write(memory->address(), Bytes(values));
    return memory;
  }

  std::unique_ptr<hal::Memory> Workspace(const hal::Recipe& recipe) {
    return recipe.workspace_bytes() == 0 ? nullptr : Memory(recipe.workspace_bytes());
  }

  static absl::Status Launch(hal::Stream& stream, const std::shared_ptr<const hal::Recipe>& recipe,
                             const std::vector<hal::DeviceAddress>& arguments,
                             const std::vector<hal::DeviceAddress>& results, const hal::Memory* workspace) {
    return stream.Launch(recipe, {arguments, results, workspace == nullptr ? 0 : workspace->address()});
  }

  // Runs a SumAndProduct recipe on two short arrays and checks the results.
  void ExpectSumAndProduct(const std::shared_ptr<const hal::Recipe>& recipe) {
    const auto a = Device({1, 2, 3});
    const auto b = Device({10, 20, 30});
    const auto sum = Memory(12);
    const auto product = Memory(12);
    const auto workspace = Workspace(*recipe);
    const auto stream = Stream();
    ASSERT_OK(
        Launch(*stream, recipe, {a->address(), b->address()}, {sum->address(), product->address()}, workspace.get()));
    ASSERT_OK(stream->Synchronize());
    ExpectContents(sum->address(), Bytes({11, 22, 33}));
    ExpectContents(product->address(), Bytes({10, 40, 90}));
  }
};

TEST_P(RecipeTest, DescribesArgumentsAndResults) {
  const auto recipe = Compile(SumAndProduct(5));
  ASSERT_NE(nullptr, recipe);
  EXPECT_EQ("sum_and_product", recipe->name());
  ASSERT_EQ(2u, recipe->arguments().size());
  EXPECT_EQ(hal::DataType::kFloat32, recipe->arguments()[1].dtype);
  EXPECT_EQ(std::vector<int64_t>{5}, recipe->arguments()[1].dims);
  EXPECT_EQ(20u, recipe->arguments()[1].bytes);
  ASSERT_EQ(2u, recipe->results().size());
  EXPECT_EQ(20u, recipe->results()[0].spec.bytes);
  EXPECT_EQ(-1, recipe->results()[0].aliased_argument);
}

TEST_P(RecipeTest, Computes) {
  const auto recipe = Compile(SumAndProduct(3));
  ASSERT_NE(nullptr, recipe);
  ExpectSumAndProduct(recipe);
}

TEST_P(RecipeTest, ComputesWithoutArguments) {
  const auto recipe = Compile(Constant());
  ASSERT_NE(nullptr, recipe);
  const auto result = Memory(4);
  const auto workspace = Workspace(*recipe);
  const auto stream = Stream();
  ASSERT_OK(Launch(*stream, recipe, {}, {result->address()}, workspace.get()));
  ASSERT_OK(stream->Synchronize());
  ExpectContents(result->address(), {7, 0, 0, 0});
}

TEST_P(RecipeTest, EmptyArraysNeedNoAddress) {
  const auto recipe = Compile(WithEmptyArray());
  ASSERT_NE(nullptr, recipe);
  const auto x = Device({1, -2});
  const auto result = Memory(8);
  const auto workspace = Workspace(*recipe);
  const auto stream = Stream();
  ASSERT_OK(Launch(*stream, recipe, {0, x->address()}, {0, result->address()}, workspace.get()));
  ASSERT_OK(stream->Synchronize());
  ExpectContents(result->address(), Bytes({-1, 2}));
}

TEST_P(RecipeTest, ManyArguments) {
  constexpr int kCount = 400;
  const auto recipe = Compile(SumOfScalars(kCount));
  ASSERT_NE(nullptr, recipe);
  Floats values(kCount);
  float sum = 0;
  for (int i = 0; i < kCount; ++i) sum += values[i] = i;
  const auto packed = Device(values);
  std::vector<hal::DeviceAddress> arguments;
  for (int i = 0; i < kCount; ++i) arguments.push_back(packed->address() + i * sizeof(float));
  const auto result = Memory(4);
  const auto workspace = Workspace(*recipe);
  const auto stream = Stream();
  ASSERT_OK(Launch(*stream, recipe, arguments, {result->address()}, workspace.get()));
  ASSERT_OK(stream->Synchronize());
  ExpectContents(result->address(), Bytes({sum}));
}

TEST_P(RecipeTest, ArgumentsMayShareMemory) {
  const auto recipe = Compile(SumAndProduct(3));
  ASSERT_NE(nullptr, recipe);
  const auto x = Device({1, 2, 3, 4});
  const auto sum = Memory(12);
  const auto product = Memory(12);
  const auto workspace = Workspace(*recipe);
  const auto stream = Stream();
  // One buffer as two arguments.
  ASSERT_OK(
      Launch(*stream, recipe, {x->address(), x->address()}, {sum->address(), product->address()}, workspace.get()));
  ASSERT_OK(stream->Synchronize());
  ExpectContents(sum->address(), Bytes({2, 4, 6}));
  ExpectContents(product->address(), Bytes({1, 4, 9}));
  // Two parts of a buffer, which overlap.
  ASSERT_OK(
      Launch(*stream, recipe, {x->address(), x->address() + 4}, {sum->address(), product->address()}, workspace.get()));
  ASSERT_OK(stream->Synchronize());
  ExpectContents(sum->address(), Bytes({3, 5, 7}));
  ExpectContents(product->address(), Bytes({2, 6, 12}));
}

TEST_P(RecipeTest, ResultsMayAliasArguments) {
  const auto recipe = Compile(AddInPlace(3));
  ASSERT_NE(nullptr, recipe);
  ASSERT_EQ(0, recipe->results().at(0).aliased_argument);
  const auto x = Device({1, 2, 3});
  const auto d = Device({1, 1, 1});
  const auto workspace = Workspace(*recipe);
  const auto stream = Stream();
  for (int i = 0; i < 10; ++i) {
    ASSERT_OK(Launch(*stream, recipe, {x->address(), d->address()}, {x->address()}, workspace.get()));
  }
  ASSERT_OK(stream->Synchronize());
  ExpectContents(x->address(), Bytes({11, 12, 13}));
  const auto elsewhere = Memory(12);
  ExpectError(Launch(*stream, recipe, {x->address(), d->address()}, {elsewhere->address()}, workspace.get()), kInvalid,
              "argument 0");
}

TEST_P(RecipeTest, ResultsMayBeInHostMemory) {
  constexpr uint64_t kAlignment = hal::HostResults::kHostResultAlignment;
  const auto recipe = Compile(SumAndProduct(3));
  ASSERT_NE(nullptr, recipe);
  const auto a = Device({1, 2, 3});
  const auto b = Device({10, 20, 30});
  const auto sum = Memory(12);
  const auto product = Host(std::vector<uint8_t>(2 * kAlignment, 0xEE));
  auto* data = static_cast<uint8_t*>(product->data());
  const auto host = reinterpret_cast<hal::DeviceAddress>(data);
  const auto workspace = Workspace(*recipe);
  const auto stream = Stream();
  const auto launch = [&](hal::DeviceAddress second) {
    return Launch(*stream, recipe, {a->address(), b->address()}, {sum->address(), second}, workspace.get());
  };
  ExpectError(launch(host), kInvalid, "result 1");
  auto* host_results = device().traits().host_results;
  if (host_results == nullptr) return;
  host_results->EnableHostResults();
  ASSERT_OK(launch(host));
  ASSERT_OK(stream->Synchronize());
  ExpectContents(sum->address(), Bytes({11, 22, 33}));
  EXPECT_EQ(Bytes({10, 40, 90}), std::vector<uint8_t>(data, data + 12));
  EXPECT_EQ(std::vector<uint8_t>(kAlignment, 0xEE), std::vector<uint8_t>(data + kAlignment, data + 2 * kAlignment));
  ExpectError(launch(host + 4), kInvalid, "multiple of 64");
  ExpectError(launch(host + (uint64_t{1} << 40)), kInvalid, "result 1");
  ExpectError(launch(0), kInvalid, "null address");

  const auto in_place = Compile(AddInPlace(3));
  const auto scratch = Workspace(*in_place);
  ExpectError(Launch(*stream, in_place, {a->address(), b->address()}, {host}, scratch.get()), kInvalid, "argument 0");
}

TEST_P(RecipeTest, IsTheSameAfterSavingAndLoading) {
  const auto compiled = Compile(SumAndProduct(3));
  ASSERT_NE(nullptr, compiled);
  const std::string bytes = Value(compiled->Serialize());
  const auto loaded = Value(device().LoadRecipe("loaded", bytes));
  ASSERT_NE(nullptr, loaded);
  EXPECT_EQ("loaded", loaded->name());
  EXPECT_EQ(compiled->workspace_bytes(), loaded->workspace_bytes());
  ASSERT_EQ(2u, loaded->arguments().size());
  EXPECT_EQ(compiled->arguments()[0].dims, loaded->arguments()[0].dims);
  EXPECT_EQ(bytes, Value(loaded->Serialize()));
  EXPECT_EQ(bytes.size(), compiled->serialized_bytes());
  EXPECT_EQ(bytes.size(), loaded->serialized_bytes());
  ExpectSumAndProduct(loaded);
  ExpectSumAndProduct(compiled);

  const auto in_place = Compile(AddInPlace(3));
  const auto in_place_loaded = Value(device().LoadRecipe("in_place", Value(in_place->Serialize())));
  ASSERT_NE(nullptr, in_place_loaded);
  EXPECT_EQ(0, in_place_loaded->results().at(0).aliased_argument);
}

TEST_P(RecipeTest, DamagedBytesAreRefused) {
  const std::string bytes = Value(Compile(SumAndProduct(3))->Serialize());
  for (const size_t size : {size_t{0}, size_t{1}, bytes.size() / 2, bytes.size() - 1}) {
    ExpectError(device().LoadRecipe("cut", bytes.substr(0, size)).status(), kInvalid, "cut");
  }
  // A damaged target name may look like another target, which must also be rejected.
  for (size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 97) {
    std::string damaged = bytes;
    damaged[at] ^= 0x10;
    const absl::Status status = device().LoadRecipe("damaged", damaged).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status))
        << "byte " << at << ": " << status;
  }
  ExpectError(device().LoadRecipe("longer", bytes + "x").status(), kInvalid, "longer");
}

TEST_P(RecipeTest, InvalidProgramsAreRefused) {
  ExpectError(device().Compile({"garbage", "\xff\xff\xff not a module"}).status(), kInvalid, "garbage");
  ExpectError(device().Compile({"empty", ""}).status(), kInvalid, "empty");
  ExpectError(device().Compile(WithoutTuple()).status(), kInvalid);
}

TEST_P(RecipeTest, MismatchedLaunchesAreRefused) {
  const auto recipe = Compile(SumAndProduct(3));
  ASSERT_NE(nullptr, recipe);
  const auto a = Device({1, 2, 3});
  const auto result = Memory(12);
  const auto workspace = Workspace(*recipe);
  const auto stream = Stream();
  const auto a0 = a->address();
  const auto r0 = result->address();
  ExpectError(Launch(*stream, recipe, {a0}, {r0, r0}, workspace.get()), kInvalid, "sum_and_product");
  ExpectError(Launch(*stream, recipe, {a0, a0}, {r0}, workspace.get()), kInvalid, "sum_and_product");
  ExpectError(Launch(*stream, recipe, {a0, 0}, {r0, r0}, workspace.get()), kInvalid, "argument 1");
  ExpectError(Launch(*stream, recipe, {a0, a0 + 4}, {r0, r0}, workspace.get()), kInvalid, "argument 1");
  ExpectError(Launch(*stream, recipe, {a0, a0}, {r0, r0 + 4}, workspace.get()), kInvalid, "result 1");
  ExpectError(stream->Launch(nullptr, {}), kInvalid, "without a recipe");
  if (recipe->workspace_bytes() > 0) {
    ExpectError(Launch(*stream, recipe, {a0, a0}, {r0, r0}, nullptr), kInvalid, "workspace");
  }
  const auto copies = Stream(hal::StreamKind::kHostToDevice);
  ExpectError(Launch(*copies, recipe, {a0, a0}, {r0, r0}, workspace.get()), kInvalid, "compute stream");
  EXPECT_OK(stream->Synchronize());
}

class ForeignRecipe final : public hal::Recipe {
 public:
  const std::string& name() const override { return name_; }
  const std::vector<hal::TensorSpec>& arguments() const override { return arguments_; }
  const std::vector<hal::ResultSpec>& results() const override { return results_; }
  uint64_t workspace_bytes() const override { return 0; }
  absl::StatusOr<std::string> Serialize() const override { return absl::UnimplementedError("foreign"); }
  uint64_t serialized_bytes() const override { return 0; }

 private:
  std::string name_ = "foreign";
  std::vector<hal::TensorSpec> arguments_;
  std::vector<hal::ResultSpec> results_;
};

TEST_P(RecipeTest, RecipesOfOtherBackendsAreRefused) {
  ExpectError(Stream()->Launch(std::make_shared<ForeignRecipe>(), {}), kInvalid, "another backend");
}

TEST_P(RecipeTest, MayBeDestroyedWhileItsLaunchIsQueued) {
  auto recipe = Compile(AddInPlace(3));
  ASSERT_NE(nullptr, recipe);
  const auto x = Device({1, 2, 3});
  const auto d = Device({1, 1, 1});
  const auto workspace = Workspace(*recipe);
  const auto stream = Stream();
  ASSERT_OK(QueueSlowWork(*stream));
  ASSERT_OK(Launch(*stream, recipe, {x->address(), d->address()}, {x->address()}, workspace.get()));
  const std::weak_ptr<const hal::Recipe> watch = recipe;
  recipe.reset();
  ASSERT_OK(stream->Synchronize());
  EXPECT_TRUE(watch.expired()) << "the stream holds the recipe after the launch has ended";
  ExpectContents(x->address(), Bytes({2, 3, 4}));
}

TEST_P(RecipeTest, ErrorsOfLaunchesNameTheRecipe) {
  AcquireWithFaults("launch@2,compile@2");
  const auto recipe = Compile(AddInPlace(3));
  ASSERT_NE(nullptr, recipe);
  ExpectError(device().Compile(AddInPlace(3)).status(), absl::StatusCode::kInternal, "compile@2");
  const auto x = Device({1, 2, 3});
  const auto d = Device({1, 1, 1});
  const auto workspace = Workspace(*recipe);
  const auto stream = Stream();
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(Launch(*stream, recipe, {x->address(), d->address()}, {x->address()}, workspace.get()));
  }
  ExpectError(stream->Synchronize(), absl::StatusCode::kInternal, "add_in_place");
  ExpectContents(x->address(), Bytes({2, 3, 4}));
}

TEST_P(RecipeTest, SeveralThreadsCompileAndLaunch) {
  std::vector<std::thread> threads;
  const auto shared = Compile(AddInPlace(3));
  const auto compute = Stream();
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      ExpectSumAndProduct(Compile(SumAndProduct(3)));
      const auto x = Device({1, 2, 3});
      const auto d = Device({float(t), 0, 0});
      const auto workspace = Workspace(*shared);
      for (int i = 0; i < 100; ++i) {
        EXPECT_OK(Launch(*compute, shared, {x->address(), d->address()}, {x->address()}, workspace.get()));
      }
      EXPECT_OK(compute->Synchronize());
      ExpectContents(x->address(), Bytes({1 + 100.f * t, 2, 3}));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

HPU_CTS_SUITE(RecipeTest);

}  // namespace recipe_test
}  // namespace hpu::cts
