// HostDevice: the plugin's own CPU device for ops and clusters that cannot run on the HPU.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_DEVICE_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_DEVICE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/compat/function_runtimes.h"
#include "tensorflow/core/framework/device.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_handle.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/refcount.h"

namespace hpu {

// Separate from TensorFlow's own CPU devices, so that temporary variables cannot collide with the program's variables.
// Shares the process's compute threads. No kernel returns memory that it did not write. Never destroyed. Thread safe.
class HostDevice {
 public:
  static absl::StatusOr<HostDevice*> Get();

  tensorflow::Device* device() { return device_.get(); }
  const ManagedDevice& managed_device() const { return device_; }
  // Runs a closure on a thread that may block.
  std::function<void(std::function<void()>)>* runner() { return &runner_; }

 private:
  explicit HostDevice(std::unique_ptr<tensorflow::Device> device);

  const ManagedDevice device_;
  std::function<void(std::function<void()>)> runner_;
};

// The CPU device of the worker that runs the kernel in `context`. Other workers look up sent tensors by the name of
// this CPU device.
absl::StatusOr<tensorflow::Device*> CpuDeviceOf(tensorflow::OpKernelContext* context);

// Temporary variables of one CPU fallback. The destructor deletes the variables. Not thread safe.
class HostVariables {
 public:
  explicit HostVariables(HostDevice& host);
  ~HostVariables();
  HostVariables(const HostVariables&) = delete;
  HostVariables& operator=(const HostVariables&) = delete;

  struct Variable {
    tensorflow::Tensor handle;
    tensorflow::Var* var = nullptr;  // borrowed from the HostVariables object; null until the variable exists
  };
  // Creates a variable with the value *value. If `value` is null, creates only a handle, as for a variable that was
  // never assigned. The variable's name begins with the name in `like`.
  absl::StatusOr<Variable> Make(const tensorflow::Tensor* value, const tensorflow::ResourceHandle& like);
  // Sets variable->var if a kernel has created the variable since Make.
  void Find(Variable* variable);

 private:
  tensorflow::Device* const device_;
  const std::string container_;  // unique name of a resource container
  std::vector<tensorflow::core::RefCountPtr<tensorflow::Var>> variables_;
  int handles_ = 0;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_DEVICE_H_
