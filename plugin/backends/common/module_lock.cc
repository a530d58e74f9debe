#include "plugin/backends/common/module_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/common/acquire_options.h"
#include "plugin/base/files/file_descriptor.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"

namespace hpu::common {
namespace {

using files::FileDescriptor;
using files::LockAttempt;

absl::Status Refusal(const std::string& path, absl::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat(path, " ", what,
                                                    "; remove it or set HPU_MODULE_LOCK_DIR to a directory "
                                                    "of your own (mode 0700)"));
}

std::string LockDirectory() {
  if (std::string setting = flags::ModuleLockDir(); !setting.empty()) return setting;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const bool usable = runtime != nullptr && *runtime == '/' && access(runtime, W_OK | X_OK) == 0;
  return absl::StrCat(usable ? runtime : "/tmp", "/hpu-emulator-", geteuid());
}

// Opens the directory and creates it if necessary. Checks owner and mode, because another user may have created the
// path first in a shared /tmp.
absl::StatusOr<FileDescriptor> OpenDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::FailedPreconditionError(absl::StrCat("cannot create ", path,
                                                      " for the locks of modules: ", std::strerror(errno),
                                                      "; set HPU_MODULE_LOCK_DIR to a writable directory"));
  }
  FileDescriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info;
  if (!directory.valid() || fstat(directory.get(), &info) != 0) {
    return Refusal(path, absl::StrCat("is not a usable directory (", std::strerror(errno), ")"));
  }
  if (info.st_uid != geteuid()) return Refusal(path, absl::StrCat("is owned by user ", info.st_uid));
  if ((info.st_mode & 077) != 0) return Refusal(path, "is accessible to other users");
  return directory;
}

absl::StatusOr<FileDescriptor> OpenLockFile(const FileDescriptor& directory, const std::string& path,
                                            const std::string& name) {
  FileDescriptor file(
      openat(directory.get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  struct stat info;
  if (!file.valid() || fstat(file.get(), &info) != 0) {
    return Refusal(absl::StrCat(path, "/", name), absl::StrCat("cannot be opened (", std::strerror(errno), ")"));
  }
  if (!S_ISREG(info.st_mode)) return Refusal(absl::StrCat(path, "/", name), "is not a regular file");
  if (info.st_uid != geteuid()) {
    return Refusal(absl::StrCat(path, "/", name), absl::StrCat("is owned by user ", info.st_uid));
  }
  if (info.st_nlink != 1) {
    return Refusal(absl::StrCat(path, "/", name), absl::StrCat("has ", info.st_nlink, " hard links, expected 1"));
  }
  return file;
}

// A module and the process that holds its lock.
struct ModuleHolder {
  int module_id = 0;
  int pid = 0;          // 0: not written yet
  std::string command;  // arguments joined by spaces
};

ModuleHolder ReadModuleHolder(const FileDescriptor& file, int module_id) {
  files::LockHolder holder = files::ReadHolder(file);
  return {module_id, holder.pid, std::move(holder.command)};
}

std::string Describe(const ModuleHolder& holder) {
  if (holder.pid == 0) return absl::StrCat("module ", holder.module_id, ": a process that is still starting");
  return absl::StrCat("module ", holder.module_id, ": pid ", holder.pid, " (", holder.command, ")");
}

absl::Status AllHeld(const std::vector<ModuleHolder>& holders, const Modules& modules) {
  return absl::UnavailableError(absl::StrCat(
      "no ", modules.kind, " is free. Held by ",
      absl::StrJoin(holders, "; ", [](std::string* out, const ModuleHolder& holder) { out->append(Describe(holder)); }),
      ". End one of these processes, select other modules (HLS_MODULE_ID, HABANA_VISIBLE_MODULES), or ",
      modules.remedy_of_shortage));
}

}  // namespace

absl::StatusOr<ModuleLock> ModuleLock::Claim(const hal::AcquireOptions& options, const Modules& modules) {
  HPU_ASSIGN_OR_RETURN(const std::vector<int> candidates, CandidateModules(options, modules));
  const std::string path = LockDirectory();
  HPU_ASSIGN_OR_RETURN(const FileDescriptor directory, OpenDirectory(path));
  std::vector<ModuleHolder> holders;
  for (const int module_id : candidates) {
    const std::string name = absl::StrCat(modules.lock_name, "-", module_id);
    HPU_ASSIGN_OR_RETURN(FileDescriptor file, OpenLockFile(directory, path, name));
    switch (files::TryLock(file)) {
      case LockAttempt::kHeld:
        holders.push_back(ReadModuleHolder(file, module_id));
        continue;
      case LockAttempt::kFailed:
        return absl::FailedPreconditionError(
            absl::StrCat("cannot lock ", path, "/", name, ": ", std::strerror(errno),
                         "; set HPU_MODULE_LOCK_DIR to a directory on a local file system"));
      case LockAttempt::kLocked:
        files::FileLock lock(std::move(file));
        if (!lock.closed_in_children()) {
          return absl::ResourceExhaustedError(absl::StrCat(
              "cannot lock module ", module_id,
              ": this process already holds the maximum number of lock files; release another device first"));
        }
        return ModuleLock(module_id, std::move(lock));
    }
  }
  return AllHeld(holders, modules);
}

}  // namespace hpu::common
