#include "plugin/compat/function_runtimes.h"

#include <utility>

#include "gtest/gtest.h"
#include "tensorflow/core/framework/device_factory.h"
#include "tensorflow/core/public/session_options.h"
#include "tensorflow/core/public/version.h"

namespace hpu {
namespace function_runtimes_test {

using tensorflow::FunctionDefHelper;
using tensorflow::FunctionLibraryRuntime;
using tensorflow::Tensor;

class DeviceRuntimeTest : public testing::Test {
 protected:
  DeviceRuntimeTest()
      : library_(tensorflow::OpRegistry::Global()),
        device_(tensorflow::DeviceFactory::NewDevice("CPU", tensorflow::SessionOptions(),
                                                     "/job:localhost/replica:0/task:0")) {
    EXPECT_TRUE(library_
                    .AddFunctionDef(FunctionDefHelper::Create(
                        "Doubled", {"x: float"}, {"y: float"}, {},
                        {{{"sum"}, "AddV2", {"x", "x"}, {{"T", tensorflow::DT_FLOAT}}}}, {{"y", "sum:z:0"}}))
                    .ok());
  }

  tensorflow::FunctionLibraryDefinition library_;
  const ManagedDevice device_;
};

TEST_F(DeviceRuntimeTest, RunsAFunctionOnItsDevice) {
  const DeviceRuntime runtime(device_, &library_, TF_GRAPH_DEF_VERSION);
  ASSERT_NE(runtime.get(), nullptr);
  EXPECT_EQ(runtime.get()->device(), device_.get());
  FunctionLibraryRuntime::Handle handle;
  ASSERT_TRUE(runtime.get()->Instantiate("Doubled", tensorflow::AttrSlice(), &handle).ok());
  FunctionLibraryRuntime::Options options;
  std::function<void(std::function<void()>)> here = [](const std::function<void()>& closure) { closure(); };
  options.runner = &here;
  std::vector<Tensor> results;
  const absl::Status status = RunWithOwnRendezvous(runtime.get(), std::move(options), handle, {Tensor(3.0f)}, &results);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(results.size(), 1);
  EXPECT_EQ(results[0].scalar<float>()(), 6.0f);
}

TEST_F(DeviceRuntimeTest, FindsItsDeviceByName) {
  const DeviceRuntime runtime(device_, &library_, TF_GRAPH_DEF_VERSION);
  const absl::StatusOr<tensorflow::Device*> found = FindDevice(*runtime.get(), device_.get()->name());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, device_.get());
  EXPECT_FALSE(FindDevice(*runtime.get(), "/job:localhost/replica:0/task:0/device:HPU:0").ok());
}

}  // namespace function_runtimes_test
}  // namespace hpu
