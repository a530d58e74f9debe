#include "plugin/backends/gaudi/hccl/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_macros.h"

namespace hpu::hccl {
namespace {

// libhcl.so beside SynapseAI's library if it exists there, else its name.
std::string LibraryPath(const std::string& synapse_path) {
  const size_t slash = synapse_path.rfind('/');
  if (slash == std::string::npos) return kLibraryName;
  std::string beside = absl::StrCat(synapse_path.substr(0, slash + 1), kLibraryName);
  return access(beside.c_str(), F_OK) == 0 ? beside : kLibraryName;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Library>> Library::Open(const std::string& synapse_path) {
  std::string path = LibraryPath(synapse_path);
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::UnimplementedError(absl::StrCat("no collective operations: cannot load HCCL from ", path, ": ",
                                                 dlerror(), "; install SynapseAI's ", kLibraryName));
  }
  std::unique_ptr<Library> library(new Library(std::move(path), handle));
  HPU_RETURN_IF_ERROR(library->Bind());
  return library;
}

Library::~Library() { dlclose(library_); }

absl::Status Library::Bind() {
  std::vector<const char*> missing;
#define HPU_HCCL_FIND(name, parameters, arguments) \
  functions_.name = reinterpret_cast<decltype(functions_.name)>(dlsym(library_, #name));
#define HPU_HCCL_REQUIRE(name, parameters, arguments) \
  HPU_HCCL_FIND(name, parameters, arguments)          \
  if (functions_.name == nullptr) missing.push_back(#name);
  HPU_HCCL_REQUIRED(HPU_HCCL_REQUIRE)
  HPU_HCCL_OPTIONAL(HPU_HCCL_FIND)
  HPU_HCCL_FIND(hcclGetErrorString, , )
  HPU_HCCL_FIND(hcclGetLastErrorMessage, , )
#undef HPU_HCCL_REQUIRE
#undef HPU_HCCL_FIND
  if (missing.empty()) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("no collective operations: ", path_, " does not export ",
                                               absl::StrJoin(missing, ", "), "; reinstall SynapseAI"));
}

}  // namespace hpu::hccl
