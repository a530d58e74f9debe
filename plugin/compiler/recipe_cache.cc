#include "plugin/compiler/recipe_cache.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "plugin/base/containment/contained_call.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/version.h"
#include "plugin/recipes/disk_cache.h"
#include "plugin/recipes/fingerprint.h"

namespace hpu {
namespace {

constexpr absl::Duration kCancellationPoll = absl::Milliseconds(100);

recipes::Key KeyFor(const hal::Device& device, std::string program) {
  recipe::v1::Ingredients ingredients;
  ingredients.set_program(std::move(program));
  // Uses only the scheme: pjrt:cuda and pjrt:/path may be one plugin, which the compiler target identifies.
  const std::vector<std::string> backend = absl::StrSplit(device.info().backend, absl::MaxSplits(':', 1));
  ingredients.set_backend(backend.front());
  ingredients.set_target(device.info().compiler_target);
  ingredients.set_package_version(PluginVersion());
  ingredients.set_tensorflow_version(HPU_TENSORFLOW_VERSION);
  return recipes::Key::Of(ingredients);
}

}  // namespace

RecipeCache& RecipeCache::Get() {
  static auto* cache = new RecipeCache;
  return *cache;
}

absl::StatusOr<recipes::Key> KeyOf(const hal::Device& device, const hal::Program& program) {
  HPU_ASSIGN_OR_RETURN(std::string canonical, recipes::CanonicalForm(program));
  return KeyFor(device, std::move(canonical));
}

recipes::Key NotesKeyOf(const hal::Device& device, std::string subject) {
  return KeyFor(device, absl::StrCat("notes of ", subject));
}

RecipeCache::Shard& RecipeCache::ShardOf(const recipes::Key& key) {
  const char digit = key.name[0];
  return shards_[digit <= '9' ? digit - '0' : digit - 'a' + 10];
}

std::shared_ptr<const hal::Recipe> RecipeCache::Find(const recipes::Key& key) {
  Shard& shard = ShardOf(key);
  absl::ReaderMutexLock lock(&shard.mutex);
  const std::shared_ptr<Entry> entry = shard.entries.Find(key.name);
  return entry == nullptr ? nullptr : entry->recipe;
}

std::vector<std::shared_ptr<const hal::Recipe>> RecipeCache::Recipes() {
  std::vector<std::shared_ptr<const hal::Recipe>> recipes;
  for (Shard& shard : shards_) {
    absl::ReaderMutexLock lock(&shard.mutex);
    shard.entries.ForEach([&recipes](const std::shared_ptr<Entry>& entry) {
      if (entry->recipe != nullptr) recipes.push_back(entry->recipe);
    });
  }
  return recipes;
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> RecipeCache::FindOrCompile(hal::Device& device,
                                                                              const hal::Program& program,
                                                                              const CompileTask& task) {
  HPU_RETURN_IF_ERROR(task.Enter("looking up its recipe"));
  HPU_ASSIGN_OR_RETURN(const recipes::Key key, KeyOf(device, program));
  if (std::shared_ptr<const hal::Recipe> recipe = Find(key)) {
    counters_.memory_hits.fetch_add(1, std::memory_order_relaxed);
    return recipe;
  }
  Shard& shard = ShardOf(key);
  HPU_ASSIGN_OR_RETURN(const std::shared_ptr<Entry> entry, AwaitOrClaim(shard, key, task));
  if (!entry->making) {
    if (entry->recipe == nullptr) return entry->status;
    counters_.memory_hits.fetch_add(1, std::memory_order_relaxed);
    return entry->recipe;
  }
  absl::StatusOr<std::shared_ptr<const hal::Recipe>> recipe = Make(device, program, key, task);
  absl::MutexLock lock(&shard.mutex);
  entry->making = false;
  if (recipe.ok()) {
    entry->recipe = *recipe;
  } else {
    entry->status = recipe.status();
    shard.entries.Erase(key.name);
  }
  return recipe;
}

absl::StatusOr<std::shared_ptr<RecipeCache::Entry>> RecipeCache::AwaitOrClaim(Shard& shard, const recipes::Key& key,
                                                                              const CompileTask& task) {
  absl::MutexLock lock(&shard.mutex);
  while (const std::shared_ptr<Entry> entry = shard.entries.Find(key.name)) {
    auto done = [&entry] { return !entry->making; };
    while (!shard.mutex.AwaitWithTimeout(absl::Condition(&done), kCancellationPoll)) {
      HPU_RETURN_IF_ERROR(task.Check("another thread compiled its recipe"));
    }
    if (!absl::IsCancelled(entry->status)) return entry;
    HPU_RETURN_IF_ERROR(task.Enter("looking up its recipe"));
  }
  return shard.entries.Add(key.name, std::make_shared<Entry>());
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> RecipeCache::Make(hal::Device& device, const hal::Program& program,
                                                                     const recipes::Key& key, const CompileTask& task) {
  recipes::DiskCache::Lookup lookup = recipes::DiskCache::Get().FindOrClaim(device, key, program.name, task.cancelled);
  if (lookup.recipe != nullptr) {
    if (!lookup.is_remote) counters_.disk_hits.fetch_add(1, std::memory_order_relaxed);
    return std::move(lookup.recipe);
  }
  if (task.only_stored) return absl::CancelledError(absl::StrCat(program.name, ": no recipe is stored"));
  HPU_RETURN_IF_ERROR(task.Enter("generating code"));
  const absl::Time start = absl::Now();
  std::shared_ptr<const hal::Recipe> recipe;
  HPU_RETURN_IF_ERROR(containment::RunContained(absl::StrCat("compiling ", program.name), [&]() -> absl::Status {
    HPU_ASSIGN_OR_RETURN(recipe, device.Compile(program));
    return absl::OkStatus();
  }));
  counters_.compiled.fetch_add(1, std::memory_order_relaxed);
  recipes::DiskCache::Get().Store(key, recipe, absl::Now() - start, std::move(lookup.claim));
  return recipe;
}

}  // namespace hpu
