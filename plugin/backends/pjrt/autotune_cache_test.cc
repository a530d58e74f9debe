// Tests of the autotune cache: its folder, the compile options, and the compiler target.
#include "plugin/backends/pjrt/autotune_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/pjrt/compile_options.h"
#include "plugin/testing/cts/fixture.h"
#include "xla/pjrt/proto/compile_options.pb.h"

namespace hpu::pjrt {
namespace autotune_cache_test {

using cts::ScopedVariable;

constexpr char kFolderSetting[] = "xla_gpu_per_fusion_autotune_cache_dir";
constexpr char kModeSetting[] = "xla_gpu_experimental_autotune_cache_mode";

absl::Status Accept(absl::string_view) { return absl::OkStatus(); }

// The string settings of a program for `target`.
std::map<std::string, std::string> SettingsFor(const std::string& file, const std::string& target) {
  xla::CompileOptionsProto options;
  EXPECT_TRUE(options.ParseFromString(CompileOptions(file, "", target).value()));
  std::map<std::string, std::string> settings;
  for (const auto& [name, value] : options.env_option_overrides()) settings[name] = value.string_field();
  return settings;
}

class AutotuneCacheTest : public testing::Test {
 protected:
  AutotuneCacheTest()
      : recipes_(absl::StrCat(testing::TempDir(), "autotune_", ::testing::UnitTest::GetInstance()->random_seed(), "_",
                              getpid(), "/recipes")),
        recipe_path_("TF_RECIPE_CACHE_PATH", recipes_) {}
  ~AutotuneCacheTest() override { std::filesystem::remove_all(std::filesystem::path(recipes_).parent_path()); }

  const std::string recipes_;
  const ScopedVariable recipe_path_;
};

TEST_F(AutotuneCacheTest, EachTargetHasAFolderInTheRecipeCache) {
  const std::string file = "each/xla_cuda_plugin.so";
  ASSERT_OK(InitializeXlaSettings(file, Accept));
  const auto settings = SettingsFor(file, "one");
  const std::string folder = settings.at(kFolderSetting);
  EXPECT_EQ(absl::StrCat(recipes_, "/autotune"), std::filesystem::path(folder).parent_path());
  EXPECT_EQ("AUTOTUNE_CACHE_MODE_UPDATE", settings.at(kModeSetting));
  struct stat info;
  ASSERT_EQ(0, stat(folder.c_str(), &info));
  EXPECT_EQ(0700, info.st_mode & 0777);  // XLA creates no folder, and other users must not write code's measurements
  EXPECT_EQ(folder, SettingsFor(file, "one").at(kFolderSetting));
  EXPECT_NE(folder, SettingsFor(file, "two").at(kFolderSetting));
  EXPECT_EQ(0, SettingsFor(file, "").count(kFolderSetting));
}

TEST_F(AutotuneCacheTest, TheTargetContainsTheLevelButNotTheFolder) {
  const std::string file = "target/xla_cuda_plugin.so";
  const std::string other_file = "level/xla_cuda_plugin.so";
  ASSERT_OK(InitializeXlaSettings(file, Accept));
  EXPECT_FALSE(absl::StrContains(CompilerSettings(file), "autotune")) << CompilerSettings(file);
  const ScopedVariable level("HPU_PJRT_AUTOTUNE_LEVEL", "0");
  ASSERT_OK(InitializeXlaSettings(other_file, Accept));
  EXPECT_TRUE(absl::StrContains(CompilerSettings(other_file), " --xla_gpu_autotune_level=0 "))
      << CompilerSettings(other_file);
  EXPECT_FALSE(absl::StrContains(CompilerSettings(other_file), recipes_)) << CompilerSettings(other_file);
  EXPECT_EQ("0", SettingsFor(other_file, "one").at("xla_gpu_autotune_level"));
}

TEST_F(AutotuneCacheTest, ASettingNamesAnotherFolderOrNone) {
  const std::string file = "other/xla_cuda_plugin.so";
  ASSERT_OK(InitializeXlaSettings(file, Accept));
  {
    const ScopedVariable other("HPU_PJRT_AUTOTUNE_CACHE_PATH", recipes_ + "_other");
    EXPECT_TRUE(absl::StartsWith(SettingsFor(file, "one").at(kFolderSetting), recipes_ + "_other/"));
  }
  const ScopedVariable none("HPU_PJRT_AUTOTUNE_CACHE_PATH", "off");
  EXPECT_EQ(0, SettingsFor(file, "one").count(kFolderSetting));
}

TEST_F(AutotuneCacheTest, AReadOnlyCacheIsNotChanged) {
  const std::string file = "read_only/xla_cuda_plugin.so";
  ASSERT_OK(InitializeXlaSettings(file, Accept));
  {
    const ScopedVariable read_only("HPU_RECIPE_CACHE_READ_ONLY", "1");
    EXPECT_EQ(0, SettingsFor(file, "one").count(kFolderSetting));
    EXPECT_FALSE(std::filesystem::exists(recipes_));
  }
  SettingsFor(file, "one");
  const ScopedVariable read_only("HPU_RECIPE_CACHE_READ_ONLY", "1");
  EXPECT_EQ("AUTOTUNE_CACHE_MODE_READ", SettingsFor(file, "one").at(kModeSetting));
}

TEST_F(AutotuneCacheTest, OtherPluginsAndPluginsThatRefuseTheSettingsHaveNone) {
  ASSERT_OK(InitializeXlaSettings("none/cpu.so", Accept));
  EXPECT_EQ(0, SettingsFor("none/cpu.so", "one").count(kFolderSetting));
  const std::string old = "old/xla_cuda_plugin.so";
  ASSERT_OK(InitializeXlaSettings(old, [](absl::string_view options) -> absl::Status {
    if (!absl::StrContains(options, kModeSetting)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("No such compile option: '", kModeSetting, "'"));
  }));
  EXPECT_EQ(0, SettingsFor(old, "one").count(kFolderSetting));
}

TEST_F(AutotuneCacheTest, ExplicitFlagsHavePrecedence) {
  const std::string file = "explicit/xla_cuda_plugin.so";
  const ScopedVariable flags("HPU_PJRT_XLA_FLAGS",
                             absl::StrCat("--", kFolderSetting, "=/own --xla_gpu_autotune_level=1"));
  const ScopedVariable level("HPU_PJRT_AUTOTUNE_LEVEL", "0");
  ASSERT_OK(InitializeXlaSettings(file, Accept));
  const auto settings = SettingsFor(file, "one");
  EXPECT_EQ("/own", settings.at(kFolderSetting));
  EXPECT_EQ(0, settings.count(kModeSetting));
  EXPECT_EQ("1", settings.at("xla_gpu_autotune_level"));
}

}  // namespace autotune_cache_test
}  // namespace hpu::pjrt
