// Tests of Client on a plugin's device: plugin properties, programs, copies.
#include "plugin/backends/pjrt/client/client.h"

#include <gtest/gtest.h>

#include <iostream>
#include <numeric>
#include <vector>

#include "plugin/backends/pjrt/compile_options.h"
#include "plugin/backends/pjrt/plugin_fingerprint.h"
#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/pjrt_client.h"

namespace hpu::pjrt {
namespace client_test {

using PjrtClient = ClientFixture;

// Prints the plugin's properties to the test log, as "reported NAME: VALUE".
TEST_F(PjrtClient, ReportsItself) {
  const auto report = [](absl::string_view name, const auto& value) {
    std::cout << "reported " << name << ": " << value << "\n";
  };
  const Plugin& plugin = client_->plugin();
  report("PJRT C API", plugin.version());
  report("file", PluginFingerprint(plugin.path()));
  report("platform", client_->platform_name());
  report("platform version", client_->platform_version());
  report("device kind", client_->device_kind());
  for (const auto& [name, value] : plugin.attributes()) report(name, value);
  EXPECT_NE("", client_->platform_name());
  EXPECT_NE("", client_->device_kind());
  const auto stats = client_->memory_stats();
  if (absl::IsUnimplemented(stats.status())) {
    report("memory", "not counted");
    return;
  }
  ASSERT_TRUE(stats.ok()) << stats.status();
  report("bytes in use", stats->in_use);
  report("memory", Describe(*stats));
  report("limit in bytes", stats->limit.value_or(0));
  EXPECT_GT(stats->limit.value_or(0), 0);
  EXPECT_LE(stats->in_use, stats->limit.value_or(0));
}

TEST_F(PjrtClient, CopiesRoundTrip) {
  std::vector<int> numbers(1 << 20);
  std::iota(numbers.begin(), numbers.end(), 0);
  const uint64_t bytes = numbers.size() * sizeof(int);
  const BufferHandle buffer = cts::Value(client_->ToDevice(numbers.data(), bytes, nullptr));
  ASSERT_NE(nullptr, buffer);
  ASSERT_OK(cts::Value(client_->Ready(buffer.get())).Await());
  std::vector<int> copied(numbers.size());
  ASSERT_OK(cts::Value(client_->ToHost(buffer.get(), copied.data(), bytes)).Await());
  EXPECT_TRUE(numbers == copied);  // EXPECT_EQ would print every number
}

TEST_F(PjrtClient, DamagedProgramsFail) {
  EXPECT_FALSE(client_->Compile("no program", CompileOptions("plugin.so", "").value()).ok());
  EXPECT_FALSE(client_->CompileText("no program", CompileOptions("plugin.so", "").value()).ok());
}

}  // namespace client_test
}  // namespace hpu::pjrt
