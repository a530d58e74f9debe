// Tests of Plugin with fake function tables: old, short, and strict plugins.
#include "plugin/backends/pjrt/client/plugin.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "plugin/backends/pjrt/client/handles.h"

namespace hpu::pjrt {
namespace plugin_test {

struct FakeError {
  PJRT_Error_Code code;
  std::string message;
};

PJRT_Error* NewError(PJRT_Error_Code code, const std::string& message) {
  return reinterpret_cast<PJRT_Error*>(new FakeError{code, message});
}

// Struct size that the fake plugin's PJRT_Event_IsReady requires. Some plugins require an exact size.
size_t required_size = 0;
size_t seen_size = 0;

PJRT_Error* IsReady(PJRT_Event_IsReady_Args* args) {
  seen_size = args->struct_size;
  if (args->struct_size != required_size) {
    return NewError(PJRT_Error_Code_INVALID_ARGUMENT, absl::StrCat("Unexpected PJRT_Event_IsReady_Args size: expected ",
                                                                   required_size, ", got ", args->struct_size, "."));
  }
  args->is_ready = true;
  return nullptr;
}

PJRT_Api FakeApi() {
  PJRT_Api api = {};
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.pjrt_api_version.major_version = PJRT_API_MAJOR;
  api.pjrt_api_version.minor_version = PJRT_API_MINOR;
  api.PJRT_Error_Destroy = [](PJRT_Error_Destroy_Args* args) { delete reinterpret_cast<FakeError*>(args->error); };
  api.PJRT_Error_Message = [](PJRT_Error_Message_Args* args) {
    const auto* error = reinterpret_cast<const FakeError*>(args->error);
    args->message = error->message.data();
    args->message_size = error->message.size();
  };
  api.PJRT_Error_GetCode = [](PJRT_Error_GetCode_Args* args) -> PJRT_Error* {
    args->code = reinterpret_cast<const FakeError*>(args->error)->code;
    return nullptr;
  };
  api.PJRT_Event_IsReady = IsReady;
  return api;
}

TEST(PjrtPlugin, VersionsThatAreTooOldAreRefused) {
  PJRT_Api api = FakeApi();
  api.pjrt_api_version.minor_version = kMinMinorVersion - 1;
  const absl::Status status = Plugin::Of("old", &api).status();
  EXPECT_EQ(absl::StatusCode::kFailedPrecondition, status.code());
  EXPECT_NE(std::string::npos, status.message().find("0.56")) << status;
  api.pjrt_api_version.minor_version = kMinMinorVersion;
  EXPECT_TRUE(Plugin::Of("oldest", &api).ok());
  api.pjrt_api_version.major_version = PJRT_API_MAJOR + 1;
  EXPECT_EQ(absl::StatusCode::kFailedPrecondition, Plugin::Of("other", &api).status().code());
  EXPECT_EQ(absl::StatusCode::kFailedPrecondition, Plugin::Of("none", nullptr).status().code());
}

TEST(PjrtPlugin, FunctionsBeyondTheTableAndNullFunctionsAreMissing) {
  PJRT_Api api = FakeApi();
  const Plugin* plugin = Plugin::Of("short", &api).value();
  EXPECT_TRUE(plugin->Has(&PJRT_Api::PJRT_Event_IsReady));
  EXPECT_FALSE(plugin->Has(&PJRT_Api::PJRT_Event_Await));  // null
  api.struct_size = offsetof(PJRT_Api, PJRT_Event_IsReady) + sizeof(void*);
  EXPECT_TRUE(plugin->Has(&PJRT_Api::PJRT_Event_IsReady));
  api.struct_size -= 1;
  EXPECT_FALSE(plugin->Has(&PJRT_Api::PJRT_Event_IsReady));
  Arguments<PJRT_Event_IsReady_Args> arguments;
  const absl::Status status = HPU_PJRT_CALL(*plugin, PJRT_Event_IsReady, arguments);
  EXPECT_EQ(absl::StatusCode::kUnimplemented, status.code());
  EXPECT_NE(std::string::npos, status.message().find("PJRT_Event_IsReady")) << status;
}

TEST(PjrtPlugin, PluginsThatExpectLongerStructsGetZeros) {
  PJRT_Api api = FakeApi();
  const Plugin* plugin = Plugin::Of("later", &api).value();
  for (const size_t more : {0, 8, 64}) {
    required_size = sizeof(PJRT_Event_IsReady_Args) + more;
    Arguments<PJRT_Event_IsReady_Args> arguments;
    EXPECT_EQ(absl::OkStatus(), HPU_PJRT_CALL(*plugin, PJRT_Event_IsReady, arguments));
    EXPECT_TRUE(arguments->is_ready);
    EXPECT_EQ(required_size, seen_size);
  }
  // The error contains both versions if the expected struct is longer than the padding or shorter than Args.
  for (const size_t size : {sizeof(Arguments<PJRT_Event_IsReady_Args>) + 1, sizeof(PJRT_Event_IsReady_Args) - 1}) {
    required_size = size;
    Arguments<PJRT_Event_IsReady_Args> arguments;
    const absl::Status status = HPU_PJRT_CALL(*plugin, PJRT_Event_IsReady, arguments);
    EXPECT_EQ(absl::StatusCode::kInvalidArgument, status.code());
    EXPECT_NE(std::string::npos, status.message().find("this build 0.")) << status;
  }
}

TEST(PjrtPlugin, NonPluginFilesAreRefused) {
  EXPECT_EQ(absl::StatusCode::kNotFound, Plugin::Load("/nonexistent/plugin.so").status().code());
  EXPECT_EQ(absl::StatusCode::kFailedPrecondition, Plugin::Load("/proc/self/exe").status().code());
  const absl::Status status = Plugin::Load("libdl.so.2").status();  // a library name, not a path
  EXPECT_EQ(absl::StatusCode::kNotFound, status.code()) << status;
}

}  // namespace plugin_test
}  // namespace hpu::pjrt
