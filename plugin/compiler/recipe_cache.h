// RecipeCache: the recipes of this process, by what they compute.
#ifndef HPU_PLUGIN_COMPILER_RECIPE_CACHE_H_
#define HPU_PLUGIN_COMPILER_RECIPE_CACHE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "plugin/hal/device.h"
#include "plugin/hal/recipe.h"

namespace hpu {

// Clusters that differ only in names share a recipe: functions that are traced again, Sessions over one graph, eager
// ops of several models. One compile per program: threads that ask for one that is being compiled wait for it. A
// failure is not kept. Recipes that nobody else uses are dropped when there are more than kCapacity. Thread safe; never
// destroyed.
class RecipeCache {
 public:
  static RecipeCache& Get();

  absl::StatusOr<std::shared_ptr<const hal::Recipe>> FindOrCompile(hal::Device& device, const hal::Program& program);

 private:
  static constexpr size_t kCapacity = 10000;

  struct Entry {
    bool compiling = true;
    std::shared_ptr<const hal::Recipe> recipe;  // null while compiling, and after a failure
    absl::Status status;
  };

  void Trim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  // By a 128-bit fingerprint and the size of the canonical form.
  absl::flat_hash_map<std::string, std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_RECIPE_CACHE_H_
