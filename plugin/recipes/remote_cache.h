// RemoteCache: recipe cache shared by several machines, used after each machine's local directory.
#ifndef HPU_PLUGIN_RECIPES_REMOTE_CACHE_H_
#define HPU_PLUGIN_RECIPES_REMOTE_CACHE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "plugin/recipes/entry.h"
#include "plugin/recipes/transfer_process.h"

namespace hpu::recipes {

inline constexpr int kMaxRemoteFailures = 3;

struct RemoteSettings {
  std::vector<std::string> command;  // command line of the transfer process, without the settings
  std::string url;
  std::string key_file;    // file with the secret that signs entries
  std::string token_file;  // empty: no bearer token
  bool read_only = false;  // no uploads
  absl::Duration timeout;  // limit of one transfer

  bool operator==(const RemoteSettings& other) const;
};

// Counts since the process started.
struct RemoteCounters {
  std::atomic<int64_t> hits{0};
  std::atomic<int64_t> misses{0};
  std::atomic<int64_t> uploaded{0};
  std::atomic<int64_t> refused{0};   // unusable entries
  std::atomic<int64_t> failures{0};  // transfers that failed
};

// Errors never fail a method, and transfers end within the time-out. Each kind of error and each refused entry is
// reported once, and the recipe is compiled locally. The storage is not used after kMaxRemoteFailures failed transfers,
// with unusable settings, or in a forked child. The transfer process verifies signatures. This class verifies entries,
// except for the payload, which Load verifies. Thread safe.
class RemoteCache {
 public:
  // `warn` is called on any thread. `counters` must outlive the cache.
  RemoteCache(RemoteSettings settings, RemoteCounters* counters, std::function<void(const std::string&)> warn);

  // Verifies and loads a payload. InvalidArgument and FailedPrecondition mean that the entry is unusable.
  using Load = std::function<absl::Status(absl::string_view payload)>;

  // Downloads and verifies the key's entry, and calls `load` with the entry's payload. Returns the entry's bytes if
  // `load` succeeds. `name`: name of the cluster, for messages.
  std::optional<std::string> Fetch(const Key& key, absl::string_view name, const Load& load);

  // Uploads the entry in the file `path`. Does nothing if the file is gone.
  void Upload(const Key& key, const std::string& path);

  bool accepts_uploads() const { return !settings_.read_only && InUse() && !uploads_denied_.load(); }
  const RemoteSettings& settings() const { return settings_; }

 private:
  // A transfer process that starts on demand. Transfers run one at a time. A transfer waits for earlier transfers until
  // the deadline.
  class Channel {
   public:
    absl::StatusOr<TransferReply> Call(const std::vector<std::string>& command, absl::string_view verb,
                                       absl::string_view key, absl::string_view operand, absl::Time deadline)
        ABSL_LOCKS_EXCLUDED(mutex_);

   private:
    absl::Mutex mutex_;
    bool busy_ ABSL_GUARDED_BY(mutex_) = false;
    std::unique_ptr<TransferProcess> process_;  // used by the caller that set busy_
  };

  bool InUse() const;
  void Refuse(const Key& key, absl::string_view name, absl::string_view reason);
  // Reports a failed transfer and an unusable cache. Returns the reply's outcome; "failed" without a reply.
  std::string HandleFailures(const absl::StatusOr<TransferReply>& reply);
  void WarnOnce(const std::string& kind, const std::string& message);

  const RemoteSettings settings_;
  const std::string shown_url_;  // the URL without user and password, for messages
  const std::vector<std::string> command_;
  const int pid_;
  RemoteCounters& counters_;
  const std::function<void(const std::string&)> warn_;
  // Two channels, so that no lookup waits for an upload.
  Channel downloads_;
  Channel uploads_;
  std::atomic<int> failures_{0};
  std::atomic<bool> unusable_{false};
  std::atomic<bool> uploads_denied_{false};
  absl::Mutex mutex_;
  absl::flat_hash_set<std::string> warned_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hpu::recipes

#endif  // HPU_PLUGIN_RECIPES_REMOTE_CACHE_H_
