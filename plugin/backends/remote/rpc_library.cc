#include "plugin/backends/remote/rpc_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "plugin/backends/common/signal_mask.h"

namespace hpu::remote {
namespace {

constexpr char kName[] = "libhpu_remote.so";

std::string Path() {
  Dl_info info;
  std::string own = dladdr(reinterpret_cast<const void*>(&RpcLibrary), &info) != 0 ? info.dli_fname : "";
  // In an executable, dladdr() returns argv[0], which may be any text.
  if (own.find('/') == std::string::npos) own = std::filesystem::read_symlink("/proc/self/exe").string();
  return absl::StrCat(own.substr(0, own.rfind('/') + 1), kName);
}

absl::StatusOr<const hpu_rpc_api*> Load() {
  const std::string path = Path();
  if (access(path.c_str(), F_OK) != 0) {
    return absl::UnimplementedError(absl::StrCat(
        path,
        " does not exist: this build does not support device servers, because gRPC's development files were missing; "
        "install them (sudo apt-get install pkg-config libgrpc++-dev) and rebuild"));
  }
  const common::ScopedSignalMask mask;  // inherited by gRPC's threads
  // Deep binding, because the library must find its own absl, protobuf and OpenSSL even if TensorFlow's symbols are
  // global.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) {
    return absl::UnimplementedError(absl::StrCat(path, ", which device servers require, cannot be loaded: ", dlerror(),
                                                 "; install the missing library or rebuild"));
  }
  const auto get_api = reinterpret_cast<decltype(&hpu_rpc_get_api)>(dlsym(library, "hpu_rpc_get_api"));
  const hpu_rpc_api* api = get_api == nullptr ? nullptr : get_api(HPU_RPC_VERSION);
  if (api == nullptr) {
    return absl::UnimplementedError(absl::StrCat(path, " does not have version ", HPU_RPC_VERSION,
                                                 " of the RPC interface, which this plugin requires; rebuild it"));
  }
  return api;
}

}  // namespace

absl::StatusOr<const hpu_rpc_api*> RpcLibrary() {
  static const auto* library = new absl::StatusOr<const hpu_rpc_api*>(Load());
  return *library;
}

}  // namespace hpu::remote
