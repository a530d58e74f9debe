// RecipeStore: recipes on disk, shared by processes.
#ifndef HPU_PLUGIN_RECIPES_RECIPE_STORE_H_
#define HPU_PLUGIN_RECIPES_RECIPE_STORE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "plugin/base/files/file_lock.h"
#include "plugin/recipes/entry.h"
#include "plugin/recipes/store_directory.h"

namespace hpu::recipes {

struct StoreSettings {
  std::string path;
  bool read_only = false;  // the directory is not changed, and no lock is acquired
  int64_t max_bytes = 0;   // limit for all entries together; 0: no limit
  absl::Duration lock_timeout = absl::Minutes(10);
};

// Counts since the process started. Read and written without a lock.
struct StoreCounters {
  std::atomic<int64_t> hits{0};
  std::atomic<int64_t> misses{0};
  std::atomic<int64_t> stored{0};
  std::atomic<int64_t> refused{0};  // unusable entries
  std::atomic<int64_t> evicted{0};
  std::atomic<int64_t> waits{0};  // lookups that waited for another process to compile
  std::atomic<int64_t> wait_microseconds{0};
};

// The right to compile one recipe. While a claim exists, other processes wait for the entry. Movable.
class Claim {
 public:
  // A claim without a lock, if the directory is read-only or cannot be locked: every process may compile.
  Claim() = default;
  Claim(StoreDirectory directory, std::string lock_name, files::FileLock lock)
      : held_(new Held{std::move(directory), std::move(lock_name), std::move(lock)}) {}

 private:
  struct Held {
    // Removes the lock file while the file is locked. A process that locks the removed file detects the removal and
    // retries.
    ~Held() { directory.Remove(lock_name).IgnoreError(); }

    StoreDirectory directory;
    std::string lock_name;
    files::FileLock lock;
  };
  std::unique_ptr<Held> held_;
};

// Problems with the directory or an entry never fail a method. Each problem is reported once, as readable text, and
// handled as a miss. Thread safe, but two threads of a process must not look up one key concurrently (RecipeCache
// ensures this).
class RecipeStore {
 public:
  // `warn` is called on any thread: once per problem, and repeatedly during a long wait. `counters` must outlive the
  // store.
  RecipeStore(StoreSettings settings, StoreCounters* counters, std::function<void(const std::string&)> warn)
      : settings_(std::move(settings)), counters_(*counters), warn_(std::move(warn)) {}

  RecipeStore(const RecipeStore&) = delete;
  RecipeStore& operator=(const RecipeStore&) = delete;

  struct Lookup {
    std::optional<std::string> payload;  // set if an entry was found; Device::LoadRecipe verifies it
    Claim claim;                         // without a payload: the right to compile
  };

  // Returns the recipe or the right to compile the recipe. While another process holds the right, waits at most
  // lock_timeout. After this time the caller compiles without a lock. Returns neither if `cancelled` (may be null)
  // becomes true. `name`: name of the cluster, for messages.
  Lookup FindOrClaim(const Key& key, absl::string_view name, const std::atomic<bool>* cancelled = nullptr);

  // Stores a recipe, then releases the claim. Evicts other entries if the cache exceeds max_bytes. Returns whether the
  // recipe is stored.
  bool Put(const Key& key, const recipe::v1::Metadata& metadata, absl::string_view payload, Claim claim);
  // Like Put, for an entry that SerializeEntry returned. `name`: name of the cluster, for messages.
  bool PutEntry(const Key& key, absl::string_view name, absl::string_view bytes, Claim claim);

  // Notes about a cluster: a small message that may be lost. Nullopt if there are none, or none that can be read.
  std::optional<std::string> ReadNotes(const Key& key);
  // Replaces the notes. `name`: name of the cluster.
  void WriteNotes(const Key& key, absl::string_view name, absl::string_view notes);

  // Sets aside an entry that FindOrClaim returned and LoadRecipe refused, so that the recipe is recompiled. The lookup
  // is no longer counted as a hit.
  void SetAside(const Key& key, absl::string_view reason);

  // Absolute path of the key's entry.
  std::string PathOf(const Key& key) const;

  const StoreSettings& settings() const { return settings_; }

 private:
  // The payload of an entry's bytes. InvalidArgument if the bytes are not an entry of this key.
  static absl::StatusOr<std::string> PayloadOf(std::string bytes, const Key& key);
  // Returns the payload of the entry; nullopt if no usable entry exists.
  std::optional<std::string> Find(const StoreDirectory& directory, const Key& key);
  // Writes the entry atomically. Evicts other entries if the cache exceeds max_bytes.
  absl::Status Write(const Key& key, absl::string_view bytes);
  void Refuse(const StoreDirectory& directory, const Key& key, absl::string_view reason);
  // Locks the key's lock file. Returns nullopt if another process holds the lock (`holder` then describes that
  // process), or if the directory was removed.
  std::optional<Claim> TryClaim(const StoreDirectory& directory, const Key& key, files::LockHolder* holder);
  void WarnOnce(const std::string& kind, const std::string& message);
  // Warns that recipes are not cached. Only the first failure of a store is reported, for all operations together.
  void WarnNotKept(const absl::Status& status);
  // Removes leftovers of killed processes: once, and again after the directory was recreated.
  void CleanOnce(const StoreDirectory& directory);

  const StoreSettings settings_;
  StoreCounters& counters_;
  const std::function<void(const std::string&)> warn_;
  absl::Mutex mutex_;
  absl::flat_hash_set<std::string> warned_ ABSL_GUARDED_BY(mutex_);
  std::pair<uint64_t, uint64_t> cleaned_ ABSL_GUARDED_BY(mutex_){0, 0};  // device and inode of the directory
};

}  // namespace hpu::recipes

#endif  // HPU_PLUGIN_RECIPES_RECIPE_STORE_H_
