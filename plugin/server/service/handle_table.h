// HandleTable: objects by client-chosen handle, with counts of their uses.
#ifndef HPU_PLUGIN_SERVER_SERVICE_HANDLE_TABLE_H_
#define HPU_PLUGIN_SERVER_SERVICE_HANDLE_TABLE_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace hpu::serve {

// A release states how often the client has used the handle, because uses on other calls may arrive after the release.
// An object is erased when its release and all its uses have arrived. Thread safe.
template <typename T>
class HandleTable {
 public:
  // `what`: name of the objects in error texts. `remedy`: end of the error text if the table is full.
  explicit HandleTable(size_t max, const char* what = "object", const char* remedy = "")
      : max_(max), what_(what), remedy_(remedy) {}

  // Adds `object`. Fails with InvalidArgument if the handle is in use, with ResourceExhausted if the table is full, and
  // with Cancelled if the table is closed.
  absl::Status Put(uint64_t handle, std::shared_ptr<T> object) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return absl::CancelledError("the session has ended; acquire a module in a new session");
    Entry& entry = entries_[handle];
    if (entry.object != nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(what_, " handle ", handle, " is in use; choose another handle"));
    }
    if (entries_.size() > max_) {
      entries_.erase(handle);
      return absl::ResourceExhaustedError(
          absl::StrCat("the session already has ", max_, " ", what_, " handles, the maximum", remedy_));
    }
    entry.object = std::move(object);
    EraseIfUsedUp(handle);
    changed_.notify_all();
    return absl::OkStatus();
  }
  // Counts one use and returns the object; nullptr for an unknown handle.
  std::shared_ptr<T> Use(uint64_t handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    return UseLocked(handle);
  }
  // Like Use, but waits for the object; nullptr once the table is closed.
  std::shared_ptr<T> Await(uint64_t handle) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] {
      const auto found = entries_.find(handle);
      return closed_ || (found != entries_.end() && found->second.object != nullptr);
    });
    return closed_ ? nullptr : UseLocked(handle);
  }
  // Releases the handle: the object is erased after `uses` uses.
  absl::Status Release(uint64_t handle, uint64_t uses) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return absl::OkStatus();
    if (entries_.count(handle) == 0 && entries_.size() >= max_) {
      return absl::InvalidArgumentError(absl::StrCat("cannot release ", what_, " handle ", handle,
                                                     ": it is unknown, and the session already has ", max_, " ", what_,
                                                     " handles, the maximum"));
    }
    entries_[handle].expected = uses;
    EraseIfUsedUp(handle);
    return absl::OkStatus();
  }
  // Wakes all waiters. Afterwards Put fails, and Release does nothing.
  void Close() {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  void Clear() {
    std::lock_guard<std::mutex> lock(mutex_);
    entries_.clear();
  }
  size_t size() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::shared_ptr<T> object;  // nullptr: the handle was released before the object arrived
    uint64_t used = 0;
    std::optional<uint64_t> expected;
  };

  std::shared_ptr<T> UseLocked(uint64_t handle) {
    const auto found = entries_.find(handle);
    if (found == entries_.end() || found->second.object == nullptr) return nullptr;
    ++found->second.used;
    std::shared_ptr<T> object = found->second.object;
    EraseIfUsedUp(handle);
    return object;
  }
  void EraseIfUsedUp(uint64_t handle) {
    const auto found = entries_.find(handle);
    const Entry& entry = found->second;
    if (entry.object != nullptr && entry.expected.has_value() && entry.used >= *entry.expected) entries_.erase(found);
  }

  const size_t max_;
  const char* const what_;
  const char* const remedy_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Entry> entries_;  // guarded by mutex_
  bool closed_ = false;                // guarded by mutex_
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_HANDLE_TABLE_H_
