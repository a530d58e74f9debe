// ClientFixture: test fixture with a PJRT client.
#ifndef HPU_PLUGIN_TESTING_PJRT_CLIENT_H_
#define HPU_PLUGIN_TESTING_PJRT_CLIENT_H_

#include <gtest/gtest.h>

#include <memory>

#include "plugin/backends/pjrt/client/client.h"
#include "plugin/backends/pjrt/plugin_file.h"
#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/forwarding_pjrt.h"

namespace hpu::pjrt {

// Creates a client of cts::PjrtPlugin() for each test.
class ClientFixture : public testing::Test {
 protected:
  void SetUp() override {
    const auto file = PluginFile(cts::PjrtPlugin());
    ASSERT_TRUE(file.ok()) << file.status();
    const auto plugin = Plugin::Load(*file);
    ASSERT_TRUE(plugin.ok()) << plugin.status();
    client_ = cts::Value(Client::Create(**plugin, {}));
    ASSERT_NE(nullptr, client_);
  }
  void TearDown() override {
    forwarding_pjrt::FailLaunch(-1, 0);
    forwarding_pjrt::SetMemoryStats(-1, -1, -1, -1, -1, -1);
  }

  // Replaces the client by a client of a plugin that forwards to the same plugin. forwarding_pjrt.h controls it.
  void ForwardToPlugin() {
    const PJRT_Api* const api = forwarding_pjrt::ForwardingApi(&client_->plugin().api());
    const Plugin* const plugin = cts::Value(Plugin::Of("forwarding cpu", api));
    ASSERT_NE(nullptr, plugin);
    client_ = cts::Value(Client::Create(*plugin, {}));
    ASSERT_NE(nullptr, client_);
  }

  std::unique_ptr<Client> client_;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_TESTING_PJRT_CLIENT_H_
