#include "plugin/backends/gaudi/hccl/library.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace hpu::hccl {
namespace {

class HcclLibraryTest : public testing::Test {
 protected:
  HcclLibraryTest() : folder_(std::filesystem::temp_directory_path() / absl::StrCat("hpu_hccl_test.", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~HcclLibraryTest() override { std::filesystem::remove_all(folder_); }

  // Opens a libhcl.so that is a symbolic link to `target`.
  absl::Status OpenFile(const std::string& target) {
    std::filesystem::remove(folder_ / kLibraryName);
    std::filesystem::create_symlink(target, folder_ / kLibraryName);
    return Library::Open((folder_ / "libSynapse.so").string()).status();
  }

  const std::filesystem::path folder_;
};

TEST_F(HcclLibraryTest, IsLoadedBesideSynapse) {
  for (const std::string synapse : {SYNAPSE_DOUBLE_LIBRARY_1_5, SYNAPSE_DOUBLE_LIBRARY_1_18}) {
    const auto library = Library::Open(synapse);
    ASSERT_TRUE(library.ok()) << library.status();
    EXPECT_EQ((*library)->path(), (std::filesystem::path(synapse).parent_path() / "libhcl.so").string());
    EXPECT_NE((*library)->functions().hcclCommGetAsyncError, nullptr);
    EXPECT_STREQ((*library)->functions().hcclGetErrorString(hcclPortDown), "hcclPortDown");
  }
}

TEST_F(HcclLibraryTest, DevicesWithoutTheLibraryHaveNoCollectives) {
  for (const std::string& synapse : {(folder_ / "libSynapse.so").string(), std::string("libSynapse.so")}) {
    const absl::Status status = Library::Open(synapse).status();
    EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "collective operations: cannot load HCCL from libhcl.so: "))
        << status;
  }
}

TEST_F(HcclLibraryTest, MissingFunctionsAreNamed) {
  const absl::Status status = OpenFile(FAKE_SYNAPSE_1_18);
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "libhcl.so does not export hcclGetVersion, hcclGetUniqueId, "))
      << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "hcclGroupEnd; ")) << status;
}

}  // namespace
}  // namespace hpu::hccl
