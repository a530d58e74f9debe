// ClientFixture: test fixture with a PJRT client.
#ifndef HPU_PLUGIN_TESTING_PJRT_CLIENT_H_
#define HPU_PLUGIN_TESTING_PJRT_CLIENT_H_

#include <gtest/gtest.h>

#include <memory>

#include "plugin/backends/pjrt/client/client.h"
#include "plugin/backends/pjrt/plugin_file.h"
#include "plugin/testing/cts/fixture.h"

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

  std::unique_ptr<Client> client_;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_TESTING_PJRT_CLIENT_H_
