#include "plugin/compiler/disk_cache.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "plugin/flags/flags.h"
#include "tsl/platform/logging.h"

namespace hpu {
namespace {

constexpr int64_t kMostMb = std::numeric_limits<int64_t>::max() >> 20;

store::StoreSettings CurrentSettings() {
  store::StoreSettings settings;
  settings.path = flags::TfRecipeCachePath();
  settings.read_only = flags::RecipeCacheReadOnly();
  settings.max_bytes = std::clamp<int64_t>(flags::RecipeCacheMaxMb(), 0, kMostMb) << 20;
  settings.lock_timeout = absl::Seconds(flags::RecipeLockTimeoutS());
  return settings;
}

bool Equal(const store::StoreSettings& a, const store::StoreSettings& b) {
  return a.path == b.path && a.read_only == b.read_only && a.max_bytes == b.max_bytes &&
         a.lock_timeout == b.lock_timeout;
}

// Whether loading failed for what the bytes are, not for the state of the device.
bool IsOfTheRecipe(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status);
}

void Warn(const std::string& message) { LOG(WARNING) << "Recipe cache: " << message; }

std::string ToText(const hal::TensorSpec& spec) {
  return absl::StrCat(hal::NameOf(spec.dtype), "[", absl::StrJoin(spec.dims, ","), "]");
}

recipe::v1::Metadata Describe(const hal::Recipe& recipe, absl::Duration compile_time) {
  recipe::v1::Metadata metadata;
  metadata.set_cluster(recipe.name());
  metadata.set_created(absl::ToUnixSeconds(absl::Now()));
  metadata.set_compile_seconds(absl::ToDoubleSeconds(compile_time));
  metadata.set_workspace_bytes(recipe.workspace_bytes());
  for (const hal::TensorSpec& argument : recipe.arguments()) metadata.add_arguments(ToText(argument));
  for (const hal::ResultSpec& result : recipe.results()) metadata.add_results(ToText(result.spec));
  return metadata;
}

}  // namespace

DiskCache& DiskCache::Get() {
  static auto* cache = new DiskCache;
  return *cache;
}

std::shared_ptr<store::RecipeStore> DiskCache::CurrentStore() {
  store::StoreSettings settings = CurrentSettings();
  if (settings.path.empty()) return nullptr;
  absl::MutexLock lock(&mutex_);
  if (store_ == nullptr || !Equal(store_->settings(), settings)) {
    store_ = std::make_shared<store::RecipeStore>(std::move(settings), &counters_, &Warn);
  }
  return store_;
}

DiskCache::Lookup DiskCache::FindOrClaim(hal::Device& device, const store::Key& key, const std::string& name,
                                         const std::atomic<bool>* cancelled) {
  Lookup lookup;
  lookup.claim.store = CurrentStore();
  if (lookup.claim.store == nullptr) return lookup;
  store::RecipeStore::Lookup found = lookup.claim.store->FindOrClaim(key, name, cancelled);
  if (found.payload.has_value()) {
    absl::StatusOr<std::shared_ptr<const hal::Recipe>> recipe = device.LoadRecipe(name, *found.payload);
    if (recipe.ok()) {
      lookup.recipe = *std::move(recipe);
      return lookup;
    }
    if (!IsOfTheRecipe(recipe.status())) return lookup;
    lookup.claim.store->SetAside(key, recipe.status().message());
    found = lookup.claim.store->FindOrClaim(key, name, cancelled);
    // Whoever was faster has made it anew, and what is refused a second time is compiled here and not kept.
    if (found.payload.has_value()) {
      recipe = device.LoadRecipe(name, *found.payload);
      if (recipe.ok()) lookup.recipe = *std::move(recipe);
    }
  }
  lookup.claim.lock = std::move(found.claim);
  return lookup;
}

void DiskCache::Store(const store::Key& key, std::shared_ptr<const hal::Recipe> recipe, absl::Duration compile_time,
                      Claim claim) {
  if (claim.store == nullptr || claim.store->settings().read_only) return;
  if (compile_time < absl::Milliseconds(flags::RecipeCacheMinCompileMs())) return;
  recipe::v1::Metadata metadata = Describe(*recipe, compile_time);
  absl::MutexLock lock(&mutex_);
  jobs_.push_back({key, std::move(metadata), std::move(recipe), std::move(claim)});
  if (thread_pid_ == getpid()) return;
  thread_pid_ = getpid();
  std::thread([this] { WriteJobs(); }).detach();
}

void DiskCache::WriteJobs() {
  auto pending = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !jobs_.empty(); };
  while (true) {
    std::optional<Job> job;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&pending));
      job.emplace(std::move(jobs_.front()));
      jobs_.pop_front();
      writing_ = true;
    }
    const absl::StatusOr<std::string> payload = job->recipe->Serialize();
    if (payload.ok()) {
      job->claim.store->Put(job->key, job->metadata, *payload, std::move(job->claim.lock));
    } else {
      Warn(absl::StrCat(job->recipe->name(), " cannot be kept: ", payload.status().message()));
    }
    job.reset();
    absl::MutexLock lock(&mutex_);
    writing_ = false;
  }
}

void DiskCache::Flush() {
  auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return jobs_.empty() && !writing_; };
  absl::MutexLock lock(&mutex_);
  if (thread_pid_ == getpid()) mutex_.Await(absl::Condition(&idle));
}

}  // namespace hpu
