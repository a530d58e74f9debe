#include "plugin/base/files/file_lock.h"

#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace hpu::files {
namespace {

constexpr size_t kMaxCommandBytes = 200;
constexpr int kMaxLocks = 256;

// Lock files that this process holds open. A forked child closes these files immediately, because a lock lasts as long
// as any descriptor of the file. Closing must neither lock a mutex nor allocate memory.
std::array<std::atomic<int>, kMaxLocks> held_files;  // descriptor + 1; 0: unused

// Removes a descriptor from the table; returns -1 if the slot was empty.
int TakeHeldFile(int slot) { return held_files[slot].exchange(0, std::memory_order_relaxed) - 1; }

void CloseHeldFilesInChild() {
  for (int slot = 0; slot < kMaxLocks; ++slot) {
    const int fd = TakeHeldFile(slot);
    if (fd >= 0) close(fd);
  }
}

// Moves the descriptor to the table of files that forked children close. Returns the index in the table, or -1 if the
// table is full.
int Keep(FileDescriptor& file) {
  static auto* once = new std::once_flag;
  std::call_once(*once, [] { pthread_atfork(nullptr, nullptr, &CloseHeldFilesInChild); });
  for (int slot = 0; slot < kMaxLocks; ++slot) {
    int empty = 0;
    if (held_files[slot].compare_exchange_strong(empty, file.get() + 1)) {
      file.Release();
      return slot;
    }
  }
  return -1;
}

// Returns the number of bytes of the text.
size_t WriteHolder(const FileDescriptor& file) {
  const std::string text = absl::StrCat(getpid(), "\n", OwnCommand(), "\n");
  // Errors (a full disk) are ignored, because only messages use this text.
  if (ftruncate(file.get(), 0) == 0) static_cast<void>(!pwrite(file.get(), text.data(), text.size(), 0));
  return text.size();
}

}  // namespace

std::string OwnCommand() {
  std::ifstream stream("/proc/self/cmdline", std::ios::binary);
  std::string command((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  std::replace_if(command.begin(), command.end(), [](unsigned char c) { return c < ' '; }, ' ');
  if (command.size() > kMaxCommandBytes) command.resize(kMaxCommandBytes);
  absl::StripTrailingAsciiWhitespace(&command);
  return command;
}

LockAttempt TryLock(const FileDescriptor& file) {
  int result;
  do {
    result = flock(file.get(), LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return LockAttempt::kLocked;
  return errno == EWOULDBLOCK ? LockAttempt::kHeld : LockAttempt::kFailed;
}

LockHolder ReadHolder(const FileDescriptor& file) {
  char text[kMaxCommandBytes + 32];
  const ssize_t size = pread(file.get(), text, sizeof(text), 0);
  const std::vector<std::string> lines = absl::StrSplit(absl::string_view(text, std::max<ssize_t>(size, 0)), '\n');
  LockHolder holder;
  // If the named process has ended, the text is stale: the present holder has locked the file but not yet written its
  // own text.
  const bool current = absl::SimpleAtoi(lines[0], &holder.pid) && (kill(holder.pid, 0) == 0 || errno == EPERM);
  if (!current) holder.pid = 0;
  if (current && lines.size() > 1) holder.command = lines[1];
  return holder;
}

FileLock::FileLock(FileDescriptor file) : file_(std::move(file)), holder_bytes_(WriteHolder(file_)) {
  slot_ = Keep(file_);
}

FileLock::FileLock(FileLock&& other) noexcept
    : file_(std::move(other.file_)), slot_(std::exchange(other.slot_, -1)), holder_bytes_(other.holder_bytes_) {}

void FileLock::WriteStatus(absl::string_view status) const {
  const int fd = slot_ < 0 ? file_.get() : held_files[slot_].load(std::memory_order_relaxed) - 1;
  if (fd < 0 || status.size() > kMaxStatusBytes) return;
  // Lines of one length, written by one call, so that readers see no parts of two lines.
  std::string line(status);
  line.resize(kMaxStatusBytes, ' ');
  line += '\n';
  static_cast<void>(!pwrite(fd, line.data(), line.size(), static_cast<off_t>(holder_bytes_)));
}

FileLock::~FileLock() {
  const int fd =
      slot_ < 0 ? file_.get() : TakeHeldFile(slot_);  // -1 in a forked child, where the file is already closed
  if (fd < 0) return;
  static_cast<void>(!ftruncate(fd, 0));  // otherwise messages would name this process as the next holder
  if (slot_ >= 0) close(fd);
}

}  // namespace hpu::files
