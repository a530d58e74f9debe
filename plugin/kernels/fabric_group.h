// FabricGroup: a group of workers whose devices reduce among themselves, without their hosts.
#ifndef HPU_PLUGIN_KERNELS_FABRIC_GROUP_H_
#define HPU_PLUGIN_KERNELS_FABRIC_GROUP_H_

#include <functional>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "plugin/device/process_device.h"
#include "plugin/hal/communicator.h"

namespace hpu {

// A reduction on the device. Addresses lie in its memory and stay valid until `done`.
struct FabricReduction {
  const hal::Event* ready = nullptr;  // when the source is made; null: with the compute work queued so far
  hal::DeviceAddress source = 0;
  hal::DeviceAddress destination = 0;
  uint64_t count = 0;
  hal::DataType dtype = hal::DataType::kInvalid;
  hal::ReduceOp op = hal::ReduceOp::kSum;
};

// Operations run on a stream of the group's own, beside the compute stream, in the order of the calls. Thread safe;
// never destroyed.
class FabricGroup {
 public:
  // Makes the group of TensorFlow's key. All its ranks call this, with the same id. AlreadyExists if it is there.
  static absl::Status Join(int group_key, const hal::CommunicatorOptions& options);
  // Null if there is none.
  static FabricGroup* Find(int group_key);
  // Whether there is any.
  static bool Any();

  int size() const { return communicator_->size(); }
  // Queues it. `done` runs on a thread of the plugin when it has ended, unless an error is returned.
  absl::Status Reduce(const FabricReduction& reduction, std::function<void(absl::Status)> done);
  // Ends what waits for other ranks with an error; the group is of no further use.
  void Abort() { communicator_->Abort(); }

 private:
  FabricGroup(ProcessDevice* device, std::unique_ptr<hal::Communicator> communicator,
              std::unique_ptr<hal::Stream> stream)
      : device_(device), communicator_(std::move(communicator)), stream_(std::move(stream)) {}

  ProcessDevice* const device_;
  const std::unique_ptr<hal::Communicator> communicator_;
  const std::unique_ptr<hal::Stream> stream_;
  std::mutex mutex_;  // one operation is queued at a time
};

}  // namespace hpu

#endif  // HPU_PLUGIN_KERNELS_FABRIC_GROUP_H_
