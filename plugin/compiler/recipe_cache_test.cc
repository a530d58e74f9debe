#include "plugin/compiler/recipe_cache.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "plugin/hal/backend.h"
#include "plugin/recipes/disk_cache.h"
#include "plugin/recipes/file_names.h"
#include "plugin/recipes/recipe_store.h"
#include "plugin/testing/cts/fixture.h"
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

// Returns `good` with a random change of a random kind.
std::string Damaged(const std::string& good, std::mt19937& random) {
  std::string bytes = good;
  const size_t position = random() % good.size();
  switch (random() % 5) {
    case 0:
      bytes[position] ^= 1 << random() % 8;
      break;
    case 1:
      bytes.resize(position);
      break;
    case 2:
      bytes.insert(position, 1 + random() % 100, static_cast<char>(random()));
      break;
    case 3:  // a block that the file system lost
      std::fill(bytes.begin() + position, std::min(bytes.end(), bytes.begin() + position + 64), '\0');
      break;
    case 4:  // a block from another place
      bytes.replace(position, 64, good.substr(random() % good.size(), 64));
      break;
  }
  return bytes;
}

TEST_F(RecipeCacheTest, AThousandDamagedStoredRecipesAreRefusedAndRecompiled) {
  constexpr int kRounds = 1000;
  std::string directory = absl::StrCat(testing::TempDir(), "/damagedXXXXXX");
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const cts::ScopedVariable path("TF_RECIPE_CACHE_PATH", directory);
  const std::unique_ptr<hal::Device> device = Acquire();
  const hal::Program program = cts::SumAndProduct(4);
  ASSERT_TRUE(cache_.FindOrCompile(*device, program).ok());
  recipes::DiskCache::Get().Flush();
  const std::string file = absl::StrCat(directory, "/", recipes::EntryName(KeyOf(*device, program)->name));
  std::stringstream content;
  content << std::ifstream(file, std::ios::binary).rdbuf();
  const std::string good = content.str();
  ASSERT_GT(good.size(), 0);

  const cts::ScopedVariable no_stores("HPU_RECIPE_CACHE_MIN_COMPILE_MS", "1000000");
  const auto compiles = [&](const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
    std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    RecipeCache cache;
    EXPECT_TRUE(cache.FindOrCompile(*device, program).ok());
    EXPECT_EQ(cache.counters().compiled + cache.counters().disk_hits, 1);
    return cache.counters().compiled == 1;
  };
  const recipes::StoreCounters& counters = recipes::DiskCache::Get().counters();
  const int64_t hits = counters.hits, refused = counters.refused;
  std::mt19937 random(1);
  for (int round = 0; round < kRounds; ++round) {
    std::string bytes = good;
    while (bytes == good) bytes = Damaged(good, random);
    EXPECT_TRUE(compiles(bytes)) << "round " << round;
  }
  EXPECT_EQ(counters.refused - refused, kRounds);
  EXPECT_EQ(counters.hits, hits);
  EXPECT_FALSE(compiles(good));
  EXPECT_EQ(counters.hits, hits + 1);
  std::filesystem::remove_all(directory);
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

TEST_F(RecipeCacheTest, AWaitingThreadFollowsItsOwnCancellation) {
  std::string directory = absl::StrCat(testing::TempDir(), "/cancelledXXXXXX");
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const cts::ScopedVariable path("TF_RECIPE_CACHE_PATH", directory);
  const std::unique_ptr<hal::Device> device = Acquire();
  const hal::Program program = cts::SumAndProduct(6);
  // Holds the right to compile, like another process.
  recipes::StoreSettings settings;
  settings.path = directory;
  recipes::StoreCounters counters;
  recipes::RecipeStore other(settings, &counters, [](const std::string&) {});
  recipes::RecipeStore::Lookup claim = other.FindOrClaim(*KeyOf(*device, program), program.name);
  ASSERT_FALSE(claim.payload.has_value());

  std::atomic<bool> first_cancelled{false}, third_cancelled{false};
  CompileTask first_task, third_task;
  first_task.cancelled = &first_cancelled;
  third_task.cancelled = &third_cancelled;
  absl::Status first, second, third;
  const auto find = [&](const CompileTask& task, absl::Status* status) {
    return std::thread([&, status] { *status = cache_.FindOrCompile(*device, program, task).status(); });
  };
  const int64_t waits = recipes::DiskCache::Get().counters().waits;
  std::thread first_thread = find(first_task, &first);
  while (recipes::DiskCache::Get().counters().waits == waits) absl::SleepFor(absl::Milliseconds(1));
  const CompileTask second_task;
  std::thread second_thread = find(second_task, &second);
  std::thread third_thread = find(third_task, &third);
  absl::SleepFor(absl::Milliseconds(50));  // The threads now wait for the first; otherwise the test shows less.
  third_cancelled = true;
  third_thread.join();
  EXPECT_TRUE(absl::IsCancelled(third)) << third;
  first_cancelled = true;
  first_thread.join();
  EXPECT_TRUE(absl::IsCancelled(first)) << first;
  claim.claim = recipes::Claim();
  second_thread.join();
  EXPECT_TRUE(second.ok()) << second;
  EXPECT_EQ(cache_.counters().compiled, 1);
  recipes::DiskCache::Get().Flush();
  std::filesystem::remove_all(directory);
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
