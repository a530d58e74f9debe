// Function runtimes: one without devices for analysis, one that executes functions on a single device.
#ifndef HPU_PLUGIN_COMPAT_FUNCTION_RUNTIMES_H_
#define HPU_PLUGIN_COMPAT_FUNCTION_RUNTIMES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow/core/framework/device.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/tensor.h"

namespace tensorflow {
class DeviceMgr;
class ProcessFunctionLibraryRuntime;
}  // namespace tensorflow

namespace hpu {

// A runtime that instantiates functions but cannot run them. The library must outlive this object.
class AnalysisRuntime {
 public:
  explicit AnalysisRuntime(const tensorflow::FunctionLibraryDefinition* library);
  ~AnalysisRuntime();

  tensorflow::FunctionLibraryRuntime* get() const;

 private:
  std::unique_ptr<tensorflow::ProcessFunctionLibraryRuntime> runtimes_;
};

// A device together with the device manager that function runtimes require.
class ManagedDevice {
 public:
  explicit ManagedDevice(std::unique_ptr<tensorflow::Device> device);
  ~ManagedDevice();

  tensorflow::Device* get() const { return device_; }
  const tensorflow::DeviceMgr* manager() const { return manager_.get(); }

 private:
  tensorflow::Device* const device_;
  const std::unique_ptr<tensorflow::DeviceMgr> manager_;
};

// A runtime that executes functions on one device. Can create a rendezvous for a function call. The device and the
// library must outlive this object.
class DeviceRuntime {
 public:
  DeviceRuntime(const ManagedDevice& device, const tensorflow::FunctionLibraryDefinition* library,
                int graph_def_version);
  ~DeviceRuntime();

  // Null if TensorFlow created no runtime for the device.
  tensorflow::FunctionLibraryRuntime* get() const { return runtime_; }

 private:
  std::unique_ptr<tensorflow::ProcessFunctionLibraryRuntime> runtimes_;
  tensorflow::FunctionLibraryRuntime* runtime_;
};

// Runs a function with a separate rendezvous, because its host-device copies may have the same names as copies of the
// calling function. Returns after the function has ended.
absl::Status RunWithOwnRendezvous(tensorflow::FunctionLibraryRuntime* runtime,
                                  tensorflow::FunctionLibraryRuntime::Options options,
                                  tensorflow::FunctionLibraryRuntime::Handle function,
                                  const std::vector<tensorflow::Tensor>& arguments,
                                  std::vector<tensorflow::Tensor>* results);

// The device of this name among the runtime's devices.
absl::StatusOr<tensorflow::Device*> FindDevice(const tensorflow::FunctionLibraryRuntime& runtime,
                                               const std::string& name);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPAT_FUNCTION_RUNTIMES_H_
