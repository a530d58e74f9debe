// Tests of Profiler with the function table of a fake plugin.
#include "plugin/backends/pjrt/client/profiler.h"

#include <gtest/gtest.h>

#include "plugin/testing/cts/fixture.h"

namespace hpu::pjrt {
namespace profiler_test {

using profiler_api::CollectData;
using profiler_api::Create;
using profiler_api::Use;
using FakeError = std::string;

std::string options_seen;
std::string calls;              // one letter per call so far
bool caller_allocates = false;  // whether the caller of collect_data allocates the buffer
const std::string kData = "an XSpace";

profiler_api::Error* NewError(const char* message) {
  return reinterpret_cast<profiler_api::Error*>(new FakeError(message));
}

profiler_api::Error* Collect(CollectData* args) {
  calls += 'c';
  args->buffer_size_in_bytes = kData.size();
  if (args->buffer != nullptr) {
    std::memcpy(args->buffer, kData.data(), kData.size());
  } else if (!caller_allocates) {
    args->buffer = reinterpret_cast<uint8_t*>(const_cast<char*>(kData.data()));
  }
  return nullptr;
}

profiler_api::Table FakeTable() {
  profiler_api::Table table = {};
  table.struct_size = sizeof(table);
  table.error_destroy = [](profiler_api::ErrorDestroy* args) { delete reinterpret_cast<FakeError*>(args->error); };
  table.error_message = [](profiler_api::ErrorMessage* args) {
    const auto* error = reinterpret_cast<const FakeError*>(args->error);
    args->message = error->data();
    args->message_size = error->size();
  };
  table.error_get_code = [](profiler_api::ErrorGetCode* args) -> profiler_api::Error* {
    args->code = static_cast<int>(absl::StatusCode::kFailedPrecondition);
    return nullptr;
  };
  table.create = [](Create* args) -> profiler_api::Error* {
    options_seen.assign(args->options, args->options_size);
    args->profiler = reinterpret_cast<profiler_api::Profiler*>(&calls);
    return nullptr;
  };
  table.destroy = [](Use*) -> profiler_api::Error* {
    calls += 'd';
    return nullptr;
  };
  table.start = [](Use*) -> profiler_api::Error* {
    calls += '+';
    return nullptr;
  };
  table.stop = [](Use*) -> profiler_api::Error* {
    calls += '-';
    return nullptr;
  };
  table.collect_data = Collect;
  return table;
}

class ProfilerTest : public testing::Test {
 protected:
  void SetUp() override {
    calls.clear();
    table_ = FakeTable();
    extension_.base = {sizeof(extension_), PJRT_Extension_Type_Profiler, nullptr};
    extension_.table = &table_;
    other_ = {sizeof(other_), PJRT_Extension_Type_FFI, &extension_.base};
    api_.struct_size = PJRT_Api_STRUCT_SIZE;
    api_.extension_start = &other_;
    api_.pjrt_api_version.major_version = PJRT_API_MAJOR;
    api_.pjrt_api_version.minor_version = PJRT_API_MINOR;
    api_.PJRT_Error_Destroy = [](PJRT_Error_Destroy_Args*) {};
    plugin_ = cts::Value(Plugin::Of("fake", &api_));
    ASSERT_NE(nullptr, plugin_);
  }

  profiler_api::Table table_;
  profiler_api::Extension extension_;
  PJRT_Extension_Base other_;
  PJRT_Api api_ = {};
  const Plugin* plugin_ = nullptr;
};

TEST_F(ProfilerTest, ReturnsRecordsOfEitherAllocation) {
  for (const bool by_caller : {false, true}) {
    caller_allocates = by_caller;
    const auto profiler = cts::Value(Profiler::Create(*plugin_, "options"));
    ASSERT_NE(nullptr, profiler);
    EXPECT_EQ("options", options_seen);
    ASSERT_OK(profiler->Start());
    ASSERT_OK(profiler->Stop());
    EXPECT_EQ(kData, cts::Value(profiler->Collect()));
  }
  EXPECT_EQ("+-cd+-ccd", calls);
}

TEST_F(ProfilerTest, ErrorsOfThePluginAreReturned) {
  table_.start = [](Use*) { return NewError("already running"); };
  const auto profiler = cts::Value(Profiler::Create(*plugin_, ""));
  ASSERT_NE(nullptr, profiler);
  cts::ExpectError(profiler->Start(), absl::StatusCode::kFailedPrecondition, "already running");
}

TEST_F(ProfilerTest, PluginsWithoutProfilerAreUnimplemented) {
  const auto create = [&] { return Profiler::Create(*plugin_, "").status(); };
  table_.struct_size -= sizeof(void*);
  cts::ExpectError(create(), absl::StatusCode::kUnimplemented, "fake has no profiler");
  extension_.table = nullptr;
  cts::ExpectError(create(), absl::StatusCode::kUnimplemented, "fake has no profiler");
  api_.extension_start = nullptr;
  cts::ExpectError(create(), absl::StatusCode::kUnimplemented, "fake has no profiler");
}

}  // namespace profiler_test
}  // namespace hpu::pjrt
