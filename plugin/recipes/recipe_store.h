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

namespace hpu::store {

struct StoreSettings {
  std::string path;
  bool read_only = false;  // nothing in the directory is changed, no lock taken
  int64_t max_bytes = 0;   // of all entries; 0: no bound
  absl::Duration lock_timeout = absl::Minutes(10);
};

// Since the process started; each is read and written without a lock.
struct StoreCounters {
  std::atomic<int64_t> hits{0};
  std::atomic<int64_t> misses{0};
  std::atomic<int64_t> stored{0};
  std::atomic<int64_t> refused{0};  // entries that were there and could not be used
  std::atomic<int64_t> evicted{0};
  std::atomic<int64_t> waits{0};  // for another process that compiled
  std::atomic<int64_t> wait_microseconds{0};
};

// The right to compile one recipe: until it goes, other processes wait for the entry. Movable.
class Claim {
 public:
  // Without a lock: where there is none to be had, everybody may compile.
  Claim() = default;
  Claim(StoreDirectory directory, std::string lock_name, files::FileLock lock)
      : held_(new Held{std::move(directory), std::move(lock_name), std::move(lock)}) {}

 private:
  struct Held {
    // Removes the file while it is locked: whoever locks it next sees that the name holds another file, or none.
    ~Held() { directory.Remove(lock_name).IgnoreError(); }

    StoreDirectory directory;
    std::string lock_name;
    files::FileLock lock;
  };
  std::unique_ptr<Held> held_;
};

// No method fails a program: what is wrong with the directory or an entry is reported once, in words for people, and
// counts as a miss. Thread safe; threads of one process should not ask for one key at a time (RecipeCache sees to it).
class RecipeStore {
 public:
  // `warn` is called from any thread, once for each thing that is wrong. `counters` outlives the store.
  RecipeStore(StoreSettings settings, StoreCounters* counters, std::function<void(const std::string&)> warn)
      : settings_(std::move(settings)), counters_(*counters), warn_(std::move(warn)) {}

  RecipeStore(const RecipeStore&) = delete;
  RecipeStore& operator=(const RecipeStore&) = delete;

  struct Lookup {
    std::optional<std::string> payload;  // of the entry that was found
    Claim claim;                         // without one: the caller is to compile
  };

  // The recipe, or the right to compile it. While another process holds that, waits for it, at most as long as
  // lock_timeout and until `cancelled`, if any, is true: then gives neither. `name` says in messages what is waited
  // for.
  Lookup FindOrClaim(const Key& key, absl::string_view name, const std::atomic<bool>* cancelled = nullptr);

  // Stores a recipe and then releases the claim. Evicts others if there are too many bytes. Returns whether the recipe
  // is stored.
  bool Put(const Key& key, const recipe::v1::Metadata& metadata, absl::string_view payload, Claim claim);
  // Stores an entry that SerializeEntry returned, as Put does. `name` is the cluster's, for messages.
  bool PutEntry(const Key& key, absl::string_view name, absl::string_view bytes, Claim claim);

  // Takes an entry away whose payload could not be loaded, so that it is compiled anew.
  void SetAside(const Key& key, absl::string_view reason);

  // Absolute path of the key's entry.
  std::string PathOf(const Key& key) const;

  const StoreSettings& settings() const { return settings_; }

 private:
  // The payload of the entry, or nothing.
  std::optional<std::string> Find(const StoreDirectory& directory, const Key& key);
  // Puts the entry in place, and evicts others if there are too many bytes.
  absl::Status Write(const Key& key, absl::string_view bytes);
  void Refuse(const StoreDirectory& directory, const Key& key, absl::string_view reason);
  // Locks the key's file; nullopt while somebody else holds it, whom `holder` then names.
  std::optional<Claim> TryClaim(const StoreDirectory& directory, const Key& key, files::LockHolder* holder);
  void WarnOnce(const std::string& kind, const std::string& message);
  // Once for the directory, whichever operation fails first.
  void WarnNotKept(const absl::Status& status);
  // Once for each time the directory was made: removes what killed processes left.
  void CleanOnce(const StoreDirectory& directory);

  const StoreSettings settings_;
  StoreCounters& counters_;
  const std::function<void(const std::string&)> warn_;
  absl::Mutex mutex_;
  absl::flat_hash_set<std::string> warned_ ABSL_GUARDED_BY(mutex_);
  std::pair<uint64_t, uint64_t> cleaned_ ABSL_GUARDED_BY(mutex_){0, 0};  // device and number of the directory
};

}  // namespace hpu::store

#endif  // HPU_PLUGIN_RECIPES_RECIPE_STORE_H_
