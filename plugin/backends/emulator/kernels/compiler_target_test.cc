#include "plugin/backends/emulator/kernels/compiler_target.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace hpu::emulator {
namespace {

TEST(CompilerTargetTest, ContainsTheFeaturesOfThisCpu) {
  const common::HostCpu& cpu = common::GetHostCpu();
  EXPECT_FALSE(cpu.name.empty());
  const std::string features = absl::StrCat(",", cpu.features, ",");
  EXPECT_TRUE(absl::StrContains(features, ",+sse2,")) << features;
  EXPECT_EQ(absl::StrContains(features, ",+avx2,"), __builtin_cpu_supports("avx2") != 0) << features;
  EXPECT_EQ(absl::StrContains(features, ",+fma,"), __builtin_cpu_supports("fma") != 0) << features;
  EXPECT_EQ(absl::StrContains(features, ",+avx512f,"), __builtin_cpu_supports("avx512f") != 0) << features;
}

TEST(CompilerTargetTest, ContainsEverythingThatARecipeDependsOn) {
  const std::string target = CompilerTarget();
  EXPECT_EQ(target, CompilerTarget());
  for (const std::string& part : {std::string("tensorflow " HPU_TENSORFLOW_VERSION), common::GetHostCpu().name,
                                  common::GetHostCpu().features, std::string("threads ")}) {
    EXPECT_TRUE(absl::StrContains(target, part)) << part << " is not in: " << target;
  }
}

}  // namespace
}  // namespace hpu::emulator
