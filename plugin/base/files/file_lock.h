// FileLock: an exclusive file lock, which the kernel releases when the process ends for any reason.
#ifndef HPU_PLUGIN_BASE_FILES_FILE_LOCK_H_
#define HPU_PLUGIN_BASE_FILES_FILE_LOCK_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "plugin/base/files/file_descriptor.h"

namespace hpu::files {

// The holder of a lock, for messages. The file's text is valid only while the file is locked.
struct LockHolder {
  int pid = 0;          // 0: unknown, for example because the holder has not written the id yet
  std::string command;  // arguments joined by spaces
};

enum class LockAttempt {
  kLocked,
  kHeld,    // held through another descriptor, of this or another process
  kFailed,  // see errno; for example, the file system has no locks
};

// flock(2), exclusive, without waiting.
LockAttempt TryLock(const FileDescriptor& file);

// The command line of this process on one line, truncated to 200 bytes.
std::string OwnCommand();

// The holder according to the file's text.
LockHolder ReadHolder(const FileDescriptor& file);

// A file locked by TryLock. The constructor writes this process's id and command to the file. The destructor clears and
// closes the file. A child process does not inherit the lock if closed_in_children(): the file is closed after fork()
// and by exec(). Movable, thread compatible.
class FileLock {
 public:
  // Takes ownership of `file`, which must be open for writing with O_CLOEXEC.
  explicit FileLock(FileDescriptor file);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

  // Whether the lock is in the table of open lock files, which a forked child closes. False if the table is full.
  bool closed_in_children() const { return slot_ >= 0; }
  // Writes the status of the holder to the file, as a line after its id and command. Replaces the line of an earlier
  // call. Ignores a status of more than kMaxStatusBytes bytes. Does nothing in a forked child.
  void WriteStatus(absl::string_view status) const;
  static constexpr size_t kMaxStatusBytes = 255;

 private:
  FileDescriptor file_;  // invalid while the table owns the descriptor
  int slot_ = -1;        // index into the table of open lock files
  size_t holder_bytes_;  // size of the holder's id and command in the file
};

}  // namespace hpu::files

#endif  // HPU_PLUGIN_BASE_FILES_FILE_LOCK_H_
