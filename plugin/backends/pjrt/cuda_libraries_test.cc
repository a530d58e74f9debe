// Tests of the search for NVIDIA's libraries.
#include "plugin/backends/pjrt/cuda_libraries.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace hpu::pjrt {
namespace cuda_libraries_test {

TEST(CudaLibrariesTest, LibrariesComeFromThePluginsCudaPackages) {
  const std::string packages = absl::StrCat(testing::TempDir(), "/packages_", getpid());
  const auto add = [&](const std::string& file) {
    const std::filesystem::path path = absl::StrCat(packages, "/nvidia/", file);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "not a library";
  };
  for (const char* file : {"cudnn/lib/libcudnn.so.9", "cudnn/lib/libcudnn_ops.so.9", "cublas/lib/libcublas.so.12",
                           "cublas/lib/libcublasLt.so.12", "cuda_nvrtc/lib/libnvrtc.so.12", "cu13/lib/libnvrtc.so.13",
                           "cu13/lib/libnvrtc.alt.so.13", "cu13/lib/libcublas.so.13", "cu13/include/nvrtc.h"}) {
    add(file);
  }
  const auto names = [&](const char* plugin) {
    std::vector<std::string> names;
    const std::string file = absl::StrCat(packages, "/jax_plugins/", plugin, "/xla_cuda_plugin.so");
    for (const std::string& library : CudaLibraries(file)) {
      names.push_back(std::filesystem::path(library).filename().string());
    }
    LoadCudaLibraries(file);  // logs the files, because they are not libraries
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ((Names{"libnvrtc.so.12", "libcublasLt.so.12", "libcublas.so.12", "libcudnn.so.9"}), names("xla_cuda12"));
  EXPECT_EQ((Names{"libnvrtc.so.13", "libcublas.so.13", "libcudnn.so.9"}), names("xla_cuda13"));
  std::filesystem::remove_all(packages);
  EXPECT_TRUE(CudaLibraries("/missing/jax_plugins/xla_cuda13/xla_cuda_plugin.so").empty());
}

}  // namespace cuda_libraries_test
}  // namespace hpu::pjrt
