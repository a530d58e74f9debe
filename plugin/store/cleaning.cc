#include "plugin/store/cleaning.h"

#include <fcntl.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "plugin/files/file_lock.h"
#include "plugin/store/file_names.h"

namespace hpu::store {
namespace {

using files::FileDescriptor;
using File = StoreDirectory::File;

std::vector<File> ListFiles(const StoreDirectory& directory) {
  absl::StatusOr<std::vector<File>> files = directory.List();
  return files.ok() ? *std::move(files) : std::vector<File>();
}

// Removes a file if nobody has locked it; whether it is gone.
bool RemoveUnlocked(const StoreDirectory& directory, const std::string& name) {
  const FileDescriptor file(openat(directory.fd(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid() || files::TryLock(file) != files::LockAttempt::kLocked) return false;
  // Whoever waits for the lock of a removed file sees that the name holds another file, or none.
  return directory.IsSame(name, file) && directory.Remove(name).ok();
}

}  // namespace

void RemoveLeftovers(const StoreDirectory& directory) {
  for (const File& file : ListFiles(directory)) {
    if (IsTemporary(file.name) || IsLock(file.name)) RemoveUnlocked(directory, file.name);
  }
}

int Evict(const StoreDirectory& directory, int64_t max_bytes) {
  absl::StatusOr<FileDescriptor> lock_file = directory.OpenLockFile(kEvictionLock);
  if (!lock_file.ok() || files::TryLock(*lock_file) == files::LockAttempt::kHeld) return 0;
  std::vector<File> entries = ListFiles(directory);
  entries.erase(std::remove_if(entries.begin(), entries.end(), [](const File& file) { return !IsEntry(file.name); }),
                entries.end());
  int64_t total = 0;
  for (const File& file : entries) total += file.bytes;
  std::sort(entries.begin(), entries.end(), [](const File& a, const File& b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec, a.name) < std::tie(b.used.tv_sec, b.used.tv_nsec, b.name);
  });
  int removed = 0;
  for (const File& file : entries) {
    if (total <= max_bytes) break;
    if (!RemoveUnlocked(directory, file.name)) continue;
    total -= file.bytes;
    ++removed;
  }
  return removed;
}

}  // namespace hpu::store
