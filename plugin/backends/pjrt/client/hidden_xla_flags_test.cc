// Tests of HiddenXlaFlags: scopes, other variables, concurrent readers, and the plugins' own parser.
#include "plugin/backends/pjrt/client/hidden_xla_flags.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/pjrt_client.h"

namespace hpu::pjrt {
namespace hidden_xla_flags_test {

using cts::ScopedVariable;

TEST(HiddenXlaFlagsTest, TheLastScopeRestoresTheVariable) {
  const ScopedVariable flags("XLA_FLAGS", "--xla_a");
  const ScopedVariable longer("XLA_FLAGS_LONGER", "1");
  const char* const before = std::getenv("XLA_FLAGS");
  {
    const HiddenXlaFlags outer;
    EXPECT_EQ(nullptr, std::getenv("XLA_FLAGS"));
    { const HiddenXlaFlags inner; }
    EXPECT_EQ(nullptr, std::getenv("XLA_FLAGS"));
    EXPECT_STREQ("1", std::getenv("XLA_FLAGS_LONGER"));
  }
  EXPECT_EQ(before, std::getenv("XLA_FLAGS"));
}

TEST(HiddenXlaFlagsTest, AnUnsetVariableStaysUnset) {
  const std::string before = std::getenv("XLA_FLAGS") == nullptr ? "" : std::getenv("XLA_FLAGS");
  unsetenv("XLA_FLAGS");
  { const HiddenXlaFlags hidden; }
  EXPECT_EQ(nullptr, std::getenv("XLA_FLAGS"));
  if (!before.empty()) setenv("XLA_FLAGS", before.c_str(), 1);
}

TEST(HiddenXlaFlagsTest, ThreadsReadOtherVariablesMeanwhile) {
  const ScopedVariable flags("XLA_FLAGS", "--xla_a");
  const ScopedVariable last("ADDED_AFTER_XLA_FLAGS", "1");
  std::atomic<bool> stop{false};
  std::atomic<int> missed{0};
  std::thread reader([&] {
    while (!stop) missed += std::getenv("ADDED_AFTER_XLA_FLAGS") == nullptr;
  });
  for (int i = 0; i < 100'000; ++i) const HiddenXlaFlags hidden;
  stop = true;
  reader.join();
  EXPECT_EQ(0, missed);
}

// XLA ends the process if it reads a name that it does not know.
TEST(HiddenXlaFlagsDeathTest, PluginsDoNotReadXlaFlags) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const ScopedVariable flags("XLA_FLAGS", "--no_such_flag=1");
  const auto create = [] {
    const auto plugin = Plugin::Load(PluginFile(cts::PjrtPlugin()).value());
    const auto client = Client::Create(**plugin, {});
    const bool is_restored = std::getenv("XLA_FLAGS") != nullptr;
    const auto compiled = (*client)->TryOptions("\x1a\x04\x20\x01\x28\x01");  // 1 replica, 1 partition
    std::exit(compiled.ok() && is_restored ? 0 : 1);
  };
  EXPECT_EXIT(create(), testing::ExitedWithCode(0), "");
}

}  // namespace hidden_xla_flags_test
}  // namespace hpu::pjrt
