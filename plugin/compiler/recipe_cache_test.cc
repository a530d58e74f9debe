#include "plugin/compiler/recipe_cache.h"

#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "plugin/hal/backend.h"
#include "plugin/testing/cts/programs.h"
#include "xla/service/hlo.pb.h"

namespace hpu {
namespace {

using RecipePtr = std::shared_ptr<const hal::Recipe>;

class RecipeCacheTest : public testing::Test {
 protected:
  std::unique_ptr<hal::Device> Acquire(std::vector<std::string> faults = {}) {
    hal::AcquireOptions options;
    options.memory_bytes = uint64_t{1} << 20;
    options.faults = std::move(faults);
    return (*hal::GetBackend("null"))->Acquire(options).value();
  }

  RecipeCache cache_;
};

TEST_F(RecipeCacheTest, ConcurrentRequestsShareOneCompilation) {
  const std::unique_ptr<hal::Device> device = Acquire({"slow_compile@1+:100"});
  constexpr int kThreads = 8;
  std::vector<RecipePtr> recipes(kThreads);
  std::vector<std::thread> threads;
  for (RecipePtr& recipe : recipes) {
    threads.emplace_back([&] { recipe = cache_.FindOrCompile(*device, cts::SumAndProduct(4)).value(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const RecipePtr& recipe : recipes) EXPECT_EQ(recipe, recipes[0]);
  EXPECT_EQ(cache_.counters().compiled, 1);
  EXPECT_EQ(cache_.counters().memory_hits, kThreads - 1);
}

TEST_F(RecipeCacheTest, PluginNameAndPathHaveOneKey) {
  const std::string file = CTS_PACKAGES "/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so";
  if (access(file.c_str(), R_OK) != 0) GTEST_SKIP() << file << " is not installed";
  std::vector<recipes::Key> keys;
  for (const std::string& backend : {std::string("pjrt:cpu"), "pjrt:" + file}) {
    const auto device = (*hal::GetBackend(backend))->Acquire({}).value();
    EXPECT_EQ(backend, device->info().backend);
    keys.push_back(KeyOf(*device, cts::SumAndProduct(4)).value());
  }
  EXPECT_EQ(keys[0].name, keys[1].name);
}

TEST_F(RecipeCacheTest, NamesAndSourcePositionsDoNotChangeTheKey) {
  const std::unique_ptr<hal::Device> device = Acquire();
  const hal::Program program = cts::SumAndProduct(4);
  xla::HloModuleProto module;
  ASSERT_TRUE(module.ParseFromString(program.hlo));
  module.set_name("other");
  for (auto& instruction : *module.mutable_computations(0)->mutable_instructions()) {
    instruction.set_name(instruction.name() + ".other");
    instruction.mutable_metadata()->set_source_line(7);
  }
  const RecipePtr recipe = cache_.FindOrCompile(*device, program).value();
  EXPECT_EQ(cache_.FindOrCompile(*device, {"other", module.SerializeAsString()}).value(), recipe);
  EXPECT_NE(cache_.FindOrCompile(*device, cts::SumAndProduct(5)).value(), recipe);
  EXPECT_EQ(cache_.counters().compiled, 2);
}

TEST_F(RecipeCacheTest, FailedAndCancelledCompilationsAreNotCached) {
  const std::unique_ptr<hal::Device> device = Acquire({"compile@1"});
  EXPECT_TRUE(absl::IsInternal(cache_.FindOrCompile(*device, cts::Constant()).status()));
  const std::atomic<bool> cancelled{true};
  CompileTask task;
  task.cancelled = &cancelled;
  EXPECT_TRUE(absl::IsCancelled(cache_.FindOrCompile(*device, cts::Constant(), task).status()));
  EXPECT_TRUE(cache_.Recipes().empty());
  EXPECT_TRUE(cache_.FindOrCompile(*device, cts::Constant()).ok());
}

TEST_F(RecipeCacheTest, UnusedRecipesAreEvictedBeyondTheLimit) {
  const std::unique_ptr<hal::Device> device = Acquire();
  const RecipePtr used = cache_.FindOrCompile(*device, cts::SumAndProduct(1)).value();
  constexpr int kPrograms = 12'000;
  for (int n = 2; n <= kPrograms; ++n) ASSERT_TRUE(cache_.FindOrCompile(*device, cts::SumAndProduct(n)).ok());
  EXPECT_EQ(cache_.counters().compiled, kPrograms);
  EXPECT_LE(cache_.Recipes().size(), 10'000u);
  EXPECT_EQ(cache_.Find(KeyOf(*device, cts::SumAndProduct(1)).value()), used);
}

}  // namespace
}  // namespace hpu
