// DiskCache: the recipe store at TF_RECIPE_CACHE_PATH, the remote cache, and the threads that write to both caches.
#ifndef HPU_PLUGIN_RECIPES_DISK_CACHE_H_
#define HPU_PLUGIN_RECIPES_DISK_CACHE_H_

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "plugin/hal/device.h"
#include "plugin/hal/recipe.h"
#include "plugin/recipes/recipe_store.h"
#include "plugin/recipes/remote_cache.h"
#include "plugin/recipes/upload_queue.h"

namespace hpu::recipes {

// Settings are read at each call, because programs may set the path after the plugin is loaded, and change the path.
// Thread safe; never destroyed.
class DiskCache {
 public:
  // The right to compile, and the store for the result.
  struct CompileClaim {
    std::shared_ptr<RecipeStore> store;  // null: there is no disk cache
    Claim lock;
  };
  struct Lookup {
    std::shared_ptr<const hal::Recipe> recipe;  // null: the caller compiles the recipe
    bool is_remote = false;                     // the recipe comes from the remote cache
    CompileClaim claim;
  };

  static DiskCache& Get();

  // Loads the recipe, or waits for the right to compile the recipe (recipe_store.h). The wait ends when `cancelled`, if
  // not null, becomes true. Sets aside an entry that the device refuses. If there is no local recipe, tries the remote
  // cache (remote_cache.h) and stores a downloaded recipe locally.
  Lookup FindOrClaim(hal::Device& device, const Key& key, const std::string& name,
                     const std::atomic<bool>* cancelled = nullptr);

  // Stores the recipe in the background, then uploads the recipe. The claim is held until the recipe is on disk. Does
  // nothing if the cache is read-only or the compilation took less than HPU_RECIPE_CACHE_MIN_COMPILE_MS.
  void Store(const Key& key, std::shared_ptr<const hal::Recipe> recipe, absl::Duration compile_time,
             CompileClaim claim);

  // Notes about a cluster, and their replacement (recipe_store.h). Without a path, nothing is kept.
  std::optional<std::string> ReadNotes(const Key& key) ABSL_LOCKS_EXCLUDED(mutex_);
  void WriteNotes(const Key& key, absl::string_view name, absl::string_view notes) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until all recipes are stored, then for uploads, at most for the remote cache's time-out. Returns immediately
  // if this process has stored no recipe, for example after fork(): the parent stores its own recipes.
  void Flush() ABSL_LOCKS_EXCLUDED(mutex_);

  // Sets the command line of the transfer process (transfer_process.h).
  void SetTransferCommand(std::vector<std::string> command) ABSL_LOCKS_EXCLUDED(mutex_);

  // Totals over all stores that this process has used.
  const StoreCounters& counters() const { return counters_; }
  const RemoteCounters& remote_counters() const { return remote_counters_; }

 private:
  struct Job {
    Key key;
    recipe::v1::Metadata metadata;
    std::shared_ptr<const hal::Recipe> recipe;
    CompileClaim claim;
  };

  // The store for the current settings; null without a path.
  std::shared_ptr<RecipeStore> CurrentStore() ABSL_LOCKS_EXCLUDED(mutex_);
  // The remote cache for the current settings; null without a URL.
  std::shared_ptr<RemoteCache> CurrentRemote() ABSL_LOCKS_EXCLUDED(mutex_);
  void Fetch(hal::Device& device, const Key& key, const std::string& name, Lookup* lookup);
  void WriteJobs() ABSL_LOCKS_EXCLUDED(mutex_);  // body of the thread
  void Upload(const Key& key, const RecipeStore& store);

  StoreCounters counters_;
  RemoteCounters remote_counters_;
  UploadQueue uploads_;
  std::atomic<bool> warned_of_path_{false};
  std::atomic<bool> warned_of_command_{false};
  absl::Mutex mutex_;
  std::vector<std::string> transfer_command_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<RecipeStore> store_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<RemoteCache> remote_ ABSL_GUARDED_BY(mutex_);
  std::deque<Job> jobs_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;  // the thread is working on a job
  int thread_pid_ ABSL_GUARDED_BY(mutex_) = 0;    // process of the thread; 0: none yet
};

}  // namespace hpu::recipes

#endif  // HPU_PLUGIN_RECIPES_DISK_CACHE_H_
