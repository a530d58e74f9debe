// RecipeCache: in-memory cache of this process's recipes, keyed by program, in front of the disk cache.
#ifndef HPU_PLUGIN_COMPILER_RECIPE_CACHE_H_
#define HPU_PLUGIN_COMPILER_RECIPE_CACHE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "plugin/base/containers/lru_map.h"
#include "plugin/compiler/compile_task.h"
#include "plugin/hal/device.h"
#include "plugin/hal/recipe.h"
#include "plugin/recipes/entry.h"

namespace hpu {

// Clusters that differ only in names share a recipe: retraced functions, Sessions over one graph, eager ops of several
// models. While one thread compiles a program, other threads that need its recipe wait. Processes with a common disk
// cache (disk_cache.h) also wait for each other. Failures are not kept. A full shard (kCapacity / kShards entries)
// drops the recipes that were looked up longest ago and have no other users. Thread safe; never destroyed.
class RecipeCache {
 public:
  static RecipeCache& Get();

  absl::StatusOr<std::shared_ptr<const hal::Recipe>> FindOrCompile(hal::Device& device, const hal::Program& program,
                                                                   const CompileTask& task = {});

  // The key's recipe, or null if the recipe is not in memory. Never waits for a compilation, and acquires no lock that
  // a compilation holds. Concurrent lookups do not wait for each other, even for one key.
  std::shared_ptr<const hal::Recipe> Find(const recipes::Key& key);

  // All recipes in memory, except recipes that are being compiled or loaded.
  std::vector<std::shared_ptr<const hal::Recipe>> Recipes();

  // Counts since the process started.
  struct Counters {
    std::atomic<int64_t> memory_hits{0};
    std::atomic<int64_t> disk_hits{0};
    std::atomic<int64_t> compiled{0};
  };
  const Counters& counters() const { return counters_; }

 private:
  static constexpr size_t kCapacity = 2000;
  static constexpr size_t kShards = 16;

  struct Entry {
    bool making = true;
    std::shared_ptr<const hal::Recipe> recipe;  // null while `making`, and after a failure
    absl::Status status;
  };
  // Whether an entry has no users: neither a thread that makes its recipe, nor an executable.
  struct MayDrop {
    bool operator()(const std::shared_ptr<Entry>& entry) const {
      return entry.use_count() == 1 && entry->recipe.use_count() <= 1;
    }
  };
  // The first hexadecimal digit of a key selects its shard.
  struct Shard {
    absl::Mutex mutex;
    LruMap<std::string, Entry, MayDrop> entries ABSL_GUARDED_BY(mutex){kCapacity / kShards};
  };

  Shard& ShardOf(const recipes::Key& key);
  // The key's entry. Waits while another thread makes its recipe. If there is no entry, or that thread's task was
  // cancelled, the result is a new entry, still `making`, whose recipe the caller must make.
  absl::StatusOr<std::shared_ptr<Entry>> AwaitOrClaim(Shard& shard, const recipes::Key& key, const CompileTask& task);
  // Loads the recipe from disk or compiles it.
  absl::StatusOr<std::shared_ptr<const hal::Recipe>> Make(hal::Device& device, const hal::Program& program,
                                                          const recipes::Key& key, const CompileTask& task);

  std::array<Shard, kShards> shards_;
  Counters counters_;
};

// The cache key of a recipe of `program` for `device`. Fails with INVALID_ARGUMENT if the program does not parse.
absl::StatusOr<recipes::Key> KeyOf(const hal::Device& device, const hal::Program& program);
// The key of notes about `subject`, which hold for the same compiler as recipes do.
recipes::Key NotesKeyOf(const hal::Device& device, std::string subject);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_RECIPE_CACHE_H_
