#include "plugin/program/user_kernels/user_kernels.h"

#include <dlfcn.h>

#include <map>
#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "plugin/base/flags/flags.h"

namespace hpu {
namespace {

// Libraries are never unloaded, because recipes hold pointers to functions of the libraries.
class Libraries {
 public:
  absl::Status Load(const std::string& path) {
    {
      absl::MutexLock lock(&mutex_);
      if (!loading_.insert(path).second) return absl::OkStatus();
    }
    // The lock is released during the call, because the library's initialisers may register kernels.
    absl::StatusOr<std::vector<hpu_host_kernel>> kernels = Read(path);
    absl::MutexLock lock(&mutex_);
    if (!kernels.ok()) {
      loading_.erase(path);
      return kernels.status();
    }
    for (const hpu_host_kernel& kernel : *kernels) functions_.emplace(kernel.guid, kernel.function);
    return absl::OkStatus();
  }

  hpu_host_function Find(const std::string& guid) {
    absl::MutexLock lock(&mutex_);
    const auto found = functions_.find(guid);
    return found == functions_.end() ? nullptr : found->second;
  }

  std::string Guids() {
    absl::MutexLock lock(&mutex_);
    return absl::StrJoin(functions_, ", ", [](std::string* names, const auto& entry) { names->append(entry.first); });
  }

 private:
  static absl::StatusOr<std::vector<hpu_host_kernel>> Read(const std::string& path) {
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      return absl::NotFoundError(absl::StrCat("GC_KERNEL_PATH: the library ", path, " cannot be loaded: ", dlerror(),
                                              "; correct GC_KERNEL_PATH or rebuild the library"));
    }
    // A library without this function contains only HLO kernels. dlopen has run the initialisers that register them.
    const auto table = reinterpret_cast<decltype(&hpu_host_kernels)>(dlsym(library, "hpu_host_kernels"));
    if (table == nullptr) return std::vector<hpu_host_kernel>();
    const hpu_host_kernel_table* const kernels = table();
    if (kernels == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat("GC_KERNEL_PATH: hpu_host_kernels() of ", path, " returned null; it must return a table"));
    }
    if (kernels->abi != HPU_HOST_KERNEL_ABI) {
      return absl::FailedPreconditionError(absl::StrCat("GC_KERNEL_PATH: ", path, " was built with version ",
                                                        kernels->abi, " of hpu_host_kernel.h, expected version ",
                                                        HPU_HOST_KERNEL_ABI, ": rebuild the library"));
    }
    return std::vector<hpu_host_kernel>(kernels->kernels, kernels->kernels + kernels->count);
  }

  absl::Mutex mutex_;
  std::set<std::string> loading_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, hpu_host_function> functions_ ABSL_GUARDED_BY(mutex_);
};

Libraries& AllLibraries() {
  static auto* libraries = new Libraries;
  return *libraries;
}

std::vector<std::string> PathsIn(const std::string& text) { return absl::StrSplit(text, ':', absl::SkipEmpty()); }

}  // namespace

std::string UserKernelCallText(const std::string& guid, const std::string& params) {
  std::string text = guid;
  text.push_back('\0');
  return text + params;
}

absl::Status LoadKernelLibraries() {
  for (const std::string& path : PathsIn(flags::GcKernelPath())) {
    if (absl::Status status = AllLibraries().Load(path); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<hpu_host_function> FindUserKernel(const std::string& guid) {
  if (absl::Status status = LoadKernelLibraries(); !status.ok()) return status;
  if (const hpu_host_function function = AllLibraries().Find(guid)) return function;
  const std::string path = flags::GcKernelPath(), guids = AllLibraries().Guids();
  return absl::NotFoundError(absl::StrCat(
      "no kernel for the guid '", guid, "': no built-in kernel has this guid, and the libraries in GC_KERNEL_PATH (",
      path.empty() ? "not set" : path, ") define ", guids.empty() ? "no user kernels" : guids,
      "; add the kernel's library to GC_KERNEL_PATH (docs/user/custom_ops.md)"));
}

}  // namespace hpu
