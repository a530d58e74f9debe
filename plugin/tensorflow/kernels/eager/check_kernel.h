// Base of the kernels of check ops.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_CHECK_KERNEL_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_CHECK_KERNEL_H_

#include "plugin/tensorflow/device/process_device.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Checks nothing on the backend "null", which computes nothing: results of clusters are zeros there. Stateless except
// for attributes; thread safe.
class CheckKernel : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) final {
    ProcessDevice* const device = ProcessDevice::GetIfAcquired();
    if (device == nullptr || device->hal().info().backend != "null") Check(context);
  }

 protected:
  virtual void Check(tensorflow::OpKernelContext* context) const = 0;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_CHECK_KERNEL_H_
