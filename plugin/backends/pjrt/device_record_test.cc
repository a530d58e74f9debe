// Records of a PjrtDevice's activity, on a CPU plugin with a fake profiler.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "plugin/backends/pjrt/client/profiler_api.h"
#include "plugin/backends/pjrt/device.h"
#include "plugin/testing/forwarding_pjrt.h"
#include "plugin/testing/pjrt_client.h"

namespace hpu::pjrt {
namespace device_record_test {

std::string calls;  // of the profiler: one letter per call so far
std::string data;   // the record

profiler_api::Table FakeTable() {
  profiler_api::Table table = {};
  table.struct_size = sizeof(table);
  table.create = [](profiler_api::Create* args) -> profiler_api::Error* {
    args->profiler = reinterpret_cast<profiler_api::Profiler*>(&calls);
    return nullptr;
  };
  table.destroy = [](profiler_api::Use*) -> profiler_api::Error* {
    calls += 'd';
    return nullptr;
  };
  table.start = [](profiler_api::Use*) -> profiler_api::Error* {
    calls += '+';
    return nullptr;
  };
  table.stop = [](profiler_api::Use*) -> profiler_api::Error* {
    calls += '-';
    return nullptr;
  };
  table.collect_data = [](profiler_api::CollectData* args) -> profiler_api::Error* {
    args->buffer = reinterpret_cast<uint8_t*>(data.data());
    args->buffer_size_in_bytes = data.size();
    return nullptr;
  };
  return table;
}

class DeviceRecordTest : public ClientFixture {
 protected:
  void SetUp() override {
    ClientFixture::SetUp();
    ASSERT_NE(nullptr, client_);
    calls.clear();
    data = "a record";
    // A copy of the plugin's table with one extension more.
    PJRT_Api* const api = forwarding_pjrt::ForwardingApi(&client_->plugin().api());
    table_ = FakeTable();
    extension_.base = {sizeof(extension_), PJRT_Extension_Type_Profiler, api->extension_start};
    extension_.table = &table_;
    api->extension_start = &extension_.base;
    const Plugin* plugin = cts::Value(Plugin::Of("profiling cpu", api));
    ASSERT_NE(nullptr, plugin);
    client_ = cts::Value(Client::Create(*plugin, {}));
    ASSERT_NE(nullptr, client_);
    hal::DeviceInfo info;
    info.memory_bytes = 1 << 20;
    auto reservation = cts::Value(common::Reservation::Create(info.memory_bytes, common::Reservation::Data::kNone));
    ASSERT_NE(nullptr, reservation);
    device_ = std::make_unique<PjrtDevice>(info, std::nullopt, std::move(client_), /*world=*/nullptr, /*job=*/nullptr,
                                           std::move(reservation), common::Faults());
    recorder_ = device_->traits().activity_recorder;
    ASSERT_NE(nullptr, recorder_);
  }

  profiler_api::Table table_;
  profiler_api::Extension extension_;
  std::unique_ptr<PjrtDevice> device_;
  hal::ActivityRecorder* recorder_ = nullptr;
};

TEST_F(DeviceRecordTest, ReturnsOneRecordPerStart) {
  for (const std::string record : {"first", "second"}) {
    data = record;
    ASSERT_OK(recorder_->StartRecord(""));
    EXPECT_EQ(record, cts::Value(recorder_->TakeRecord()));
  }
  EXPECT_EQ("+-d+-d", calls);
}

TEST_F(DeviceRecordTest, ASecondRecordIsRefusedAndLeavesTheFirst) {
  ASSERT_OK(recorder_->StartRecord(""));
  cts::ExpectError(recorder_->StartRecord(""), absl::StatusCode::kFailedPrecondition,
                   "already being recorded; stop the other profile first");
  EXPECT_EQ(data, cts::Value(recorder_->TakeRecord()));
  EXPECT_EQ("+-d", calls);
}

TEST_F(DeviceRecordTest, ARecordThatWasNotStartedIsAnError) {
  cts::ExpectError(recorder_->TakeRecord().status(), absl::StatusCode::kFailedPrecondition, "start a profile first");
  ASSERT_OK(recorder_->StartRecord(""));
  ASSERT_OK(recorder_->TakeRecord().status());
  cts::ExpectError(recorder_->TakeRecord().status(), absl::StatusCode::kFailedPrecondition, "start a profile first");
}

TEST_F(DeviceRecordTest, ADestroyedDeviceEndsItsRecord) {
  ASSERT_OK(recorder_->StartRecord(""));
  device_.reset();
  EXPECT_EQ("+d", calls);
}

}  // namespace device_record_test
}  // namespace hpu::pjrt
