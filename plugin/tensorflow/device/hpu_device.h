// HpuDevice: TensorFlow's device /device:HPU:0.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_HPU_DEVICE_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_HPU_DEVICE_H_

#include <memory>

#include "plugin/compat/scoped_allocators.h"
#include "tensorflow/core/common_runtime/local_device.h"
#include "tensorflow/core/framework/device_base.h"

namespace hpu {

inline constexpr char kDeviceType[] = "HPU";

class HpuDeviceContext;

// One of possibly many views of the ProcessDevice. The first allocation of device memory acquires the ProcessDevice;
// creating a Device object does not, so listing devices occupies no module. Thread safe.
class HpuDevice : public tensorflow::LocalDevice {
 public:
  HpuDevice(const tensorflow::SessionOptions& options, const tensorflow::DeviceAttributes& attributes);
  ~HpuDevice() override;

  tensorflow::Allocator* GetAllocator(tensorflow::AllocatorAttributes attributes) override;
  tensorflow::Allocator* GetScopedAllocator(tensorflow::AllocatorAttributes attributes, int64_t step_id) override;
  tensorflow::ScopedAllocatorMgr* GetScopedAllocatorMgr() const override { return scoped_allocators_.get(); }

  tensorflow::Status TryGetDeviceContext(tensorflow::DeviceContext** context) override;
  tensorflow::Status MakeTensorFromProto(const tensorflow::TensorProto& proto,
                                         const tensorflow::AllocatorAttributes attributes,
                                         tensorflow::Tensor* tensor) override;
  void CopyTensorInSameDevice(const tensorflow::Tensor* input, tensorflow::Tensor* output,
                              const tensorflow::DeviceContext* context, tensorflow::StatusCallback done) override;

  // Both overloads cover the work of the whole process, not only work queued through this object. Sync(done) returns
  // immediately and calls `done` after the compute work queued so far.
  tensorflow::Status Sync() override;
  void Sync(const DoneCallback& done) override;

  // Returns and clears the status of the calling thread's last Sync(), which TensorFlow calls before reading a tensor.
  static tensorflow::Status TakeFailedRead();

 private:
  HpuDeviceContext* const context_;  // holds one reference
  AcceleratorDeviceInfo accelerator_info_;
  std::unique_ptr<tensorflow::ScopedAllocatorMgr> scoped_allocators_;
};

// Whether TensorFlow lists the HPU among its devices; true by default. A change affects only later lists.
void SetOffered(bool offered);
bool IsOffered();

// Sets whether Sessions that this thread creates lack the HPU, unless device_count of a Session's config contains
// "HPU". Returns the previous value, initially false. Needed for TensorFlow's MLIR importers, which read the variables
// of a Session from host memory.
bool HideFromImporters(bool hidden);

// Whether `device`, or the device that it wraps, is an HPU. `device` may be null.
bool IsHpu(const tensorflow::DeviceBase* device);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_HPU_DEVICE_H_
