#include "plugin/compiler/recipe_cache.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/compiler/fingerprint.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/hash.h"
#include "tsl/platform/statusor.h"

namespace hpu {
namespace {

// 128 bits of hash and the size: keeping the forms themselves would hold every program's constants in memory.
std::string Key(const std::string& form) {
  return absl::StrCat(absl::Hex(tsl::Hash64(form.data(), form.size(), /*seed=*/1)), "-",
                      absl::Hex(tsl::Hash64(form.data(), form.size(), /*seed=*/2)), "-", form.size());
}

}  // namespace

RecipeCache& RecipeCache::Get() {
  static auto* cache = new RecipeCache;
  return *cache;
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> RecipeCache::FindOrCompile(hal::Device& device,
                                                                              const hal::Program& program) {
  TF_ASSIGN_OR_RETURN(const std::string form, CanonicalForm(program));
  const std::string key = Key(form);
  std::shared_ptr<Entry> entry;
  {
    absl::MutexLock lock(&mutex_);
    auto it = entries_.find(key);
    if (it != entries_.end()) {
      entry = it->second;
      auto done = [&entry] { return !entry->compiling; };
      mutex_.Await(absl::Condition(&done));
      if (entry->recipe != nullptr) return entry->recipe;
      return entry->status;
    }
    Trim();
    entry = std::make_shared<Entry>();
    entries_.emplace(key, entry);
  }
  absl::StatusOr<std::shared_ptr<const hal::Recipe>> recipe = device.Compile(program);
  absl::MutexLock lock(&mutex_);
  entry->compiling = false;
  if (recipe.ok()) {
    entry->recipe = *recipe;
  } else {
    entry->status = recipe.status();
    entries_.erase(key);
  }
  return recipe;
}

void RecipeCache::Trim() {
  if (entries_.size() < kCapacity) return;
  absl::erase_if(entries_, [](const auto& item) {
    return !item.second->compiling && (item.second->recipe == nullptr || item.second->recipe.use_count() == 1);
  });
}

}  // namespace hpu
