#include "plugin/backends/common/module_lock.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "plugin/backends/common/acquire_options.h"
#include "plugin/flags/flags.h"
#include "plugin/hal/status_macros.h"

namespace hpu::common {
namespace {

constexpr size_t kMostCommandBytes = 200;

// Closes its file at the end of a scope.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Lock files that this process holds open. A forked child must close them at once, without a mutex or memory
// allocation: a lock lives as long as any descriptor of it.
std::array<std::atomic<int>, kMostModules> held_files;  // descriptor + 1; 0: unused

// Takes a descriptor out of the table; -1 if the place was empty.
int TakeHeldFile(int slot) { return held_files[slot].exchange(0, std::memory_order_relaxed) - 1; }

void CloseHeldFilesInChild() {
  for (int slot = 0; slot < kMostModules; ++slot) {
    const int fd = TakeHeldFile(slot);
    if (fd >= 0) close(fd);
  }
}

absl::Status Refusal(const std::string& path, absl::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat(path, " ", what,
                                                    "; remove it or set HPU_EMULATOR_LOCK_DIR to a directory "
                                                    "of your own (mode 0700)"));
}

std::string LockDirectory() {
  if (const std::string setting = flags::EmulatorLockDir(); !setting.empty()) return setting;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const bool usable = runtime != nullptr && *runtime == '/' && access(runtime, W_OK | X_OK) == 0;
  return absl::StrCat(usable ? runtime : "/tmp", "/hpu-emulator-", geteuid());
}

// The directory, made if need be. In a shared /tmp somebody else may have put something there first.
absl::StatusOr<FileDescriptor> OpenDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::FailedPreconditionError(absl::StrCat("cannot make ", path,
                                                      " for the locks of emulated modules: ", std::strerror(errno),
                                                      "; set HPU_EMULATOR_LOCK_DIR to a directory that you can write"));
  }
  FileDescriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info;
  if (!directory.valid() || fstat(directory.get(), &info) != 0) {
    return Refusal(path, absl::StrCat("is no usable directory (", std::strerror(errno), ")"));
  }
  if (info.st_uid != geteuid()) return Refusal(path, absl::StrCat("belongs to user ", info.st_uid));
  if ((info.st_mode & 077) != 0) return Refusal(path, "can be entered by other users");
  return directory;
}

absl::StatusOr<FileDescriptor> OpenLockFile(const FileDescriptor& directory, const std::string& path, int module_id) {
  const std::string name = absl::StrCat("module-", module_id);
  FileDescriptor file(
      openat(directory.get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  struct stat info;
  if (!file.valid() || fstat(file.get(), &info) != 0) {
    return Refusal(absl::StrCat(path, "/", name), absl::StrCat("cannot be opened (", std::strerror(errno), ")"));
  }
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() || info.st_nlink != 1) {
    return Refusal(absl::StrCat(path, "/", name), "is no ordinary file of this user");
  }
  return file;
}

enum class Attempt { kLocked, kHeld, kFailed };

Attempt TryLock(const FileDescriptor& file) {
  int result;
  do {
    result = flock(file.get(), LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return Attempt::kLocked;
  return errno == EWOULDBLOCK ? Attempt::kHeld : Attempt::kFailed;
}

// The command line of this process, on one line.
std::string OwnCommand() {
  std::ifstream stream("/proc/self/cmdline", std::ios::binary);
  std::string command((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  std::replace_if(command.begin(), command.end(), [](unsigned char c) { return c < ' '; }, ' ');
  if (command.size() > kMostCommandBytes) command.resize(kMostCommandBytes);
  absl::StripTrailingAsciiWhitespace(&command);
  return command;
}

void WriteHolder(const FileDescriptor& file) {
  const std::string text = absl::StrCat(getpid(), "\n", OwnCommand(), "\n");
  // Only messages depend on it, so a full disk is no reason to fail.
  if (ftruncate(file.get(), 0) == 0) static_cast<void>(!pwrite(file.get(), text.data(), text.size(), 0));
}

ModuleHolder ReadHolder(const FileDescriptor& file, int module_id) {
  char text[kMostCommandBytes + 32];
  const ssize_t size = pread(file.get(), text, sizeof(text), 0);
  const std::vector<std::string> lines = absl::StrSplit(absl::string_view(text, std::max<ssize_t>(size, 0)), '\n');
  ModuleHolder holder{module_id, 0, ""};
  // Written by a process that has ended: the present holder has locked the file, but not yet written to it.
  const bool current = absl::SimpleAtoi(lines[0], &holder.pid) && (kill(holder.pid, 0) == 0 || errno == EPERM);
  if (!current) holder.pid = 0;
  if (current && lines.size() > 1) holder.command = lines[1];
  return holder;
}

std::string Describe(const ModuleHolder& holder) {
  if (holder.pid == 0) return absl::StrCat("module ", holder.module_id, ": a process that is just starting");
  return absl::StrCat("module ", holder.module_id, ": pid ", holder.pid, " (", holder.command, ")");
}

absl::Status AllHeld(const std::vector<ModuleHolder>& holders) {
  return absl::UnavailableError(absl::StrCat(
      "no emulated HPU module is free. Held by ",
      absl::StrJoin(holders, "; ", [](std::string* out, const ModuleHolder& holder) { out->append(Describe(holder)); }),
      ". End one of these processes, admit other modules (HLS_MODULE_ID, HABANA_VISIBLE_MODULES), or raise "
      "HPU_EMULATOR_MODULES"));
}

// Puts the descriptor where a forked child finds it; its index, or -1 if the table is full.
int Keep(FileDescriptor& file) {
  static auto* once = new std::once_flag;
  std::call_once(*once, [] { pthread_atfork(nullptr, nullptr, &CloseHeldFilesInChild); });
  for (int slot = 0; slot < kMostModules; ++slot) {
    int empty = 0;
    if (held_files[slot].compare_exchange_strong(empty, file.get() + 1)) {
      file.Release();
      return slot;
    }
  }
  return -1;
}

}  // namespace

absl::StatusOr<ModuleLock> ModuleLock::Claim(const hal::AcquireOptions& options) {
  HPU_ASSIGN_OR_RETURN(const std::vector<int> candidates, CandidateModules(options));
  const std::string path = LockDirectory();
  HPU_ASSIGN_OR_RETURN(const FileDescriptor directory, OpenDirectory(path));
  std::vector<ModuleHolder> holders;
  for (const int module_id : candidates) {
    HPU_ASSIGN_OR_RETURN(FileDescriptor file, OpenLockFile(directory, path, module_id));
    switch (TryLock(file)) {
      case Attempt::kHeld:
        holders.push_back(ReadHolder(file, module_id));
        continue;
      case Attempt::kFailed:
        return absl::FailedPreconditionError(
            absl::StrCat("cannot lock ", path, "/module-", module_id, ": ", std::strerror(errno),
                         "; set HPU_EMULATOR_LOCK_DIR to a directory on a local file system"));
      case Attempt::kLocked:
        WriteHolder(file);
        const int slot = Keep(file);
        if (slot < 0) return absl::ResourceExhaustedError("this process holds as many modules as it can");
        return ModuleLock(module_id, slot);
    }
  }
  return AllHeld(holders);
}

absl::StatusOr<std::vector<ModuleHolder>> ModuleLock::Holders() {
  HPU_ASSIGN_OR_RETURN(const int count, ModuleCountSetting());
  const std::string path = LockDirectory();
  HPU_ASSIGN_OR_RETURN(const FileDescriptor directory, OpenDirectory(path));
  std::vector<ModuleHolder> holders;
  for (int module_id = 0; module_id < count; ++module_id) {
    HPU_ASSIGN_OR_RETURN(const FileDescriptor file, OpenLockFile(directory, path, module_id));
    if (TryLock(file) == Attempt::kHeld) holders.push_back(ReadHolder(file, module_id));
  }
  return holders;
}

ModuleLock::ModuleLock(ModuleLock&& other) noexcept
    : module_id_(other.module_id_), slot_(std::exchange(other.slot_, -1)) {}

ModuleLock::~ModuleLock() {
  if (slot_ < 0) return;
  const int fd = TakeHeldFile(slot_);  // none in a forked child: closed already
  if (fd < 0) return;
  static_cast<void>(!ftruncate(fd, 0));  // the next holder must not be taken for this process
  close(fd);
}

}  // namespace hpu::common
