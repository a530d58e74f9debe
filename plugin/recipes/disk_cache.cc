#include "plugin/recipes/disk_cache.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"
#include "tsl/platform/logging.h"

namespace hpu::recipes {
namespace {

constexpr int64_t kMaxMb = std::numeric_limits<int64_t>::max() >> 20;

StoreSettings CurrentSettings() {
  StoreSettings settings;
  settings.path = flags::TfRecipeCachePath();
  settings.read_only = flags::RecipeCacheReadOnly();
  settings.max_bytes = std::clamp<int64_t>(flags::RecipeCacheMaxMb(), 0, kMaxMb) << 20;
  settings.lock_timeout = absl::Seconds(flags::RecipeLockTimeoutS());
  return settings;
}

constexpr int64_t kMaxTimeoutS = 24 * 3600;

absl::Duration RemoteTimeout() {
  return absl::Seconds(std::clamp<int64_t>(flags::RecipeCacheRemoteTimeoutS(), 1, kMaxTimeoutS));
}

bool Equal(const StoreSettings& a, const StoreSettings& b) {
  return a.path == b.path && a.read_only == b.read_only && a.max_bytes == b.max_bytes &&
         a.lock_timeout == b.lock_timeout;
}

// Whether loading failed because of the recipe's bytes, not because of the device's state.
bool IsRecipeError(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status);
}

void Warn(const std::string& message) { LOG(WARNING) << "Recipe cache: " << message; }

void WarnOnce(std::atomic<bool>* warned, const std::string& message) {
  if (!warned->exchange(true)) Warn(message);
}

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

std::shared_ptr<RecipeStore> DiskCache::CurrentStore() {
  StoreSettings settings = CurrentSettings();
  if (settings.path.empty()) return nullptr;
  absl::MutexLock lock(&mutex_);
  if (store_ == nullptr || !Equal(store_->settings(), settings)) {
    store_ = std::make_shared<RecipeStore>(std::move(settings), &counters_, &Warn);
  }
  return store_;
}

std::shared_ptr<RemoteCache> DiskCache::CurrentRemote() {
  RemoteSettings settings;
  settings.url = flags::RecipeCacheRemote();
  if (settings.url.empty()) return nullptr;
  settings.key_file = flags::RecipeCacheRemoteKeyFile();
  settings.token_file = flags::RecipeCacheRemoteTokenFile();
  settings.read_only = flags::RecipeCacheRemoteReadOnly();
  settings.timeout = RemoteTimeout();
  absl::MutexLock lock(&mutex_);
  if (transfer_command_.empty()) {
    WarnOnce(
        &warned_of_command_,
        "HPU_RECIPE_CACHE_REMOTE is ignored: transfers require the path of the Python interpreter, but sys.executable "
        "is empty; set sys.executable before load_habana_module()");
    return nullptr;
  }
  settings.command = transfer_command_;
  if (remote_ == nullptr || !(remote_->settings() == settings)) {
    remote_ = std::make_shared<RemoteCache>(std::move(settings), &remote_counters_, &Warn);
  }
  return remote_;
}

void DiskCache::SetTransferCommand(std::vector<std::string> command) {
  absl::MutexLock lock(&mutex_);
  transfer_command_ = std::move(command);
}

DiskCache::Lookup DiskCache::FindOrClaim(hal::Device& device, const Key& key, const std::string& name,
                                         const std::atomic<bool>* cancelled) {
  Lookup lookup;
  lookup.claim.store = CurrentStore();
  if (lookup.claim.store == nullptr) {
    if (!flags::RecipeCacheRemote().empty()) {
      WarnOnce(&warned_of_path_,
               "HPU_RECIPE_CACHE_REMOTE is ignored, because the remote cache requires a local directory: set "
               "TF_RECIPE_CACHE_PATH");
    }
    return lookup;
  }
  // LoadRecipe verifies the payload. The second lookup, after a refusal, returns the right to compile, or the entry
  // that another process has stored in the meantime. If the device refuses this entry as well, the recipe is compiled
  // without a claim.
  for (int attempt = 0; attempt < 2; ++attempt) {
    RecipeStore::Lookup found = lookup.claim.store->FindOrClaim(key, name, cancelled);
    lookup.claim.lock = std::move(found.claim);
    if (!found.payload.has_value()) break;
    absl::StatusOr<std::shared_ptr<const hal::Recipe>> recipe = device.LoadRecipe(name, *found.payload);
    if (recipe.ok()) {
      lookup.recipe = *std::move(recipe);
      return lookup;
    }
    if (!IsRecipeError(recipe.status())) return lookup;
    lookup.claim.store->SetAside(key, recipe.status().message());
  }
  const bool is_cancelled = cancelled != nullptr && cancelled->load(std::memory_order_relaxed);
  if (!is_cancelled) Fetch(device, key, name, &lookup);
  return lookup;
}

void DiskCache::Fetch(hal::Device& device, const Key& key, const std::string& name, Lookup* lookup) {
  const std::shared_ptr<RemoteCache> remote = CurrentRemote();
  if (remote == nullptr) return;
  const auto load = [&](absl::string_view payload) -> absl::Status {
    HPU_ASSIGN_OR_RETURN(lookup->recipe, device.LoadRecipe(name, payload));
    return absl::OkStatus();
  };
  const std::optional<std::string> entry = remote->Fetch(key, name, load);
  if (!entry.has_value()) return;
  lookup->is_remote = true;
  lookup->claim.store->PutEntry(key, name, *entry, std::move(lookup->claim.lock));
}

void DiskCache::Store(const Key& key, std::shared_ptr<const hal::Recipe> recipe, absl::Duration compile_time,
                      CompileClaim claim) {
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
      const bool stored = job->claim.store->Put(job->key, job->metadata, *payload, std::move(job->claim.lock));
      if (stored) Upload(job->key, *job->claim.store);
    } else {
      Warn(absl::StrCat(job->recipe->name(),
                        ": the recipe is not cached, because it cannot be serialised: ", payload.status().message()));
    }
    job.reset();
    absl::MutexLock lock(&mutex_);
    writing_ = false;
  }
}

std::optional<std::string> DiskCache::ReadNotes(const Key& key) {
  const std::shared_ptr<RecipeStore> store = CurrentStore();
  return store != nullptr ? store->ReadNotes(key) : std::nullopt;
}

void DiskCache::WriteNotes(const Key& key, absl::string_view name, absl::string_view notes) {
  if (const std::shared_ptr<RecipeStore> store = CurrentStore()) store->WriteNotes(key, name, notes);
}

void DiskCache::Upload(const Key& key, const RecipeStore& store) {
  std::shared_ptr<RemoteCache> remote = CurrentRemote();
  if (remote == nullptr || !remote->accepts_uploads()) return;
  uploads_.Add([remote = std::move(remote), key, path = store.PathOf(key)] { remote->Upload(key, path); });
}

void DiskCache::Flush() {
  auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return jobs_.empty() && !writing_; };
  {
    absl::MutexLock lock(&mutex_);
    if (thread_pid_ != getpid()) return;
    mutex_.Await(absl::Condition(&idle));
  }
  const absl::Duration timeout = RemoteTimeout();
  if (const size_t unfinished = uploads_.Flush(absl::Now() + timeout); unfinished > 0) {
    Warn(absl::StrCat(unfinished, " recipes were not uploaded within ", absl::FormatDuration(timeout),
                      " (HPU_RECIPE_CACHE_REMOTE_TIMEOUT_S); upload them with `hpu cache remote push`"));
  }
}

}  // namespace hpu::recipes
