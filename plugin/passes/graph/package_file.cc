#include "plugin/passes/graph/package_file.h"

#include <dlfcn.h>

#include "tensorflow/core/platform/path.h"

namespace hpu::passes {

std::string PackageFile(std::string_view relative) {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&PackageFile), &info) == 0 || info.dli_fname == nullptr) {
    return std::string(relative);
  }
  const std::string folder(tensorflow::io::Dirname(tensorflow::io::Dirname(info.dli_fname)));
  return tensorflow::io::JoinPath(folder, relative);
}

}  // namespace hpu::passes
