// Tests of NVIDIA cards as modules, with device files in a temporary folder.
#include "plugin/backends/pjrt/cuda_cards.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <variant>

#include "absl/strings/str_cat.h"
#include "plugin/testing/cts/fixture.h"

namespace hpu::pjrt {
namespace cuda_cards_test {

using cts::ExpectError;
using cts::ScopedVariable;
using Cards = std::vector<int>;

// Fixture with a folder that contains the driver's device files but no card. Add adds a file.
class CudaCardsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = absl::StrCat(testing::TempDir(), "/cards_", getpid());
    std::filesystem::create_directories(folder_);
    for (const char* name : {"nvidiactl", "nvidia-uvm", "nvidia-modeset", "null"}) Add(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Add(const std::string& name) { std::ofstream(absl::StrCat(folder_, "/", name)); }

  std::string folder_;
};

TEST_F(CudaCardsTest, DeviceFilesAreCounted) {
  EXPECT_EQ(0, CountCards(folder_));
  Add("nvidia0");
  Add("nvidia3");  // a container may see a part of the machine's cards
  EXPECT_EQ(2, CountCards(folder_));
  EXPECT_EQ(0, CountCards(folder_ + "/missing"));
}

TEST_F(CudaCardsTest, CudaVisibleDevicesIsParsedLikeCuda) {
  EXPECT_EQ((Cards{0, 1, 2}), VisibleCards(3, std::nullopt));
  EXPECT_EQ((Cards{2, 0}), VisibleCards(3, "2, 0"));
  EXPECT_EQ(Cards{}, VisibleCards(3, ""));
  EXPECT_EQ(Cards{}, VisibleCards(3, "-1"));
  EXPECT_EQ((Cards{1}), VisibleCards(3, "1,7,0"));
  EXPECT_EQ((Cards{1}), VisibleCards(3, "1,1"));
  EXPECT_EQ((Cards{0, 1}), VisibleCards(3, "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6,MIG-1"));
}

TEST_F(CudaCardsTest, MissingCardErrorNamesTheRemedy) {
  ExpectError(CudaModules(folder_).status(), absl::StatusCode::kUnavailable, "--gpus all");
  Add("nvidia0");
  const ScopedVariable variable("CUDA_VISIBLE_DEVICES", "-1");
  ExpectError(CudaModules(folder_).status(), absl::StatusCode::kUnavailable, "CUDA_VISIBLE_DEVICES=-1 hides all 1");
}

TEST_F(CudaCardsTest, ErrorsOfTheClientNameTheRemedy) {
  ExpectError(CudaClientError(absl::FailedPreconditionError("PJRT_Client_Create: No visible GPU devices.")),
              absl::StatusCode::kFailedPrecondition,
              "cannot use the NVIDIA card: PJRT_Client_Create: No visible GPU devices.; run hpu doctor");
  ExpectError(CudaClientError(absl::ResourceExhaustedError("out of memory")), absl::StatusCode::kResourceExhausted,
              "out of memory; another process uses the card's memory");
}

TEST_F(CudaCardsTest, ModuleIsOneVisibleDeviceOfTheClient) {
  for (const char* name : {"nvidia0", "nvidia1", "nvidia2"}) Add(name);
  const ScopedVariable variable("CUDA_VISIBLE_DEVICES", "2,1");
  const auto modules = CudaModules(folder_);
  ASSERT_TRUE(modules.ok()) << modules.status();
  EXPECT_EQ((Cards{2, 1}), modules->ids);
  const Options options = CudaOptions(1, folder_);
  ASSERT_EQ(1, options.size());
  EXPECT_EQ("visible_devices", options[0].first);
  EXPECT_EQ(std::vector<int64_t>{1}, std::get<std::vector<int64_t>>(options[0].second));
}

TEST_F(CudaCardsTest, ProcessesWithDifferentUuidsDoNotExcludeEachOther) {
  Add("nvidia0");
  Add("nvidia1");
  std::string first;
  {
    const ScopedVariable variable("CUDA_VISIBLE_DEVICES", "GPU-1");
    first = CudaModules(folder_)->lock_name;
  }
  const ScopedVariable variable("CUDA_VISIBLE_DEVICES", "GPU-2");
  EXPECT_NE(first, CudaModules(folder_)->lock_name);
}

TEST_F(CudaCardsTest, TensorFlowsVariablesBecomeOptions) {
  const ScopedVariable growth("TF_FORCE_GPU_ALLOW_GROWTH", "true");
  const ScopedVariable allocator("TF_GPU_ALLOCATOR", "cuda_malloc_async");
  const Options options = CudaOptions(0, folder_);
  ASSERT_EQ(2, options.size());
  EXPECT_EQ("preallocate", options[0].first);
  EXPECT_FALSE(std::get<bool>(options[0].second));
  EXPECT_EQ("allocator", options[1].first);
  EXPECT_EQ("cuda_async", std::get<std::string>(options[1].second));
}

// A machine with a card, the plugin and the driver, each of which a test removes.
class FindCudaTest : public CudaCardsTest {
 protected:
  void SetUp() override {
    CudaCardsTest::SetUp();
    unsetenv("CUDA_VISIBLE_DEVICES");
    Add("nvidia0");
    std::filesystem::create_directories(folder_ + "/jax_plugins/xla_cuda13");
    Add(kPlugin);
    places_.devices = folder_;
    places_.packages = {folder_ + "/empty", folder_};
    places_.driver = "libdl.so.2";  // stands for the driver, because it can be loaded on every machine
  }

  static constexpr char kPlugin[] = "jax_plugins/xla_cuda13/xla_cuda_plugin.so";
  CudaPlaces places_;
};

TEST_F(FindCudaTest, SelectsTheCardIfAllPartsArePresent) {
  EXPECT_EQ("pjrt:cuda", FindCuda(places_));
  const ScopedVariable variable("CUDA_VISIBLE_DEVICES", "0");
  EXPECT_EQ("pjrt:cuda", FindCuda(places_));
}

TEST_F(FindCudaTest, SelectsNothingWithoutDeviceFiles) {
  std::filesystem::remove(folder_ + "/nvidia0");
  EXPECT_EQ("", FindCuda(places_));
  places_.devices = folder_ + "/missing";
  EXPECT_EQ("", FindCuda(places_));
}

TEST_F(FindCudaTest, SelectsNothingWithoutTheDriver) {
  places_.driver = "libcuda_missing.so.1";
  EXPECT_EQ("", FindCuda(places_));
  Add("libcuda.so.1");  // not a library
  places_.driver = folder_ + "/libcuda.so.1";
  EXPECT_EQ("", FindCuda(places_));
}

TEST_F(FindCudaTest, SelectsNothingWithoutThePlugin) {
  std::filesystem::remove(absl::StrCat(folder_, "/", kPlugin));
  EXPECT_EQ("", FindCuda(places_));
}

TEST_F(FindCudaTest, SelectsNothingIfAllCardsAreHidden) {
  for (const char* value : {"", "-1", "1", "none"}) {
    const ScopedVariable variable("CUDA_VISIBLE_DEVICES", value);
    EXPECT_EQ("", FindCuda(places_)) << value;
  }
  Add("nvidia1");
  const ScopedVariable variable("CUDA_VISIBLE_DEVICES", "1");
  EXPECT_EQ("pjrt:cuda", FindCuda(places_));
}

}  // namespace cuda_cards_test
}  // namespace hpu::pjrt
