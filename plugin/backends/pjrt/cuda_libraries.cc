#include "plugin/backends/pjrt/cuda_libraries.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/log/log.h"

namespace hpu::pjrt {
namespace {

// In dependency order: each library follows its dependencies.
constexpr absl::string_view kLibraries[] = {"cudart",   "nvrtc",    "cublasLt", "cublas",       "nccl", "cupti",
                                            "cusparse", "cusolver", "cufft",    "nvshmem_host", "cudnn"};

// Folder of all CUDA 13 libraries. Each CUDA 12 library has a separate folder.
constexpr absl::string_view kCuda13Folder = "cu13";

// Whether `name` is "lib<library>.so.<major version>".
bool IsLibrary(absl::string_view name, absl::string_view library) {
  const std::string begin = absl::StrCat("lib", library, ".so.");
  if (!absl::StartsWith(name, begin) || name.size() == begin.size()) return false;
  return std::all_of(name.begin() + begin.size(), name.end(), absl::ascii_isdigit);
}

}  // namespace

std::vector<std::string> CudaLibraries(const std::string& plugin_file) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(plugin_file).parent_path();
  const bool is_cuda13 = absl::StrContains(folder.filename().string(), "cuda13");
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& package : fs::directory_iterator(folder.parent_path().parent_path() / "nvidia", ignored)) {
    const bool of_cuda13 = package.path().filename().string() == kCuda13Folder;
    const bool of_both = package.path().filename() == "cudnn" || package.path().filename() == "nccl" ||
                         package.path().filename() == "nvshmem";
    if (!of_both && of_cuda13 != is_cuda13) continue;
    for (const auto& file : fs::directory_iterator(package.path() / "lib", ignored)) found.push_back(file.path());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> libraries;
  for (const absl::string_view library : kLibraries) {
    for (const fs::path& file : found) {
      if (IsLibrary(file.filename().string(), library)) libraries.push_back(file.string());
    }
  }
  return libraries;
}

void LoadCudaLibraries(const std::string& plugin_file) {
  for (const std::string& library : CudaLibraries(plugin_file)) {
    if (dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL) == nullptr) {
      HPU_LOG(kBackend, kWarning) << "cannot load " << library
                                  << " (the loader's search path is used instead): " << dlerror();
    }
  }
}

}  // namespace hpu::pjrt
