// FileLock: an exclusive lock on a file, which the kernel drops when the process ends, however it ends.
#ifndef HPU_PLUGIN_BASE_FILES_FILE_LOCK_H_
#define HPU_PLUGIN_BASE_FILES_FILE_LOCK_H_

#include <string>

#include "plugin/base/files/file_descriptor.h"

namespace hpu::files {

// Who holds a lock, for messages. What the file says counts only while it is locked.
struct LockHolder {
  int pid = 0;          // 0: it has not said yet
  std::string command;  // arguments joined by blanks
};

enum class LockAttempt {
  kLocked,
  kHeld,    // by another descriptor, of this process or another
  kFailed,  // errno says why: the file system has no locks
};

// flock(2), exclusive, without waiting.
LockAttempt TryLock(const FileDescriptor& file);

// The command line of this process on one line, cut to some 200 bytes.
std::string OwnCommand();

// Whom the file names as holder.
LockHolder ReadHolder(const FileDescriptor& file);

// A file that TryLock locked. Writes this process into it; the destructor clears and closes it. A child gets no share
// of the lock: the file is closed after fork() and by exec(). Movable, thread compatible.
class FileLock {
 public:
  // Takes `file`, which is open for writing with O_CLOEXEC.
  explicit FileLock(FileDescriptor file);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

  // Whether the lock is kept in the table of open lock files that a forked child closes. It is not if the table is
  // full.
  bool closed_in_children() const { return slot_ >= 0; }

 private:
  FileDescriptor file_;  // invalid if the table holds it
  int slot_ = -1;        // index into the table of open lock files
};

}  // namespace hpu::files

#endif  // HPU_PLUGIN_BASE_FILES_FILE_LOCK_H_
