// ModuleLock: this process's exclusive claim on one module.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_MODULE_LOCK_H_
#define HPU_PLUGIN_BACKENDS_COMMON_MODULE_LOCK_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/common/acquire_options.h"
#include "plugin/base/files/file_lock.h"
#include "plugin/hal/backend.h"

namespace hpu::common {

// A file `<lock_name>-<n>` in the lock directory (HPU_MODULE_LOCK_DIR), locked with flock(2) while the module is held.
// The lock is the claim: the kernel releases it when the process ends, even if the process is killed. The contents
// (pid, command line, status) are for messages and for `hpu smi` only, and are valid only while the file is locked.
// Children do not share the lock: the file is closed after fork() and by exec(). Movable, thread compatible.
class ModuleLock {
 public:
  // Claims the first free module that the options select. Fails with Unavailable if all these modules are held; the
  // text lists the holders and the remedies. Fails with InvalidArgument for a module that does not exist or is not
  // visible. Fails with FailedPrecondition if the lock directory cannot be used, for example because it is not private
  // to this user.
  static absl::StatusOr<ModuleLock> Claim(const hal::AcquireOptions& options, const Modules& modules);

  int module_id() const { return module_id_; }
  // See files::FileLock::WriteStatus.
  void WriteStatus(absl::string_view status) const { lock_.WriteStatus(status); }

 private:
  ModuleLock(int module_id, files::FileLock lock) : module_id_(module_id), lock_(std::move(lock)) {}

  int module_id_;
  files::FileLock lock_;
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_MODULE_LOCK_H_
