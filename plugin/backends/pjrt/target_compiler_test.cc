// Tests of CompilerTargetOf on a plugin's device.
#include "plugin/backends/pjrt/target_compiler.h"

#include "absl/strings/match.h"
#include "plugin/backends/common/host_cpu.h"
#include "plugin/backends/pjrt/plugin_fingerprint.h"
#include "plugin/testing/pjrt_client.h"

namespace hpu::pjrt {
namespace target_compiler_test {

class CompilerTargetOfPlugin : public ClientFixture {
 protected:
  std::string Target(absl::string_view platform, absl::string_view kind, absl::string_view version) const {
    return CompilerTargetOf(client_->plugin(), platform, kind, version);
  }
};

TEST_F(CompilerTargetOfPlugin, ContainsEverythingThatARecipeDependsOn) {
  const Plugin& plugin = client_->plugin();
  const std::string target = Target("platform", "kind", "version");
  EXPECT_EQ(target, Target("platform", "kind", "version"));
  EXPECT_NE(target, Target("other", "kind", "version"));
  EXPECT_NE(target, Target("platform", "other", "version"));
  EXPECT_EQ(plugin.attributes().count("cuda_version") == 0, target != Target("platform", "kind", "other"));
  EXPECT_TRUE(absl::StrContains(target, plugin.version())) << target;
  ASSERT_NE("", PluginFingerprint(plugin.path()));
  EXPECT_TRUE(absl::StrContains(target, PluginFingerprint(plugin.path()))) << target;
  for (const auto& [name, value] : plugin.attributes()) {
    EXPECT_TRUE(absl::StrContains(target, value.substr(0, value.find('\n')))) << name << " in " << target;
  }
  const bool is_for_cpu = client_->platform_name() == "cpu";
  EXPECT_EQ(is_for_cpu, absl::StrContains(target, common::GetHostCpu().features)) << target;
  EXPECT_FALSE(absl::StrContains(target, "\n"));
}

}  // namespace target_compiler_test
}  // namespace hpu::pjrt
