#include "plugin/recipes/cleaning.h"

#include <fcntl.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "absl/time/clock.h"
#include "plugin/base/files/file_lock.h"
#include "plugin/base/status_macros.h"
#include "plugin/recipes/file_names.h"

namespace hpu::recipes {
namespace {

using files::FileDescriptor;
using File = StoreDirectory::File;

std::vector<File> ListFiles(const StoreDirectory& directory) {
  absl::StatusOr<std::vector<File>> files = directory.List();
  return files.ok() ? *std::move(files) : std::vector<File>();
}

// Removes a file unless a process has locked it. Returns whether the file was removed.
absl::StatusOr<bool> RemoveUnlocked(const StoreDirectory& directory, const std::string& name) {
  const FileDescriptor file(openat(directory.fd(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid() || files::TryLock(file) != files::LockAttempt::kLocked) return false;
  // A process that locks the file after the removal retries, because the name no longer refers to the file.
  if (!directory.IsSame(name, file)) return false;
  HPU_RETURN_IF_ERROR(directory.Remove(name));
  return true;
}

}  // namespace

int RemoveLeftovers(const StoreDirectory& directory) {
  int removed = 0;
  for (const File& file : ListFiles(directory)) {
    if (!IsTemporary(file.name) && !IsLock(file.name)) continue;
    if (RemoveUnlocked(directory, file.name).value_or(false)) ++removed;
  }
  return removed;
}

int RemoveDamaged(const StoreDirectory& directory) {
  int removed = 0;
  for (const File& file : ListFiles(directory)) {
    if (IsDamaged(file.name) && directory.Remove(file.name).ok()) ++removed;
  }
  return removed;
}

absl::StatusOr<Eviction> Evict(const StoreDirectory& directory, const EvictionLimits& limits) {
  Eviction eviction;
  HPU_ASSIGN_OR_RETURN(const FileDescriptor lock_file, directory.OpenLockFile(kEvictionLock));
  eviction.busy = files::TryLock(lock_file) == files::LockAttempt::kHeld;
  if (eviction.busy) return eviction;
  std::vector<File> entries = ListFiles(directory);
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [](const File& file) { return !IsEntry(file.name) && !IsNotes(file.name); }),
                entries.end());
  int64_t total = 0;
  for (const File& file : entries) total += file.bytes;
  std::sort(entries.begin(), entries.end(), [](const File& a, const File& b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec, a.name) < std::tie(b.used.tv_sec, b.used.tv_nsec, b.name);
  });
  const absl::Time oldest = absl::Now() - limits.max_unused;
  for (const File& file : entries) {
    if (total <= limits.max_bytes && absl::TimeFromTimespec(file.used) >= oldest) break;
    HPU_ASSIGN_OR_RETURN(const bool gone, RemoveUnlocked(directory, file.name));
    if (!gone) {
      ++eviction.in_use;
      continue;
    }
    total -= file.bytes;
    eviction.bytes += file.bytes;
    if (IsEntry(file.name)) ++eviction.entries;
  }
  return eviction;
}

}  // namespace hpu::recipes
