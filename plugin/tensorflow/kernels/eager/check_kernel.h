// Base of the kernels of check ops.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_CHECK_KERNEL_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_CHECK_KERNEL_H_

#include "plugin/tensorflow/device/process_device.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Checks nothing on devices that compute nothing: results of clusters are zeros there. These are the backend "null" and
// cards that are not present (HPU_PJRT_TARGET). Stateless except for attributes; thread safe.
class CheckKernel : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) final {
    ProcessDevice* const device = ProcessDevice::GetIfAcquired();
    if (device == nullptr || Computes(device->hal().info())) Check(context);
  }

 protected:
  virtual void Check(tensorflow::OpKernelContext* context) const = 0;

 private:
  static bool Computes(const hal::DeviceInfo& device) { return device.is_present && device.backend != "null"; }
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_CHECK_KERNEL_H_
