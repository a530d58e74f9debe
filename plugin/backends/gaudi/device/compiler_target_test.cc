#include "plugin/backends/gaudi/device/compiler_target.h"

#include <filesystem>
#include <fstream>

#include "plugin/testing/gaudi_double.h"

namespace hpu::gaudi {
namespace {

class CompilerTargetTest : public GaudiDeviceTest {};

TEST_P(CompilerTargetTest, NamesDeviceDriverAndKernels) {
  const std::filesystem::path kernels =
      std::filesystem::temp_directory_path() / absl::StrCat("hpu_kernels.", getpid(), ".so");
  std::ofstream(kernels) << "first";
  Set("GC_KERNEL_PATH", absl::StrCat(kernels.string(), ":/nowhere/gone.so"));
  const bool is_1_5 = runtime().library().profile() == synapse::Profile::k1_5;
  const std::string first = device().info().compiler_target;
  EXPECT_TRUE(absl::StartsWith(first, absl::StrCat(is_1_5 ? "gaudi synapse=1.5.0" : "gaudi2 synapse=1.18.0"))) << first;
  EXPECT_TRUE(absl::StrContains(first, is_1_5 ? " abi=1.5 tpc= " : " abi=1.18 tpc=libsynapse_double_kernels.so:1 "))
      << first;
  EXPECT_TRUE(absl::StrContains(first, absl::StrCat("kernels=", kernels.filename().string(), ":5:"))) << first;
  EXPECT_TRUE(absl::EndsWith(first, ",gone.so")) << first;

  ReleaseDevice();
  EXPECT_EQ(device().info().compiler_target, first);
  ReleaseDevice();
  std::ofstream(kernels) << "other";
  EXPECT_NE(device().info().compiler_target, first);
  ReleaseDevice();
  Set("HPU_GAUDI_UNPROVEN", "1");
  EXPECT_TRUE(absl::EndsWith(device().info().compiler_target, ",gone.so unproven"));
  std::filesystem::remove(kernels);
}

HPU_GAUDI_SUITE(CompilerTargetTest);

}  // namespace
}  // namespace hpu::gaudi
